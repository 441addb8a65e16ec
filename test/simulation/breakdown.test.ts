/** An unhandled error fails its seed, and the run continues with the next one. */
import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import type { JobTable } from '../../src/jobs/job.ts';
import { createTestDatabase } from '../support/db.ts';
import { sendJobs } from './jobs.ts';
import { simulate, type Verdict } from './simulate.ts';
import { openStore, type Store } from './store.ts';

const database = await createTestDatabase();
const store = await openStore({ folder: database.dataDir });
after(async () => {
  await store.close();
  await database.drop();
});

/** The runner's own handlers would fail the test before the simulation handles the error. */
function withoutHandlersOfRunner(t: TestContext, event: 'unhandledRejection'): void {
  const handlers = process.listeners(event);
  process.removeAllListeners(event);
  t.after(() => {
    for (const handler of handlers) process.on(event, handler);
  });
}

async function isViolation({ violations }: Verdict): Promise<void> {
  assert.match(violations[0] ?? '', /^an error was not handled: Error: out of order/);
  assert.deepEqual((await simulate(store, 1)).violations, []);
}

test('a failed statement of the simulation is a violation of its seed', async () => {
  const refusing: Store = { ...store, rows: () => Promise.reject(new Error('out of order')) };
  await isViolation(await simulate(refusing, 1));
});

test('an unhandled rejection of the service is a violation of its seed', async (t) => {
  withoutHandlersOfRunner(t, 'unhandledRejection');
  const run = async (): Promise<undefined> => {
    void Promise.reject(new Error('out of order'));
  };
  const jobs: JobTable = { ...sendJobs, 'sweep-pix': { everyMs: 60_000, run } };
  await isViolation(await simulate(store, 1, { deviation: { jobs } }));
});
