/** Asking for a job: it is never doubled, and never lost to a run that has looked too early. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { enqueueJob, type JobRequest } from '../../../src/jobs/job-repository.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { held, queueJob, recorder, startLoop, watched, type JobState } from './loops.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });
const { clock, context } = app;

beforeEach(() => app.rows('delete from jobs'));

const request: JobRequest = { kind: 'work', uniqueKey: 'work:1', payload: { step: 1 } };

const inMs = (ms: number) => new Date(clock.now().getTime() + ms);

const ask = async (changes: Partial<JobRequest> = {}) =>
  context.db.transaction((db) => enqueueJob({ db, clock }, { ...request, ...changes }));

const jobs = () => app.rows<JobState & { payload: unknown }>('select * from jobs order by id');

async function theJob(): Promise<JobState & { payload: unknown }> {
  const [job, ...others] = await jobs();
  assert.ok(job && others.length === 0, 'there is one job');
  return job;
}

const isDone = () =>
  eventually(async () => (await theJob()).status === 'done', 'the end of the job');

test('a requested job runs at once: the loop is notified', async (t) => {
  const work = recorder();
  await startLoop(t, watched(app), { jobs: { work } });
  await ask();
  await isDone();
  assert.deepEqual(
    work.runs.map(({ kind, payload, attempt }) => [kind, payload, attempt]),
    [['work', { step: 1 }, 1]],
  );
});

test('a job that is open is not doubled: it is due at the earliest time, with its first payload', async () => {
  await ask({ runAt: inMs(5_000) });
  await ask({ runAt: inMs(9_000), payload: { step: 2 } });
  assert.deepEqual((await theJob()).run_at, inMs(5_000));
  await ask();
  const { run_at: runAt, status, payload, wanted: isAgain } = await theJob();
  assert.deepEqual([runAt, status, payload, isAgain], [clock.now(), 'queued', { step: 1 }, false]);
});

test('requested many times at once, there is one job', async () => {
  await Promise.all(Array.from({ length: 20 }, () => ask()));
  await theJob();
});

test('a job of the same key that is over does not stand in the way', async () => {
  for (const status of ['done', 'dead']) {
    const finished = { status, finished_at: clock.now(), unique_key: 'work:1' };
    await queueJob(app, 'work', finished);
  }
  await ask();
  assert.deepEqual(
    (await jobs()).map(({ status }) => status),
    ['done', 'dead', 'queued'],
  );
});

test('a job that is requested while it runs is run once more, with its attempts reset', async (t) => {
  const work = held(t);
  const process = watched(app);
  await startLoop(t, process, { jobs: { work } });
  await ask();
  await eventually(() => work.runs.length === 1, 'the run');
  for (let again = 0; again < 3; again += 1) await ask();
  assert.deepEqual([(await theJob()).status, (await theJob()).wanted], ['running', true]);
  work.release();
  await isDone();
  await process.rest();
  assert.deepEqual(
    work.runs.map(({ attempt }) => attempt),
    [1, 1],
  );
  assert.equal((await theJob()).wanted, false);
});

test('a run that requests a later run is run at once after a request meanwhile', async (t) => {
  const gate = Promise.withResolvers<undefined>();
  const responses = [{ runAgainAt: inMs(60_000) }, undefined];
  const work = recorder(async () => {
    await gate.promise;
    return responses.shift();
  });
  await startLoop(t, watched(app), { jobs: { work } });
  await ask();
  await eventually(() => work.runs.length === 1, 'the run');
  await ask({ runAt: inMs(30_000) });
  gate.resolve(undefined);
  await isDone();
  assert.equal(work.runs.length, 2);
});

test('a run that fails for the last time is not the end of a job that was requested meanwhile', async (t) => {
  const outcomes = [
    async () => {
      await ask();
      throw new Error('the eighth time');
    },
    async () => undefined,
  ];
  const work = recorder(async () => outcomes.shift()?.());
  await queueJob(app, 'work', { unique_key: 'work:1', attempts: 7 });
  await startLoop(t, watched(app), { jobs: { work } });
  await isDone();
  assert.deepEqual(
    work.runs.map(({ attempt }) => attempt),
    [8, 1],
  );
});

test('a job that killed its process eight times is run again after a request meanwhile', async (t) => {
  await queueJob(app, 'work', {
    unique_key: 'work:1',
    status: 'running',
    attempts: 8,
    leased_by: 'the-dead',
    leased_until: inMs(1),
  });
  await ask();
  await clock.advance(2);
  const work = recorder();
  await startLoop(t, watched(app), { jobs: { work } });
  await isDone();
  assert.deepEqual(
    work.runs.map(({ attempt }) => attempt),
    [1],
  );
});

test('within a unit of work, a job is queued with the commit and with nothing else', async (t) => {
  const work = recorder();
  await startLoop(t, watched(app), { jobs: { work } });
  const payload = { step: `Ana's? \\ "$1" ${'ç'.repeat(3)}`, nested: { at: null } };
  const unit = async (undo: boolean) =>
    context.db.transaction(async (db) => {
      await enqueueJob({ db, clock }, { ...request, payload });
      if (undo) throw new RangeError('undone');
    });
  await assert.rejects(unit(true), RangeError);
  assert.deepEqual(await jobs(), []);
  await unit(false);
  await isDone();
  assert.deepEqual(work.runs[0]?.payload, payload);
});
