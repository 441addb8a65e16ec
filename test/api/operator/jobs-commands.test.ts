/** What operators see of the queue, and what they can do about dead jobs. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { countJobs, type JobsRetryInput, listJobs, retryJobs } from '../../../src/operator/jobs.ts';
import { jobState, queueJob } from '../jobs/loops.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { isPlainJson, refused, unwatched } from './asking.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });
const { context } = app;

const at = (ms: number): Date => new Date(app.clock.now().getTime() + ms);

const list = (input: Partial<Parameters<typeof listJobs.run>[1]> = {}) =>
  listJobs.run(context, { limit: 50, ...input }, unwatched);
const retry = (input: JobsRetryInput) => retryJobs.run(context, input, unwatched);

const dead = (changes: Readonly<Record<string, unknown>> = {}, kind = 'test') =>
  queueJob(app, kind, {
    status: 'dead',
    attempts: 8,
    run_at: at(-60_000),
    finished_at: at(-30_000),
    last_error: 'TypeError',
    ...changes,
  });

const leased = (until: Date) => ({
  status: 'running',
  leased_by: randomUUID(),
  leased_until: until,
});

describe('jobs list', () => {
  it('shows jobs newest first, by state and kind, up to a limit', async () => {
    const first = await queueJob(app, 'list-a');
    const second = await queueJob(app, 'list-a', { status: 'done', finished_at: at(0) });
    const third = await queueJob(app, 'list-b');
    const ids = async (input: object) => (await list(input)).jobs.map(({ id }) => id);
    assert.deepEqual(await ids({ kind: 'list-a' }), [second, first]);
    assert.deepEqual(await ids({ kind: 'list-a', state: 'queued' }), [first]);
    assert.deepEqual(await ids({ limit: 1 }), [third]);
    assert.deepEqual(await ids({ kind: 'nobody' }), []);
  });

  it('shows those that fail of one state, and none of a state that is not open', async () => {
    const kind = 'list-failing';
    const queued = await queueJob(app, kind, { last_error: 'TypeError' });
    const running = await queueJob(app, kind, { ...leased(at(1)), last_error: 'TypeError' });
    await dead({}, kind);
    const ids = async (input: object) =>
      (await list({ kind, failing: true, ...input })).jobs.map(({ id }) => id);
    assert.deepEqual(await ids({}), [running, queued]);
    assert.deepEqual(await ids({ state: 'queued' }), [queued]);
    assert.deepEqual(await ids({ state: 'dead' }), []);
  });

  it('returns times as texts, and which leases have expired', async () => {
    await queueJob(app, 'lapsing', leased(at(-1)));
    await queueJob(app, 'lapsing', leased(at(1)));
    const { jobs } = await list({ kind: 'lapsing' });
    assert.deepEqual(
      jobs.map(({ lapsed }) => lapsed),
      [false, true],
    );
    assert.equal(jobs[0]?.createdAt, app.clock.now().toISOString());
    assert.equal(jobs[0]?.leasedUntil, at(1).toISOString());
    isPlainJson(jobs);
  });

  it('names the event of a settle-webhook job, and nothing of what others are about', async () => {
    const eventId = randomUUID();
    const secret = randomUUID();
    await queueJob(app, 'settle-webhook', { payload: JSON.stringify({ eventId }) });
    await queueJob(app, 'onboarding-step', {
      payload: JSON.stringify({ eventId: secret, applicationId: secret }),
      unique_key: `onboarding:${secret}`,
    });
    const { jobs } = await list();
    assert.equal(jobs.find(({ kind }) => kind === 'settle-webhook')?.eventId, eventId);
    assert.equal(jobs.find(({ kind }) => kind === 'onboarding-step')?.eventId, null);
    assert.ok(!JSON.stringify(jobs).includes(secret));
  });
});

describe('jobs stats', () => {
  it('counts by kind and state, with the age of the oldest and the lapsed leases', async () => {
    await queueJob(app, 'counted', { run_at: at(-90_500) });
    await queueJob(app, 'counted', { run_at: at(60_000) });
    await queueJob(app, 'counted', leased(at(-1)));
    await queueJob(app, 'counted-later', { run_at: at(60_000) });
    const { counts } = await countJobs.run(context, {}, unwatched);
    const counted = counts.filter(({ kind }) => kind.startsWith('counted'));
    assert.deepEqual(
      counted.map(({ kind, state, jobs, oldestAgeSeconds, nextDueAt, lapsed }) => [
        kind,
        state,
        jobs,
        oldestAgeSeconds,
        nextDueAt,
        lapsed,
      ]),
      [
        ['counted', 'queued', 2, 90, null, 0],
        ['counted', 'running', 1, 0, null, 1],
        ['counted-later', 'queued', 1, 0, at(60_000).toISOString(), 0],
      ],
    );
    assert.equal(counted[0]?.oldestAt, at(-90_500).toISOString());
  });
});

describe('jobs retry', () => {
  it('queues a dead job now, as if it had never been tried, and wakes the loop', async () => {
    const id = await dead();
    let notified = 0;
    const stop = await context.db.listen('ponte_jobs', () => (notified += 1));
    const result = await retry({ ids: [id, id] });
    assert.deepEqual(result, { retried: 1, superseded: 0, notDead: [], notFound: [] });
    await eventually(() => notified > 0, 'the notification');
    await stop();
    const job = await jobState(app, id);
    assert.equal(job?.status, 'queued');
    assert.equal(job.attempts, 0);
    assert.deepEqual(job.run_at, app.clock.now());
    assert.equal(job.finished_at, null);
  });

  it('leaves what is not dead, and says its state', async () => {
    const queued = await queueJob(app, 'alive', { run_at: at(60_000), attempts: 3 });
    const { retried, notDead, notFound } = await retry({ ids: [queued, '999999999999'] });
    assert.equal(retried, 0);
    assert.deepEqual(notDead, [{ id: queued, state: 'queued' }]);
    assert.deepEqual(notFound, ['999999999999']);
    assert.deepEqual((await jobState(app, queued))?.run_at, at(60_000));
  });

  it('removes a dead job whose work an open one has taken over', async () => {
    const old = await dead({ unique_key: 'work:1' });
    await queueJob(app, 'test', { unique_key: 'work:1' });
    assert.deepEqual(await retry({ ids: [old] }), {
      retried: 0,
      superseded: 1,
      notDead: [],
      notFound: [],
    });
    assert.equal(await jobState(app, old), undefined);
    const recorded = await app.rows(
      'select command, outcome from operator_actions where target = $1',
      [`job:${old}`],
    );
    assert.deepEqual(recorded, [{ command: 'jobs retry', outcome: 'removed' }]);
  });

  it('retries the newest of several dead jobs for the same work', async () => {
    const older = await dead({ unique_key: 'work:2' });
    const newer = await dead({ unique_key: 'work:2' });
    const { retried, superseded } = await retry({ ids: [older, newer] });
    assert.deepEqual([retried, superseded], [1, 1]);
    assert.equal(await jobState(app, older), undefined);
    assert.equal((await jobState(app, newer))?.status, 'queued');
  });

  it('looks again when a job with the same key is queued at the same moment', async () => {
    const id = await dead({ unique_key: 'work:3' });
    let polls = 0;
    const transaction: typeof context.db.transaction = async (work) => {
      polls += 1;
      if (polls === 1) throw Object.assign(new Error('duplicate'), { code: '23505' });
      return context.db.transaction(work);
    };
    const db = { ...context.db, transaction };
    const { retried } = await retryJobs.run({ ...context, db }, { ids: [id] }, unwatched);
    assert.equal(retried, 1);
    assert.equal(polls, 2);
  });

  it('retries all that are dead, of one kind or of every kind, in bounded batches', async () => {
    await app.rows(
      `insert into jobs (kind, payload, status, run_at, created_at, attempts, finished_at)
       select case when n % 3 = 0 then 'kind-a' else 'kind-b' end, '{}', 'dead', $1, $1, 8, $1
         from generate_series(1, 1500) n`,
      [at(-1)],
    );
    const seen: number[] = [];
    const ofKind = await retryJobs.run(
      context,
      { allDead: true, kind: 'kind-a' },
      { ...unwatched, progress: (done) => void seen.push(done) },
    );
    assert.equal(ofKind.retried, 500);
    assert.deepEqual(seen, [500, 500]);
    const rest = await retry({ allDead: true });
    assert.ok(rest.retried >= 1_000);
    const [left] = await app.rows<{ n: number }>(
      `select count(*)::int as n from jobs where status = 'dead' and unique_key is null`,
    );
    assert.equal(left?.n, 0);
  });

  it('refuses without a choice, and what is no id', async () => {
    await refused(retry({}), /name jobs/, 'INVALID');
    await refused(retry({ ids: [] }), /name jobs/, 'INVALID');
    await refused(
      retry({ ids: ['7', '7 or true'] }),
      /7 or true is not the id of a job/,
      'INVALID',
    );
  });
});
