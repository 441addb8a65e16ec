/** Periodic kinds: once a period over all instances, and at every start. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { JobHandler } from '../../../src/jobs/job.ts';
import { startTestApp } from '../../support/app.ts';
import { held, queueJob, recorder, startLoop, watched, type Watched } from './loops.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });

beforeEach(() => app.rows('delete from jobs'));

const minutely = <Handler extends JobHandler>(handler: Handler) => ({
  ...handler,
  everyMs: 60_000,
});

const openJobs = () =>
  app.rows<{ status: string; last_error: string | null }>(
    `select status, last_error from jobs where kind = 'sweep'`,
  );

/** Lets the time pass for two processes. */
async function passFor(processes: readonly Watched[], ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5_000) {
    await app.clock.advance(5_000);
    for (const process of processes) await process.rest();
  }
}

test('a periodic kind runs at the start and then once a period, over two loops', async (t) => {
  const sweep = minutely(recorder());
  const processes = [watched(app), watched(app)];
  for (const process of processes) await startLoop(t, process, { jobs: { sweep } });
  await passFor(processes, 5_000);
  assert.ok(sweep.runs.length > 0);
  const atStart = sweep.runs.length;
  await passFor(processes, 5 * 60_000);
  assert.equal(sweep.runs.length - atStart, 5);
  assert.equal((await openJobs()).length, 1);
});

test('loops that start at once make one job', async (t) => {
  const sweep = minutely(recorder());
  await Promise.all(
    Array.from({ length: 5 }, () => startLoop(t, watched(app), { jobs: { sweep } })),
  );
  assert.equal((await openJobs()).length, 1);
});

test('a start runs it at once, though the last run was a moment ago', async (t) => {
  const sweep = minutely(recorder());
  const process = watched(app);
  const loop = await startLoop(t, process, { jobs: { sweep } });
  await process.rest();
  await loop.stop();
  await passFor([process], 10_000);
  assert.equal(sweep.runs.length, 1);
  await startLoop(t, process, { jobs: { sweep } });
  await process.rest();
  assert.equal(sweep.runs.length, 2);
});

test('a run that fails is repeated in the next period, for ever', async (t) => {
  const sweep = minutely(recorder(() => Promise.reject(new RangeError('no'))));
  const process = watched(app);
  await startLoop(t, process, { jobs: { sweep } });
  await process.rest();
  await passFor([process], 12 * 60_000);
  assert.equal(sweep.runs.length, 13);
  assert.deepEqual(await openJobs(), [{ status: 'queued', last_error: 'RangeError' }]);
});

test('a run that takes longer than the period is not joined by another one', async (t) => {
  const slow = held(t);
  const processes = [watched(app), watched(app)];
  for (const process of processes) {
    await startLoop(t, process, { jobs: { sweep: minutely(slow) } });
    await process.rest();
  }
  await passFor(processes, 5 * 60_000);
  assert.equal(slow.runs.length, 1);
  slow.release();
});

test('a periodic job that processes died in again and again is never dead', async (t) => {
  const sweep = minutely(recorder());
  const lapsed = new Date(app.clock.now().getTime() - 1);
  await queueJob(app, 'sweep', {
    unique_key: 'every:sweep',
    status: 'running',
    attempts: 20,
    leased_by: 'the-dead',
    leased_until: lapsed,
  });
  const process = watched(app);
  await startLoop(t, process, { jobs: { sweep } });
  await passFor([process], 60_000);
  assert.ok(sweep.runs.length > 0);
  assert.equal((await openJobs()).length, 1);
});

test('a wall clock that is a day ahead for eight seconds does not postpone a periodic job', async (t) => {
  const sweep = minutely(recorder());
  let aheadMs = 0;
  const clock = { ...app.clock, now: () => new Date(app.clock.now().getTime() + aheadMs) };
  const process = watched(app);
  const { context } = process;
  await startLoop(t, { ...process, context: { ...context, clock } }, { jobs: { sweep } });
  await process.rest();
  aheadMs = 24 * 60 * 60_000;
  await process.pass(8_000);
  aheadMs = 0;
  const before = sweep.runs.length;
  await process.pass(5 * 60_000);
  assert.ok(sweep.runs.length - before >= 4, `${sweep.runs.length - before} runs in five minutes`);
});
