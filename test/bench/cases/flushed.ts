/** Whether what was answered is on disk: the log is flushed up to the last write of its row. */
import type { Target } from '../target.ts';

const probes = 12;
const leastFlushed = 4;

export interface FlushProbe {
  readonly table: 'pix_transactions' | 'webhook_events';
  /** Locks what the work in the background needs, so that it does not write before the look. */
  hold?(turn: number): Promise<void>;
  /** Has one row written through the server. @returns its id, once the server has answered. */
  write(turn: number): Promise<string>;
}

/**
 * The page of a row tells up to where the log has to be flushed for it. An answer that does not
 * wait for the disk is some hundred milliseconds early, so hardly any probe would hold; most do
 * otherwise, unless somebody has just written to the same page, if only to tidy it up. Without the
 * right to look at pages it says nothing.
 */
export async function flushFaults(target: Target, probe: FlushProbe): Promise<string[]> {
  const { client } = target;
  const canLook = await client.query('create extension if not exists pageinspect').then(
    () => true,
    () => false,
  );
  if (!canLook) return [];
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
