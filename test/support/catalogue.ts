/** What a schema consists of, to compare two ways of making it. */

/** Runs a statement. @returns its rows. */
export type Rows = <Row>(sql: string, parameters: readonly unknown[]) => Promise<Row[]>;

/** @returns columns, constraints, indexes, triggers and functions of a schema, a line each. */
export async function catalogue(rows: Rows, schema = 'public'): Promise<string[]> {
  const lines = await rows<{ line: string }>(
    `select concat_ws(' ', 'column', table_name, column_name, udt_name, datetime_precision,
            numeric_precision, numeric_scale, is_nullable, column_default) as line
       from information_schema.columns where table_schema = $1
     union all
     select concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid))
       from pg_constraint where connamespace = $1::regnamespace and contype <> 'n'
     union all
     select pg_get_indexdef(i.indexrelid)
       from pg_index i join pg_class c on c.oid = i.indexrelid
      where c.relnamespace = $1::regnamespace
     union all
     select pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where c.relnamespace = $1::regnamespace and not t.tgisinternal
     union all
     select concat_ws(' ', proname, prosrc) from pg_proc where pronamespace = $1::regnamespace`,
    [schema],
  );
  return lines.map(({ line }) => line.replaceAll(`${schema}.`, '')).sort();
}
