/** Every event that waits to be settled has a job, also where its first one was lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queueForgottenEvents } from '../../../src/settlement/forgotten-events-repository.ts';
import { confirmed, startSettlingApp } from './settling.ts';

const app = await startSettlingApp();

async function deliverWithJob(status: 'done' | 'dead'): Promise<string> {
  const eventId = await app.deliver(confirmed({ endToEnd: app.newEndToEnd() }));
  await app.rows(
    `update jobs set status = $2, finished_at = created_at, leased_by = null, leased_until = null
      where unique_key = $1`,
    [`webhook:${eventId}`, status],
  );
  return eventId;
}

async function openJobs(eventId: string): Promise<number> {
  const jobs = await app.rows(
    `select 1 from jobs where unique_key = $1 and status in ('queued', 'running')`,
    [`webhook:${eventId}`],
  );
  return jobs.length;
}

test('an event whose job was ended without it gets another one, once', async () => {
  const eventId = await deliverWithJob('done');
  await queueForgottenEvents(app.context, app.clock.now());
  await queueForgottenEvents(app.context, app.clock.now());
  assert.equal(await openJobs(eventId), 1);
});

test('an event whose job is dead is left to an operator', async () => {
  const eventId = await deliverWithJob('dead');
  await queueForgottenEvents(app.context, app.clock.now());
  assert.equal(await openJobs(eventId), 0);
});
