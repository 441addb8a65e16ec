/** Puts rows into the tables of a real database, and reads them, to hold it against the model. */
import type { Ask, Catalog } from './catalog.ts';
import type { Contents } from './database.ts';

/** Empties all tables and puts rows in. The triggers that keep what is final are off meanwhile. */
export async function putIn(ask: Ask, catalog: Catalog, contents: Contents): Promise<void> {
  const tables = Object.entries(contents.tables);
  const emptied = tables.map(([name]) => `delete from ${name};`).join(' ');
  const restarted = Object.entries(contents.sequences)
    .map(([name, next]) => `perform setval('${name}', ${next}, false);`)
    .join(' ');
  const filled = tables
    .filter(([, rows]) => rows.length > 0)
    .map(([name, rows]) => {
      const columns = catalog.columns.filter(({ table }) => table === name);
      const list = columns.map((column) => column.name).join(', ');
      const values = rows.map(
        (row) =>
          `(${columns.map(({ name: one, type }) => literal(row[one] ?? null, type)).join(', ')})`,
      );
      return `insert into ${name} (${list}) values ${values.join(', ')};`;
    });
  await ask(`
    do $putting$ begin
      set local session_replication_role = replica;
      ${emptied} ${restarted} ${filled.join(' ')}
    end $putting$`);
}

function literal(text: string | null, type: string): string {
  if (text === null) return 'null';
  return `e'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'::${type}`;
}

/** What stands in the tables, in no order. */
export async function readTables(ask: Ask, catalog: Catalog): Promise<Catalog['contents']> {
  const tables = new Map<string, Readonly<Record<string, string | null>>[]>();
  for (const [name, columns] of Map.groupBy(catalog.columns, ({ table }) => table)) {
    const list = columns.map((column) => `${column.name}::text as ${column.name}`).join(', ');
    tables.set(name, await ask(`select ${list} from ${name}`));
  }
  return Object.fromEntries(tables);
}
