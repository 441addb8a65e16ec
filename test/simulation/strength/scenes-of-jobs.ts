/** Scenes of the statements that every job runs: leases, and requests during a run. */
import { jobStatements as jobs } from '../../../src/jobs/job-repository.ts';
import { moment, type Scene, type Stage } from './stage.ts';

const { earlier, now, later } = moment;

const running = { status: 'running', leased_by: 'me', leased_until: later, attempts: 3 };

const states = `select status, leased_by, attempts, run_at = '2026-05-24 12:01Z' as due_now,
                       finished_at is not null as is_over from jobs order by id`;

/** Two running jobs of one worker. @param wanted whether the first one was requested again. */
async function two({ row }: Stage, wanted: boolean): Promise<readonly unknown[]> {
  return [await row('jobs', { ...running, wanted }), await row('jobs', running)];
}

const finish = (title: string, [worker, wanted]: [string, boolean]): Scene => ({
  statement: jobs.finish,
  title,
  async play(stage) {
    const [id] = await two(stage, wanted);
    return [await stage.call(id, worker, 'done', null, now), ...(await stage.found(states))];
  },
});

const requeue = (title: string, [worker, wanted]: [string, boolean]): Scene => ({
  statement: jobs.requeue,
  title,
  async play(stage) {
    const [id] = await two(stage, wanted);
    return [await stage.call(id, worker, later, 1, 'E', now), ...(await stage.found(states))];
  },
});

/** Two jobs that end in one batch; another worker holds the lease of the second one. */
const together: readonly Scene[] = [
  {
    statement: jobs.finish,
    title: 'two jobs that end at once each end as in their own call',
    async play(stage) {
      const ids = [...(await two(stage, false))];
      const ends = ['done', 'dead'];
      const errors = [null, 'E'];
      await stage.callBatch(ids, ['me', 'me'], ends, errors, [now, now]);
      return stage.found('select status, last_error from jobs order by id');
    },
  },
  {
    statement: jobs.requeue,
    title: 'two jobs put back at once are each as in their own call',
    async play(stage) {
      const ids = [...(await two(stage, false))];
      await stage.callBatch(ids, ['me', 'me'], [later, now], [1, 2], ['E', 'F'], [now, now]);
      return stage.found('select attempts, last_error from jobs order by id');
    },
  },
];

const release = (title: string, changes: Readonly<Record<string, unknown>>): Scene => ({
  statement: jobs.releaseLapsed,
  title,
  async play({ row, call, found }) {
    const { isMine = false, ...columns } = changes;
    const id = await row('jobs', { ...running, leased_until: earlier, ...columns });
    await call(now, 3, ['me'], isMine ? [id] : [], ['sweep']);
    return found(states);
  },
});

const lapsed = { last_error: 'lease_lapsed', leased_by: 'gone' };

const releaseBeside: Scene = {
  statement: jobs.releaseLapsed,
  title: 'only the job whose lease has lapsed is put back',
  async play({ row, call, found }) {
    await row('jobs', { ...running, leased_until: earlier, leased_by: 'gone' });
    await row('jobs', { ...running, leased_until: later, leased_by: 'other' });
    await call(now, 3, ['me'], [], ['sweep']);
    return found(states);
  },
};

const renew = (title: string, changes: object): Scene => ({
  statement: jobs.renew,
  title,
  async play({ row, call, found }) {
    const id = await row('jobs', { ...running, leased_until: earlier, ...changes });
    await row('jobs', { ...running, leased_until: earlier });
    await call(['me'], later, [id]);
    return found(`select leased_until > '2026-05-24 12:00Z' from jobs order by id`);
  },
});

const claim = (title: string, rows: readonly Readonly<Record<string, unknown>>[]): Scene => ({
  statement: jobs.claim,
  title,
  async play({ row, fetchRows, found }) {
    for (const changes of rows) await row('jobs', changes);
    const claimed = await fetchRows('me', later, now, ['test', 'other'], [5, 1]);
    const next = claimed[0]?.['nextRunAt'] as Date | null;
    return [next?.toISOString() ?? null, ...(await found(states))];
  },
});

export const jobScenes: readonly Scene[] = [
  finish('a job ends under its lease', ['me', false]),
  finish('a job under another lease does not end', ['you', false]),
  finish('a job that was requested again is queued again', ['me', true]),
  requeue('a job is put back under its lease', ['me', false]),
  requeue('a job under another lease is not put back', ['you', false]),
  requeue('a job that was requested again is due at once', ['me', true]),
  ...together,
  release('a job whose lease has lapsed is put back', { leased_by: 'gone' }),
  release('a job under a valid lease is not put back', { leased_by: 'gone', leased_until: later }),
  releaseBeside,
  release('a job whose lease lapses again is dead', lapsed),
  release('a job that has run less often is put back', { ...lapsed, attempts: 2 }),
  release('a job that has failed before is put back', { ...lapsed, last_error: 'E' }),
  release('a periodic job is put back', { ...lapsed, kind: 'sweep' }),
  release('a job that was requested again starts again', { ...lapsed, wanted: true }),
  release('a job that this worker runs is not put back', { isMine: true }),
  release('a job that this worker has lost is put back', {}),
  release('a job that has its id, of another worker, is put back', {
    isMine: true,
    leased_by: 'gone',
  }),
  renew('only the requested lease is renewed', {}),
  renew('a lease of another worker is not renewed', { leased_by: 'you' }),
  claim('a due job is claimed, and the time of the next one is reported', [{}, { run_at: later }]),
  claim('a running job is not the next one', [{ ...running, run_at: later }]),
  claim('a running job is not claimed again', [running]),
  claim('a job of an unknown kind is not the next one', [{ kind: 'new', run_at: later }]),
  claim('a claim respects the limit of each kind', [{ kind: 'other' }, { kind: 'other' }, {}]),
];
