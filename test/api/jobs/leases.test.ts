/** Leases: several loops on one queue, and what becomes of the jobs of one that dies. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { held, jobState, queueJob, recorder, startLoop, watched } from './loops.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });
const { clock } = app;

beforeEach(() => app.rows('delete from jobs'));

const isDone = (id: string) =>
  eventually(async () => (await jobState(app, id))?.status === 'done', 'the end of the job');

/** A job that a process, now dead, has claimed. */
const claimedByTheDead = (leaseMs: number, changes = {}) =>
  queueJob(app, 'work', {
    status: 'running',
    attempts: 1,
    leased_by: 'the-dead',
    leased_until: new Date(clock.now().getTime() + leaseMs),
    ...changes,
  });

test('of two loops only one runs a job, whichever comes first', async (t) => {
  const [one, other] = [recorder(), recorder()];
  const ids = await Promise.all(Array.from({ length: 60 }, () => queueJob(app, 'work')));
  await Promise.all([
    startLoop(t, watched(app), { jobs: { work: one } }),
    startLoop(t, watched(app), { jobs: { work: other } }),
  ]);
  for (const id of ids) await isDone(id);
  const ran = [...one.runs, ...other.runs].map(({ id }) => id);
  assert.deepEqual(ran.sort(), ids.sort());
});

test('a job that takes longer than its lease is not run twice while its process lives', async (t) => {
  const work = held(t);
  const second = recorder();
  const [first, other] = [watched(app), watched(app)];
  const id = await queueJob(app, 'work');
  await startLoop(t, first, { jobs: { work }, leaseMs: 30_000 });
  await first.rest();
  await startLoop(t, other, { jobs: { work: second }, leaseMs: 30_000 });
  for (let passed = 0; passed < 120; passed += 5) {
    await first.pass(5_000, 5_000);
    await other.rest();
    const leased = await jobState(app, id);
    assert.ok((leased?.leased_until ?? 0) > clock.now(), 'the lease is renewed in time');
  }
  work.release();
  await isDone(id);
  assert.deepEqual([work.runs.length, second.runs.length], [1, 0]);
});

test('a run that takes longer than its kind may is stuck: counted, and taken over', async (t) => {
  const work = held(t);
  const second = recorder();
  const [first, other] = [watched(app), watched(app)];
  const id = await queueJob(app, 'work');
  // Without room for a second run the first loop cannot take its job up before the other does.
  const jobs = { work: { ...work, maxMs: 60_000, concurrency: 1 } };
  await startLoop(t, first, { jobs, leaseMs: 30_000 });
  await first.rest();
  await startLoop(t, other, { jobs: { work: second }, leaseMs: 30_000, pollMs: 5_000 });
  const stuck = async (): Promise<number> => {
    const { values } = await app.context.metrics.stuckJobs.get();
    return values.find(({ labels }) => labels.kind === 'work')?.value ?? 0;
  };
  const before = await stuck();
  for (let passed = 0; passed < 60; passed += 5) await first.pass(5_000, 5_000);
  assert.deepEqual([await stuck(), second.runs.length], [before, 0]);
  for (let passed = 0; passed < 60; passed += 5) {
    await first.pass(5_000, 5_000);
    await other.rest();
  }
  assert.equal(await stuck(), before + 1, 'once');
  assert.deepEqual([work.runs.length, second.runs.length], [1, 1]);
  work.release();
  await isDone(id);
});

test('a process that was suspended does not run its own job a second time', async (t) => {
  const work = held(t);
  const process = watched(app);
  const id = await queueJob(app, 'work');
  // A machine that sleeps stops its timers, and finds the time of day moved on.
  let sleptMs = 0;
  const now = () => new Date(clock.now().getTime() + sleptMs);
  const context = { ...process.context, clock: { ...clock, now } };
  await startLoop(t, { ...process, context }, { jobs: { work }, leaseMs: 30_000 });
  await process.rest();
  sleptMs = 3_600_000;
  await process.pass(20_000);
  assert.equal(work.runs.length, 1);
  work.release();
  await isDone(id);
  assert.equal((await jobState(app, id))?.attempts, 1);
});

test('the run of a lost job does not end the job that was given its id', async (t) => {
  const ends = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  t.after(() => {
    for (const { resolve } of ends) resolve(undefined);
  });
  const work = recorder(() => ends[work.runs.length - 1]?.promise ?? assert.fail('a third run'));
  const process = watched(app);
  const id = await queueJob(app, 'work');
  await startLoop(t, process, { jobs: { work }, pollMs: 5_000 });
  await process.rest();
  // The database has lost the job, and begins with its id again.
  await app.rows('delete from jobs');
  await queueJob(app, 'work', { id });
  await process.pass(5_000, 5_000);
  assert.equal(work.runs.length, 2);
  ends[0]?.resolve(undefined);
  await process.rest();
  assert.equal((await jobState(app, id))?.status, 'running');
  ends[1]?.resolve(undefined);
  await isDone(id);
});

