/** The queues while the database is away: they say so, and go on when it is back. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { startTestApp } from '../../support/app.ts';
import { startDatabaseProxy } from '../../support/database-proxy.ts';
import { createTestDatabase } from '../../support/db.ts';
import { eventually } from '../../support/eventually.ts';
import { onlyOnServer } from '../../support/open-database.ts';
import {
  eventStatus,
  held,
  jobState,
  queueJob,
  recorder,
  startEventQueue,
  startLoop,
  watched,
} from './loops.ts';
import { afterFile } from '../../support/suite.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });

beforeEach(() => app.rows('delete from jobs'));

for (const statement of ['jobs-release-lapsed', 'jobs-claim']) {
  test(`a look that fails at ${statement} makes the loop unhealthy until one succeeds`, async (t) => {
    const work = recorder();
    const process = watched(app);
    const loop = await startLoop(t, process, { jobs: { work }, pollMs: 5_000 });
    assert.equal(loop.healthy, true);
    process.fail(statement);
    await process.pass(5_000);
    assert.equal(loop.healthy, false);
    const id = await queueJob(app, 'work');
    await process.pass(5_000);
    assert.equal(loop.healthy, false);
    process.fail();
    await process.pass(5_000);
    assert.equal(loop.healthy, true);
    await eventually(async () => (await jobState(app, id))?.status === 'done', 'the job');
    assert.equal(work.runs.length, 1);
    assert.ok(app.logLines.some((line) => line.includes('the job queue could not be read')));
  });
}

test('a queue of events that cannot be read is unhealthy until one reading succeeds', async (t) => {
  const process = watched(app);
  const queue = await startEventQueue(t, process);
  assert.equal(queue.healthy, true);
  process.fail('webhook-queue-take');
  await process.pass(5_000);
  assert.equal(queue.healthy, false);
  const { body } = await app.call('/webhooks/provider', { body: { event: 'CONTA_CRIADA' } });
  await process.rest();
  assert.equal(await eventStatus(app, body.event_id), 'received');
  process.fail();
  await process.pass(5_000);
  assert.equal(queue.healthy, true);
  const isSettled = async () => (await eventStatus(app, body.event_id)) === 'ignored';
  await eventually(isSettled, 'the event');
  assert.ok(app.logLines.some((line) => line.includes('the queue of events could not be read')));
  await queue.stop();
  assert.equal(queue.healthy, false);
});

test('a loop that cannot make its periodic jobs does not start', async (t) => {
  const process = watched(app);
  process.fail('jobs-ensure-periodic');
  const sweep = { ...recorder(), everyMs: 60_000 };
  await assert.rejects(startLoop(t, process, { jobs: { sweep } }), /jobs-ensure-periodic/);
});

test('leases that could not be renewed once are renewed at the next beat', async (t) => {
  const work = held(t);
  const process = watched(app);
  const id = await queueJob(app, 'work');
  await startLoop(t, process, { jobs: { work }, leaseMs: 30_000 });
  await process.rest();
  process.fail('jobs-renew');
  await process.pass(11_000);
  process.fail();
  const before = (await jobState(app, id))?.leased_until;
  await process.pass(10_000);
  assert.ok(((await jobState(app, id))?.leased_until ?? 0) > (before ?? 0));
  assert.ok(app.logLines.some((line) => line.includes('could not be renewed')));
  work.release();
});

test(
  'while the server is away the service is not ready; afterwards what was queued is done',
  onlyOnServer,
  async () => {
    const database = await createTestDatabase();
    const proxy = await startDatabaseProxy(database.databaseUrl ?? '');
    const behind = await startTestApp({ database: { ...database, databaseUrl: proxy.url } });
    afterFile(async () => {
      await proxy.cut();
      await database.drop();
    });
    const ready = async () => {
      const response = await fetch(`${behind.url}/health/ready`);
      await response.body?.cancel();
      return response.status;
    };
    const posted = await behind.call('/webhooks/provider', { body: { event: 'CONTA_CRIADA' } });
    const isSettled = async (eventId: string) => (await eventStatus(behind, eventId)) === 'ignored';
    await eventually(() => isSettled(posted.body.event_id), 'the event');
    await proxy.cut();
    await eventually(async () => {
      await behind.clock.advance(1_000);
      return (await ready()) === 503;
    }, 'the trouble');
    await proxy.mend();
    await eventually(async () => {
      await behind.clock.advance(1_000);
      return (await ready()) === 200;
    }, 'the recovery');
    const later = await behind.call('/webhooks/provider', {
      body: { event: 'CONTA_CRIADA', n: 2 },
    });
    await eventually(() => isSettled(later.body.event_id), 'the next event, without a poll');
  },
);
