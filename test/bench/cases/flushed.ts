/** Checks that an answered write is on disk: PostgreSQL's log is flushed up to that write. */
import type { Target } from '../target.ts';

const probes = 12;
const minFlushed = 4;

export interface FlushProbe {
  readonly table: 'pix_transactions' | 'webhook_events';
  /**
   * Locks rows that background work needs before it writes or locks the probed row: either of them
   * moves the log position of the page.
   */
  hold?(turn: number): Promise<void>;
  /** Writes one row through the server. @returns its id, once the server has answered. */
  write(turn: number): Promise<string>;
}

/**
 * The page of a row contains the log position of its last write. A response that does not wait for
 * the disk comes some hundred milliseconds early, so almost every probe fails. If responses wait,
 * most probes pass: one fails only if another process has just written to the same page, for
 * example to vacuum it. Without the right to read pages nothing is checked.
 */
export async function flushFaults(target: Target, probe: FlushProbe): Promise<string[]> {
  const { client } = target;
  const canReadPages = await client.query('create extension if not exists pageinspect').then(
    () => true,
    () => false,
  );
  if (!canReadPages) return [];
  let flushed = 0;
  for (let turn = 0; turn < probes; turn += 1) {
    await client.query('begin');
    await probe.hold?.(turn);
    const id = await probe.write(turn);
    const { rows } = await client.query<{ flushed: boolean }>(
      `select page.lsn <= pg_current_wal_flush_lsn() as flushed
         from ${probe.table} t,
              page_header(get_raw_page('${probe.table}', (t.ctid::text::point)[0]::int)) page
        where t.id = $1`,
      [id],
    );
    await client.query('commit');
    if (rows[0]?.flushed) flushed += 1;
  }
  return flushed >= minFlushed ? [] : [`${flushed} of ${probes} responses had their row on disk`];
}
