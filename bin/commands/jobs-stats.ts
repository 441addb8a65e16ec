/** `ponte jobs stats`: the queue in numbers. */
import type { JobCount } from '../../src/operator/jobs-stats.ts';
import type { Desk } from '../desk.ts';
import { shortTime } from '../short-time.ts';
import type { Column } from '../table.ts';

const columns: readonly Column<JobCount>[] = [
  { head: 'KIND', cell: ({ kind }) => kind },
  {
    head: 'STATE',
    cell: ({ state }) => state,
    tone: ({ state }) => (state === 'dead' ? 'bad' : null),
  },
  { head: 'JOBS', cell: ({ jobs }) => jobs, align: 'right' },
  { head: 'OLDEST', cell: ({ oldestAt }) => shortTime(oldestAt) },
  { head: 'SECONDS AGO', cell: ({ oldestAgeSeconds }) => oldestAgeSeconds, align: 'right' },
  {
    head: 'LAPSED',
    cell: ({ lapsed }) => lapsed,
    align: 'right',
    tone: ({ lapsed }) => (lapsed > 0 ? 'bad' : null),
  },
];

/** Counts jobs. */
export async function jobsStats(
  { run, terminal }: Desk,
  { json = false }: { readonly json?: boolean },
): Promise<void> {
  const { counts } = await run('jobs stats', {});
  if (json) terminal.json({ counts });
  else terminal.table({ columns, rows: counts, none: 'The queue is empty.' });
}