test('the job of a dead process is taken up when its lease has run out, not before', async (t) => {
  const work = recorder();
  const process = watched(app);
  const id = await claimedByTheDead(30_000);
  await startLoop(t, process, { jobs: { work }, pollMs: 5_000 });
  await process.pass(30_000, 5_000);
  assert.equal(work.runs.length, 0);
  await process.pass(5_000, 5_000);
  await isDone(id);
  assert.equal(work.runs[0]?.attempt, 2);
});

test('a loop that is woken all the time looks after leases once a poll, and no later', async (t) => {
  const work = recorder();
  const process = watched(app);
  const id = await claimedByTheDead(7_000);
  const loop = await startLoop(t, process, { jobs: { work }, pollMs: 5_000 });
  for (let woken = 0; woken < 99; woken += 1) {
    loop.wake();
    await process.pass(100, 100);
  }
  assert.deepEqual([process.executions('jobs-release-lapsed'), work.runs.length], [2, 0]);
  await process.pass(100);
  await isDone(id);
});

test('with the usual settings a dead process holds a job for less than a minute', async (t) => {
  const dying = watched(app);
  const dies = held(t);
  const id = await queueJob(app, 'work');
  await startLoop(t, dying, { jobs: { work: dies } });
  await dying.rest();
  dying.fail('jobs-renew', 'jobs-finish', 'jobs-requeue', 'jobs-release-lapsed');
  const work = recorder();
  const living = watched(app);
  await startLoop(t, living, { jobs: { work } });
  const diedAt = clock.now().getTime();
  while (work.runs.length === 0) await living.pass(1_000);
  assert.ok(clock.now().getTime() - diedAt < 60_000);
  await isDone(id);
  dies.release();
});

test('what a process says of a job that was taken from it does not count', async (t) => {
  const [slow, quick] = [watched(app), watched(app)];
  const first = held(t);
  const second = held(t);
  const id = await queueJob(app, 'work');
  await startLoop(t, slow, { jobs: { work: first }, leaseMs: 30_000 });
  await slow.rest();
  slow.fail('jobs-renew', 'jobs-release-lapsed');
  await startLoop(t, quick, { jobs: { work: second }, leaseMs: 30_000 });
  for (let passed = 0; passed < 40; passed += 5) await quick.pass(5_000, 5_000);
  assert.equal(second.runs.length, 1);
  slow.fail();
  first.release();
  await slow.rest();
  assert.equal((await jobState(app, id))?.status, 'running');
  second.release();
  await isDone(id);
  assert.deepEqual([first.runs.length, second.runs.length], [1, 1]);
});

test('a result that could not be stored makes the job run again: at least once, not at most', async (t) => {
  const work = recorder();
  const process = watched(app);
  const id = await queueJob(app, 'work');
  process.fail('jobs-finish', 'jobs-requeue');
  await startLoop(t, process, { jobs: { work }, leaseMs: 30_000 });
  await process.rest();
  assert.equal(work.runs.length, 1);
  process.fail();
  await process.pass(40_000, 5_000);
  await isDone(id);
  assert.deepEqual(
    work.runs.map(({ attempt }) => attempt),
    [1, 2],
  );
});

test('a job that killed its process eight times is dead', async (t) => {
  const work = recorder();
  const process = watched(app);
  const lapsed = { last_error: 'lease_lapsed' };
  const id = await claimedByTheDead(0, { attempts: 8, ...lapsed });
  const younger = await claimedByTheDead(0, { attempts: 7, ...lapsed });
  await startLoop(t, process, { jobs: { work } });
  await process.pass(1_000);
  await process.pass(5_000);
  await isDone(younger);
  const dead = await jobState(app, id);
  assert.deepEqual([dead?.status, dead?.attempts, dead?.leased_by], ['dead', 8, null]);
  assert.deepEqual(
    work.runs.map(({ attempt }) => attempt),
    [8],
  );
});

test('a job that has failed often is not dead when its lease lapses once', async (t) => {
  const work = recorder();
  const process = watched(app);
  const id = await claimedByTheDead(0, { attempts: 200, last_error: 'Error ECONNREFUSED' });
  await startLoop(t, process, { jobs: { work } });
  await process.pass(6_000);
  await isDone(id);
  assert.equal(work.runs.length, 1);
});

test('a periodic job is never dead: nothing else would queue it again', async (t) => {
  const work = { ...recorder(), everyMs: 60_000 };
  const process = watched(app);
  const id = await claimedByTheDead(0, { attempts: 8, unique_key: 'every:work' });
  await startLoop(t, process, { jobs: { work } });
  await process.pass(1_000);
  await process.pass(5_000);
  const put = await jobState(app, id);
  assert.deepEqual([put?.status, put?.attempts], ['queued', 0]);
  assert.equal(work.runs.length, 1);
});
