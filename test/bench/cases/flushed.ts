/** Checks that an answered write is on disk: the log is flushed up to the last write of its row. */
import type { Target } from '../target.ts';

const probes = 12;
const leastFlushed = 4;

export interface FlushProbe {
  readonly table: 'pix_transactions' | 'webhook_events';
  /** Locks rows that background work needs, so that it does not write before the check. */
  hold?(turn: number): Promise<void>;
  /** Writes one row through the server. @returns its id, once the server has answered. */
  write(turn: number): Promise<string>;
}

/**
 * The page of a row has the position up to which the log must be flushed for it. An answer that
 * does not wait for the disk is some hundred milliseconds early, so almost every probe fails.
 * With answers that wait, most probes pass: one fails only when another process has just written to
 * the same page, for example to vacuum it. Without the right to read pages there is no check.
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
  return flushed >= leastFlushed ? [] : [`${flushed} of ${probes} answers had their row on disk`];
}
