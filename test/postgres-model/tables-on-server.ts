/** Writes and reads the tables of a real database, to compare it with the model. */
import type { RunQuery, Catalog } from './catalog.ts';
import type { Contents } from './database.ts';

/** Replaces the rows of all tables, with the triggers off that protect final rows. */
export async function putIn(
  runQuery: RunQuery,
  catalog: Catalog,
  contents: Contents,
): Promise<void> {
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
  await runQuery(`
    do $putting$ begin
      set local session_replication_role = replica;
      ${emptied} ${restarted} ${filled.join(' ')}
    end $putting$`);
}

function literal(text: string | null, type: string): string {
  if (text === null) return 'null';
  return `e'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'::${type}`;
}

/** The rows of the tables, in no order. */
export async function readTables(
  runQuery: RunQuery,
  catalog: Catalog,
): Promise<Catalog['contents']> {
  const tables = new Map<string, Readonly<Record<string, string | null>>[]>();
  for (const [name, columns] of Map.groupBy(catalog.columns, ({ table }) => table)) {
    const list = columns.map((column) => `${column.name}::text as ${column.name}`).join(', ');
    tables.set(name, await runQuery(`select ${list} from ${name}`));
  }
  return Object.fromEntries(tables);
}
