/**
 * Reads what a database has written to PostgreSQL's write-ahead log, from the log itself:
 * `pg_stat_wal` and the positions of the log also count the other databases of a server.
 */
import type pg from 'pg';

export interface LogBytes {
  /** Without images of pages. */
  readonly bytes: number;
  readonly imageBytes: number;
}

/** Reads the bytes since it began, once. */
export type ReadLog = () => Promise<LogBytes | null>;

/**
 * The records of this database, and those of the transactions that have such records: their
 * commits name no page.
 */
const bytesOfDatabase = `
  with records as materialized (
    select xid, record_length, fpi_length,
           block_ref like '%/' || (select oid from pg_database where datname = current_database())
                          || '/%' as is_own
      from pg_get_wal_records_info($1, $2)
  ), own as (
    select xid from records where is_own and xid <> '0'
  )
  select coalesce(sum(record_length - fpi_length), 0)::float8 as bytes,
         coalesce(sum(fpi_length), 0)::float8 as "imageBytes"
    from records where is_own or xid in (select xid from own)`;

const slot = 'ponte_bench';

/**
 * Begins to count, after a checkpoint, so that the first change of each page is written with its
 * image. A slot keeps the log until it is read.
 * @returns a reader of null, without the rights to read the log.
 */
export async function watchLog(client: pg.Client): Promise<ReadLog> {
  await client.query('checkpoint');
  try {
    await client.query('create extension if not exists pg_walinspect');
    await client.query('select pg_create_physical_replication_slot($1, true, true)', [slot]);
  } catch {
    return () => Promise.resolve(null);
  }
  const start = await position(client);
  return async () => {
    const end = await position(client);
    // It refuses to read an empty range.
    const { rows } = start === end ? nothing : await client.query(bytesOfDatabase, [start, end]);
    await client.query('select pg_drop_replication_slot($1)', [slot]);
    return (rows as LogBytes[])[0] ?? null;
  };
}

const nothing = { rows: [{ bytes: 0, imageBytes: 0 }] };

async function position(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ lsn: string }>('select pg_current_wal_flush_lsn() as lsn');
  return rows[0]?.lsn ?? '';
}
