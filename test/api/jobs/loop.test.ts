/** The job loop: what is queued is run, when it is due, as often as it takes. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { JobHandler } from '../../../src/jobs/job.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { held, jobState, queueJob, recorder, startLoop, watched } from './loops.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });
const { clock } = app;

beforeEach(() => app.rows('delete from jobs'));

const isDone = (id: string) =>
  eventually(async () => (await jobState(app, id))?.status === 'done', 'the end of the job');

test('a queued job is run once, with its payload and the number of the run', async (t) => {
  const work = recorder();
  const id = await queueJob(app, 'work', { payload: '{"eventId":"e1"}' });
  await startLoop(t, watched(app), { jobs: { work } });
  await isDone(id);
  const worker = work.runs[0]?.worker;
  const run = { id, kind: 'work', payload: { eventId: 'e1' }, attempt: 1, worker };
  assert.deepEqual(work.runs, [run]);
  const job = await jobState(app, id);
  assert.deepEqual(
    [job?.attempts, job?.leased_by, job?.leased_until, job?.last_error, job?.finished_at],
    [1, null, null, null, clock.now()],
  );
});

test('a notification wakes the loop: no time passes', async (t) => {
  const work = recorder();
  await startLoop(t, watched(app), { jobs: { work } });
  const id = await queueJob(app, 'work');
  await app.rows(`select pg_notify('ponte_jobs', '')`);
  await isDone(id);
});

test('a job whose notification was lost is found by the next poll', async (t) => {
  const work = recorder();
  const process = watched(app);
  await startLoop(t, process, { jobs: { work }, pollMs: 5_000 });
  const id = await queueJob(app, 'work');
  await process.pass(4_999);
  assert.equal(work.runs.length, 0);
  await process.pass(1);
  await isDone(id);
});

test('a job runs when it is due, not before and not a poll later', async (t) => {
  const work = recorder();
  const process = watched(app);
  const id = await queueJob(app, 'work', { run_at: new Date(clock.now().getTime() + 7_250) });
  await startLoop(t, process, { jobs: { work }, pollMs: 5_000 });
  await process.pass(7_249);
  assert.equal(work.runs.length, 0);
  await process.pass(1);
  await isDone(id);
});

test('jobs begin in the order in which they are due, those of one time as they were queued', async (t) => {
  const work = recorder();
  const past = (ms: number) => ({ run_at: new Date(clock.now().getTime() - ms) });
  const ids = [];
  for (const ms of [1_000, 3_000, 2_000, 3_000]) ids.push(await queueJob(app, 'work', past(ms)));
  const [third, first, second, firstToo] = ids;
  await startLoop(t, watched(app), { jobs: { work }, concurrency: 1 });
  await eventually(() => work.runs.length === 4, 'all jobs');
  assert.deepEqual(
    work.runs.map(({ id }) => id),
    [first, firstToo, second, third],
  );
});

test('no more jobs run at once than the loop has room for, and a free place is filled at once', async (t) => {
  const gates = Array.from({ length: 7 }, () => Promise.withResolvers<undefined>());
  const work = recorder(
    (_, { payload }) => gates[Number(payload['nth'])]?.promise ?? assert.fail(),
  );
  for (const nth of gates.keys()) await queueJob(app, 'work', { payload: `{"nth":${nth}}` });
  const process = watched(app);
  await startLoop(t, process, { jobs: { work }, concurrency: 3 });
  await process.rest();
  assert.equal(work.runs.length, 3);
  for (const [nth, gate] of gates.entries()) {
    gate.resolve(undefined);
    const running = Math.min(7, nth + 4);
    await eventually(() => work.runs.length === running, 'the next job');
    await process.rest();
    assert.equal(work.runs.length, running);
  }
});

test('a job that requests another run gets it at that time, with its attempts reset', async (t) => {
  const runAgainAt = new Date(clock.now().getTime() + 3_000);
  const responses = [{ runAgainAt }, undefined];
  const work = recorder(async () => responses.shift());
  const process = watched(app);
  const id = await queueJob(app, 'work', { attempts: 3 });
  await startLoop(t, process, { jobs: { work } });
  await process.rest();
  const waiting = await jobState(app, id);
  assert.deepEqual(
    [waiting?.status, waiting?.attempts, waiting?.run_at, waiting?.leased_by],
    ['queued', 0, runAgainAt, null],
  );
  await process.pass(3_000);
  await isDone(id);
  assert.deepEqual(
    work.runs.map(({ attempt }) => attempt),
    [4, 1],
  );
});

test('a failed job is run again after growing pauses, and is dead after eight runs', async (t) => {
  const work = recorder(() => Promise.reject(new RangeError('52998224725 is out of range')));
  const process = watched(app);
  const id = await queueJob(app, 'work');
  await startLoop(t, process, { jobs: { work }, random: () => 0.5 });
  await process.rest();
  const pauses = [];
  for (let run = 1; run < 8; run += 1) {
    const job = await jobState(app, id);
    assert.deepEqual([job?.status, job?.attempts, job?.last_error], ['queued', run, 'RangeError']);
    const pauseMs = (job?.run_at.getTime() ?? 0) - clock.now().getTime();
    pauses.push(pauseMs);
    await process.pass(pauseMs, 750);
    await eventually(() => work.runs.length === run + 1, 'the next run');
    await process.rest();
  }
  assert.deepEqual(pauses, [750, 1_500, 3_000, 6_000, 12_000, 24_000, 48_000]);
  const dead = await jobState(app, id);
  assert.deepEqual([dead?.status, dead?.attempts, dead?.last_error], ['dead', 8, 'RangeError']);
  assert.deepEqual(dead?.finished_at, clock.now());
  await process.pass(600_000, 60_000);
  assert.equal(work.runs.length, 8);
});

test('the last error has the name and the code of an error, and none of its text', async (t) => {
  const process = watched(app);
  const errors: [unknown, string][] = [
    [Object.assign(new Error('52998224725'), { name: 'error', code: '57014' }), 'error 57014'],
    [Object.assign(new Error('52998224725'), { code: 'ECONNREFUSED' }), 'Error ECONNREFUSED'],
    [Object.assign(new Error('52998224725'), { code: 'ana@example.com' }), 'Error'],
    [Object.assign(new TypeError('52998224725'), { code: 7 }), 'TypeError'],
    ['52998224725', 'unknown'],
  ];
  const work = recorder((_, { payload }) => {
    throw errors[Number(payload['nth'])]?.[0];
  });
  const ids = [];
  for (const nth of errors.keys()) {
    ids.push(await queueJob(app, 'work', { payload: `{"nth":${nth}}` }));
  }
  await startLoop(t, process, { jobs: { work } });
  await process.rest();
  const stored = await Promise.all(ids.map((id) => jobState(app, id)));
  assert.deepEqual(
    stored.map((job) => job?.last_error),
    errors.map(([, name]) => name),
  );
});

test('half of a pause is left to chance', async (t) => {
  for (const [chance, pauseMs] of [
    [0, 500],
    [1, 1_000],
  ] as const) {
    const work = recorder(() => Promise.reject(new Error('no')));
    const process = watched(app);
    const id = await queueJob(app, `work-${chance}`);
    await startLoop(t, process, { jobs: { [`work-${chance}`]: work }, random: () => chance });
    await process.rest();
    const job = await jobState(app, id);
    assert.equal((job?.run_at.getTime() ?? 0) - clock.now().getTime(), pauseMs);
  }
});

test('a handler that throws, whatever and however, does not stop the loop', async (t) => {
  const fails = {
    async rejects() {
      throw new Error('rejected');
    },
    throws() {
      throw new TypeError('thrown');
    },
    odd() {
      // oxlint-disable-next-line eslint/no-throw-literal, typescript/only-throw-error
      throw 'a text';
    },
  };
  const work = recorder();
  const ids = new Map<string, string>();
  for (const kind of Object.keys(fails)) ids.set(kind, await queueJob(app, kind));
  const process = watched(app);
  const handlers = Object.entries(fails).map(([kind, run]) => [kind, { run }] as const);
  const loop = await startLoop(t, process, { jobs: { work, ...Object.fromEntries(handlers) } });
  await process.rest();
  const errors = [];
  for (const id of ids.values()) errors.push((await jobState(app, id))?.last_error);
  assert.deepEqual(errors, ['Error', 'TypeError', 'unknown']);
  const id = await queueJob(app, 'work');
  loop.wake();
  await isDone(id);
  assert.equal(loop.healthy, true);
});

test('a kind that this version does not know waits for one that does, and costs nothing', async (t) => {
  const process = watched(app);
  const id = await queueJob(app, 'of-tomorrow');
  await startLoop(t, process, { jobs: { work: recorder() }, pollMs: 5_000 });
  const polls = process.polls();
  await process.pass(20_000, 1_000);
  assert.equal(process.polls() - polls, 4, 'one look a poll');
  const job = await jobState(app, id);
  assert.deepEqual([job?.status, job?.attempts], ['queued', 0]);
  const ofTomorrow = recorder();
  await startLoop(t, watched(app), { jobs: { 'of-tomorrow': ofTomorrow } });
  await isDone(id);
});

test('runs are counted by kind and result, and failures are logged without the message', async (t) => {
  const counted = async (result: string) => {
    const { values } = await app.context.metrics.jobs.get();
    const found = values.find(
      ({ labels }) => labels.kind === 'counted' && labels.result === result,
    );
    return found?.value ?? 0;
  };
  const work = recorder(async (_, { attempt }) => {
    if (attempt === 1) throw new Error('fails');
    return undefined;
  });
  const process = watched(app);
  const id = await queueJob(app, 'counted');
  await startLoop(t, process, { jobs: { counted: work } });
  await process.rest();
  await process.pass(1_000, 500);
  await isDone(id);
  assert.deepEqual([await counted('failed'), await counted('done')], [1, 1]);
  const logged = app.logLines.filter((line) => line.includes('"counted"'));
  assert.equal(logged.length, 1);
  assert.match(logged[0] ?? '', /"level":"error".*"attempt":1/);
});

test('stopping waits for the jobs that run, claims none and may be done twice', async (t) => {
  const work = held(t);
  const process = watched(app);
  const [first, second] = [await queueJob(app, 'work'), await queueJob(app, 'work')];
  const loop = await startLoop(t, process, { jobs: { work }, concurrency: 1 });
  await process.rest();
  let isStopped = false;
  const stopped = Promise.all([loop.stop(), loop.stop()]).then(() => (isStopped = true));
  await process.rest();
  assert.equal(loop.healthy, false);
  assert.equal(isStopped, false);
  work.release();
  await stopped;
  assert.equal((await jobState(app, first))?.status, 'done');
  assert.equal((await jobState(app, second))?.status, 'queued');
  loop.wake();
  await process.pass(30_000, 5_000);
  assert.equal(work.runs.length, 1);
});

test('a place that becomes free while the queue is read is used at once', async (t) => {
  const [first, second, third] = [held(t), held(t), recorder()];
  const steps = { first, second, third };
  const work: JobHandler = {
    run: (context, job) => steps[job.payload['step'] as keyof typeof steps].run(context, job),
  };
  const queue = (step: keyof typeof steps) =>
    queueJob(app, 'work', { payload: JSON.stringify({ step }) });
  const process = watched(app);
  const { query } = process.context.db;
  let endsFirst = false;
  const ended = async (): Promise<void> => {
    endsFirst = false;
    first.release();
    await isDone(firstId);
  };
  const slow: typeof query = async (statement, parameters) => {
    const rows = await query(statement, parameters);
    // The claim has been carried out, and its response is on the way.
    if (statement.name === 'jobs-claim' && endsFirst) await ended();
    return rows;
  };
  const firstId = await queue('first');
  const db = { ...process.context.db, query: slow };
  const busy = { ...process, context: { ...process.context, db } };
  const loop = await startLoop(t, busy, { jobs: { work }, concurrency: 2 });
  await process.rest();
  await queue('second');
  const thirdId = await queue('third');
  endsFirst = true;
  loop.wake();
  await isDone(thirdId);
  assert.equal(second.runs.length, 1);
});

test('a kind whose places are all taken holds up no other kind', async (t) => {
  const process = watched(app);
  const slow = { ...held(t), concurrency: 2 };
  const quick = recorder();
  for (let count = 0; count < 100; count += 1) await queueJob(app, 'slow');
  const id = await queueJob(app, 'quick');
  await startLoop(t, process, { jobs: { slow, quick }, concurrency: 3 });
  await isDone(id);
  const later = await queueJob(app, 'quick');
  await app.rows(`select pg_notify('ponte_jobs', '')`);
  await isDone(later);
  assert.equal(slow.runs.length, 2);
});
