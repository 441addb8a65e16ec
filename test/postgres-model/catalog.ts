/** The schema, read from the catalog of a migrated database, so that it is declared once. */

export interface ColumnFacts {
  readonly table: string;
  readonly name: string;
  /** The type in the format of `format_type`. */
  readonly type: string;
  readonly is_required: boolean;
  /** The default value as an SQL expression. */
  readonly default: string | null;
}

export interface CheckFacts {
  readonly table: string;
  readonly name: string;
  /** SQL of the form `CHECK (…)`. */
  readonly definition: string;
}

export interface UniqueFacts {
  readonly table: string;
  readonly name: string;
  /** The indexed columns or expressions, as SQL. */
  readonly keys: readonly string[];
  /** The condition of a partial index, as SQL; null: all rows are indexed. */
  readonly predicate: string | null;
}

export interface ForeignKeyFacts {
  readonly table: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly parent: string;
  readonly parent_columns: readonly string[];
  /** `r` restrict, `c` cascade, `a` no action (PostgreSQL, pg_constraint). */
  readonly on_delete: string;
}

export interface TriggerFacts {
  readonly table: string;
  readonly name: string;
  /** SQL of the form `CREATE TRIGGER …`. */
  readonly definition: string;
}

export interface SequenceFacts {
  readonly name: string;
  /** The next value. */
  readonly next: string;
}

export interface Catalog {
  /** The server's version in the format of `server_version_num`. */
  readonly version: number;
  readonly columns: readonly ColumnFacts[];
  readonly checks: readonly CheckFacts[];
  readonly uniques: readonly UniqueFacts[];
  readonly foreignKeys: readonly ForeignKeyFacts[];
  readonly triggers: readonly TriggerFacts[];
  /** SQL of the form `CREATE FUNCTION …`. */
  readonly functions: readonly string[];
  readonly sequences: readonly SequenceFacts[];
  /** The rows of every table, each value as the server writes it. */
  readonly contents: Readonly<Record<string, readonly Readonly<Record<string, string | null>>[]>>;
}

/** Runs a statement. */
export type RunQuery = <Row>(text: string, parameters?: readonly unknown[]) => Promise<Row[]>;

const columns = `
  select c.relname as table, a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
         a.attnotnull as is_required, pg_get_expr(d.adbin, d.adrelid) as default
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid and c.relkind = 'r'
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
   where c.relnamespace = 'public'::regnamespace and a.attnum > 0 and not a.attisdropped
     and a.attgenerated = '' and a.attidentity = '' and c.relname not like '%migration%'
   order by c.relname, a.attnum`;

const checks = `
  select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
    from pg_constraint where contype = 'c' and connamespace = 'public'::regnamespace
   order by conrelid, conname`;

const uniques = `
  select i.indrelid::regclass::text as table, c.relname as name,
         array(select pg_get_indexdef(i.indexrelid, n, true)
                 from generate_series(1, i.indnkeyatts) n order by n) as keys,
         pg_get_expr(i.indpred, i.indrelid) as predicate
    from pg_index i join pg_class c on c.oid = i.indexrelid
   where i.indisunique and c.relnamespace = 'public'::regnamespace
     and i.indrelid::regclass::text not like '%migration%'
   order by i.indexrelid`;

const names = (list: string, table: string): string => `
  array(select a.attname::text from unnest(${list}) with ordinality as k (number, place)
          join pg_attribute a on a.attrelid = ${table} and a.attnum = k.number order by place)`;

const foreignKeys = `
  select conrelid::regclass::text as table, conname as name,
         ${names('conkey', 'conrelid')} as columns,
         confrelid::regclass::text as parent, ${names('confkey', 'confrelid')} as parent_columns,
         confdeltype as on_delete
    from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace
   order by oid`;

const triggers = `
  select tgrelid::regclass::text as table, tgname as name, pg_get_triggerdef(oid) as definition
    from pg_trigger where not tgisinternal order by tgname`;

const functions = `
  select pg_get_functiondef(p.oid) as definition from pg_proc p
   where pronamespace = 'public'::regnamespace and prokind = 'f'
     and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`;

const sequences = `
  select sequencename as name, (coalesce(last_value + 1, start_value))::text as next
    from pg_sequences where schemaname = 'public'`;

/** Reads the schema and the stored rows. */
export async function readCatalog(runQuery: RunQuery): Promise<Catalog> {
  const found = await runQuery<ColumnFacts>(columns);
  const contents: Record<string, readonly Readonly<Record<string, string | null>>[]> = {};
  for (const [table, ofTable] of Map.groupBy(found, (one) => one.table)) {
    const list = ofTable.map(({ name }) => `${name}::text as ${name}`).join(', ');
    contents[table] = await runQuery(`select ${list} from ${table} order by 1, 2`);
  }
  const [server] = await runQuery<{ version: number }>(
    `select current_setting('server_version_num')::int as version`,
  );
  return {
    version: server?.version ?? 0,
    columns: found,
    checks: await runQuery(checks),
    uniques: await runQuery(uniques),
    foreignKeys: await runQuery(foreignKeys),
    triggers: await runQuery(triggers),
    functions: (await runQuery<{ definition: string }>(functions)).map(
      ({ definition }) => definition,
    ),
    sequences: await runQuery(sequences),
    contents,
  };
}
