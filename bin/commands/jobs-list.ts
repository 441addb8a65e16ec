/** `ponte jobs list`: the queue. */
import type { JobView, JobsListInput } from '../../src/operator/jobs-list.ts';
import type { Desk } from '../desk.ts';
import { printList } from '../list.ts';
import { shortTime } from '../short-time.ts';
import type { Column } from '../table.ts';
import type { Tone } from '../tone.ts';

export interface Options extends JobsListInput {
  readonly json?: boolean;
}

const tones = { queued: null, running: 'doubtful', done: 'good', dead: 'bad' } as const;

/** The state of a job in its colour: one that nobody holds any more is bad, like a dead one. */
function toneOf({ state, lapsed }: JobView): Tone | null {
  return lapsed ? 'bad' : tones[state];
}

/** The columns of a list of jobs. */
export const jobColumns: readonly Column<JobView>[] = [
  { head: 'ID', cell: ({ id }) => id, isWhole: true, align: 'right' },
  { head: 'KIND', cell: ({ kind }) => kind },
  {
    head: 'STATE',
    cell: ({ state, lapsed }) => (lapsed ? `${state} (lapsed)` : state),
    tone: toneOf,
  },
  { head: 'ATTEMPTS', cell: ({ attempts }) => attempts, align: 'right' },
  { head: 'DUE', cell: ({ dueAt }) => shortTime(dueAt) },
  { head: 'ENDED', cell: ({ finishedAt }) => shortTime(finishedAt) },
  { head: 'LAST ERROR', cell: ({ lastError }) => lastError },
  { head: 'EVENT', cell: ({ eventId }) => eventId, isWhole: true },
];

/** Lists jobs. */
export async function jobsList({ run, terminal }: Desk, options: Options): Promise<void> {
  const { json = false, ...input } = options;
  const { jobs } = await run('jobs list', input);
  const none = 'There are no such jobs.';
  const { limit } = options;
  printList(terminal, { name: 'jobs', json, limit, columns: jobColumns, rows: jobs, none });
}
