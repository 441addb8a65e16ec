/** The queue of events: what is due is attempted, what fails is put off, and nothing is lost. */
import assert from 'node:assert/strict';
import { beforeEach, test, type TestContext } from 'node:test';
import { EventQueue } from '../../../src/settlement/event-queue.ts';
import { settleWebhook } from '../../../src/settlement/settle-webhook.ts';
import { eventually } from '../../support/eventually.ts';
import { onlyOnServer } from '../../support/open-database.ts';
import {
  before,
  eventStatus,
  jobState,
  queuedEvent,
  queueJob,
  startEventQueue,
  startLoop,
  storingFor,
  wakeEvent,
  watched,
} from './loops.ts';
import { receiveEvent } from '../../../src/settlement/receive-provider-webhook.ts';
import { confirmed, startSettlingApp } from './settling.ts';

const app = await startSettlingApp();
const { clock, newEndToEnd } = app;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const after = (ms: number): Date => new Date(clock.now().getTime() + ms);

beforeEach(async () => {
  await app.rows('delete from jobs');
  await app.rows('delete from webhook_queue');
  await app.rows('delete from webhook_events');
});

let count = 0;

/** Stores an event that means nothing to anybody: it ends as ignored. */
function deliver(): Promise<string> {
  count += 1;
  return app.deliver({ event: 'CONTA_CRIADA', nth: count });
}

const readQueued = (eventId: string) => queuedEvent(app, eventId);
const readStatus = (eventId: string) => eventStatus(app, eventId);

const isDone = async (eventId: string, status = 'ignored'): Promise<void> => {
  await eventually(async () => (await readQueued(eventId)) === undefined, 'the end of the event');
  assert.equal(await readStatus(eventId), status);
};

const setDue = (eventId: string, dueAt: Date) =>
  app.rows('update webhook_queue set due_at = $2 where event_id = $1', [eventId, dueAt]);

async function startProcess(t: TestContext) {
  const process = watched(app);
  const queue = await startEventQueue(t, process);
  await process.rest();
  return { ...process, queue, reads: () => process.executions('webhook-queue-take') };
}

test('an idle queue is read once in a poll interval', async (t) => {
  const process = await startProcess(t);
  const reads = process.reads();
  await process.pass(minuteMs);
  assert.equal(process.reads() - reads, 12);
});

test('an event is attempted at its time, not earlier and without a notification', async (t) => {
  const eventId = await deliver();
  await setDue(eventId, after(2_345));
  const process = await startProcess(t);
  await process.pass(2_344, 2_344);
  assert.equal(await readStatus(eventId), 'received');
  await process.pass(1, 1);
  await isDone(eventId);
});

test('an event whose notification is lost is attempted within a poll interval', async (t) => {
  const process = await startProcess(t);
  const eventId = await deliver();
  await isDone(eventId);
  await app.rows(
    'insert into webhook_queue (event_id, due_at, waiting_since) values ($1, $2, $2)',
    [eventId, clock.now()],
  );
  await process.pass(5_000, 5_000);
  await isDone(eventId);
});

test('more events than a queue takes at a time are all settled, the earliest first', async (t) => {
  const eventIds = [];
  for (let nth = 0; nth < 7; nth += 1) {
    const eventId = await deliver();
    await setDue(eventId, after(-nth));
    eventIds.unshift(eventId);
  }
  const process = watched(app);
  const begun: string[] = [];
  const context = before(process.context, 'webhook-find', ({ eventId }) => {
    begun.push(String(eventId));
  });
  await startEventQueue(t, { ...process, context }, { room: 2 });
  for (const eventId of eventIds) await isDone(eventId);
  const first = (ids: readonly string[]) => ids.slice(0, 2).toSorted();
  assert.deepEqual(first(begun), first(eventIds));
  assert.deepEqual(begun.toSorted(), eventIds.toSorted(), 'each is attempted once');
});

test('an event that cannot be settled is never given up: the pauses double up to five minutes', async (t) => {
  const process = watched(app);
  // A random number of 1: no part of a pause is left out.
  const options = { random: () => 1, pollMs: hourMs };
  const queue = await startEventQueue(t, process, options);
  process.fail('webhook-finish');
  const content = { event: 'CONTA_CRIADA', nth: 'failing' };
  const payload = Buffer.from(JSON.stringify(content));
  const { id } = await receiveEvent(storingFor(process.context, queue), { payload, content });
  const pauses: number[] = [];
  const failures = (): number => process.executions('webhook-queue-postpone');
  for (let failed = 1; failed <= 12; failed += 1) {
    await eventually(() => failures() === failed, `failure ${failed}`);
    await process.rest();
    const { due_at: dueAt } = (await readQueued(id)) ?? assert.fail();
    const pauseMs = dueAt.getTime() - clock.now().getTime();
    pauses.push(pauseMs / 1_000);
    await process.pass(pauseMs, pauseMs);
  }
  assert.deepEqual(pauses, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
  await process.pass(24 * hourMs, 5 * minuteMs);
  assert.ok(failures() >= 12 + (24 * 60) / 5);
  assert.equal(await readStatus(id), 'received');
  assert.equal((await readQueued(id))?.last_error, 'Error');
  process.fail();
  await process.pass(5 * minuteMs, minuteMs);
  await isDone(id);
});

test('an event that waits after failures starts again with the shortest pause', async (t) => {
  const process = await startProcess(t);
  process.fail('webhook-park');
  const eventId = await app.deliver(confirmed({ endToEnd: newEndToEnd() }));
  await eventually(async () => (await readQueued(eventId))?.last_error, 'the failure');
  process.fail();
  await process.pass(2_000);
  assert.equal(await readStatus(eventId), 'parked');
  const { attempts, failures, last_error: error } = (await readQueued(eventId)) ?? assert.fail();
  assert.deepEqual([attempts, failures, error], [0, 0, null]);
});

test('attempts are counted among the jobs, as done or as failed', async (t) => {
  const counted = async (result: string): Promise<number> => {
    const { values } = await app.context.metrics.jobs.get();
    const isMeant = ({ labels }: (typeof values)[number]): boolean =>
      labels.kind === 'settle-webhook' && labels.result === result;
    return values.find(isMeant)?.value ?? 0;
  };
  const earlier = [await counted('done'), await counted('failed')] as const;
  const process = await startProcess(t);
  process.fail('webhook-finish');
  const eventId = await deliver();
  await eventually(async () => (await readQueued(eventId))?.last_error, 'the failure');
  process.fail();
  await process.pass(2_000);
  await isDone(eventId);
  await process.rest();
  const now = [await counted('done'), await counted('failed')] as const;
  assert.deepEqual([now[0] - earlier[0], now[1] - earlier[1]], [1, 1]);
});

test('the postponement of a failed attempt does not undo a wake', async (t) => {
  const process = watched(app);
  let failures = 0;
  const context = before(process.context, 'webhook-finish', async ({ id }) => {
    failures += 1;
    if (failures > 1) return;
    await wakeEvent(app, String(id));
    throw new Error('it fails');
  });
  await startEventQueue(t, { ...process, context });
  const eventId = await deliver();
  await isDone(eventId);
  await process.rest();
  assert.equal(process.executions('webhook-queue-postpone'), 1);
  assert.equal(failures, 2, 'it was attempted again although no time has passed');
});

test('an event that no attempt could note as failed is due again after ten seconds', async (t) => {
  const process = await startProcess(t);
  process.fail('webhook-finish', 'webhook-queue-postpone');
  const eventId = await deliver();
  await eventually(
    () => app.logLines.some((line) => line.includes('an event was not put off')),
    'the failure',
  );
  process.fail();
  await process.pass(9_000);
  assert.equal(await readStatus(eventId), 'received');
  await process.pass(1_000);
  await isDone(eventId);
});

test('an event whose payload was purged leaves the queue as it is', async (t) => {
  const eventId = await deliver();
  await app.rows(`update webhook_events set payload = null, status = 'parked'`);
  await startProcess(t);
  await isDone(eventId, 'parked');
});

test('an event whose row is lost leaves the queue', async (t) => {
  const eventId = await deliver();
  await app.rows('delete from webhook_events');
  await startProcess(t);
  await eventually(async () => (await readQueued(eventId)) === undefined, 'its end');
});

test(
  'an event whose row another session has locked is skipped, and holds up no other one',
  onlyOnServer,
  async (t) => {
    const [locked, free] = [await deliver(), await deliver()];
    await setDue(locked, after(-minuteMs));
    const holder = await app.context.db.em();
    await holder.begin();
    await holder.execute('select from webhook_queue where event_id = ? for update', [locked]);
    const process = await startProcess(t);
    await isDone(free);
    assert.equal(await readStatus(locked), 'received');
    await holder.rollback();
    await process.pass(5_000, 5_000);
    await isDone(locked);
  },
);

const queueFrom120 = (payload: Record<string, unknown>, changes: Record<string, unknown> = {}) =>
  queueJob(app, 'settle-webhook', { payload: JSON.stringify(payload), ...changes });

/** Runs the jobs of release 1.2.0 without a queue of events. */
async function takeOver(t: TestContext, jobId: string): Promise<string | undefined> {
  const process = watched(app);
  const loop = await startLoop(t, process, { jobs: { 'settle-webhook': settleWebhook } });
  const ended = async () => {
    const { attempts, status } = (await jobState(app, jobId)) ?? assert.fail();
    return status === 'done' || (status === 'queued' && attempts > 0) ? status : undefined;
  };
  const status = await eventually(ended, 'the end of the job');
  await loop.stop();
  return status;
}

test('a queue that is stopped while it starts reads nothing', async () => {
  const process = watched(app);
  const queue: EventQueue = new EventQueue({
    context: before(process.context, 'webhook-queue-adopt', () => queue.stop()),
  });
  await queue.start();
  await process.rest();
  assert.equal(process.executions('webhook-queue-take'), 0);
  assert.equal(queue.healthy, false);
});

test('what release 1.2.0 has parked is in the queue from the start on', async (t) => {
  const { eventId } = await app.receive(confirmed({ endToEnd: newEndToEnd(), amount: 10.5 }));
  await app.rows('delete from webhook_queue');
  const process = await startProcess(t);
  await eventually(async () => (await readQueued(eventId))?.seen === '', 'its attempt');
  await process.rest();
  assert.equal(await readStatus(eventId), 'parked');
});

test('a job of release 1.2.0 puts its event into the queue, where it has waited since its receipt', async (t) => {
  const eventId = await deliver();
  const receivedAt = clock.now();
  await app.rows('delete from webhook_queue');
  await clock.advance(hourMs);
  const jobId = await queueFrom120({ eventId }, { unique_key: `webhook:${eventId}` });
  assert.equal(await takeOver(t, jobId), 'done');
  const { due_at: dueAt, waiting_since: since } = (await readQueued(eventId)) ?? assert.fail();
  assert.deepEqual([dueAt, since], [clock.now(), receivedAt]);
  await startProcess(t);
  await isDone(eventId);
});

test('an event that an operator of release 1.2.0 has settled again waits since then', async (t) => {
  const eventId = await app.deliver(confirmed({ endToEnd: newEndToEnd() }));
  await app.rows('delete from webhook_queue');
  await clock.advance(30 * hourMs);
  const waitingSince = after(-hourMs);
  const jobId = await queueFrom120({ eventId, waitingSince: waitingSince.toISOString() });
  assert.equal(await takeOver(t, jobId), 'done');
  assert.deepEqual((await readQueued(eventId))?.waiting_since, waitingSince);
  assert.equal((await app.settle(eventId)).status, 'parked');
  await clock.advance(23 * hourMs);
  assert.equal((await app.settle(eventId)).status, 'orphaned');
});

test('a job of release 1.2.0 makes an event due that is in the queue already', async (t) => {
  const eventId = await deliver();
  await setDue(eventId, after(hourMs));
  await clock.advance(minuteMs);
  const jobId = await queueFrom120({ eventId, waitingSince: after(-1).toISOString() });
  assert.equal(await takeOver(t, jobId), 'done');
  const queued = (await readQueued(eventId)) ?? assert.fail();
  assert.deepEqual([queued.due_at, queued.waiting_since], [clock.now(), after(-1)]);
});

test('a job of release 1.2.0 does not put an event off that is due', async (t) => {
  const eventId = await deliver();
  const dueAt = clock.now();
  await clock.advance(minuteMs);
  assert.equal(await takeOver(t, await queueFrom120({ eventId })), 'done');
  const queued = (await readQueued(eventId)) ?? assert.fail();
  assert.ok(queued.due_at <= dueAt);
});

test('a job of release 1.2.0 wakes the queue', async (t) => {
  const eventId = await deliver();
  await setDue(eventId, after(hourMs));
  await startProcess(t);
  await takeOver(t, await queueFrom120({ eventId }));
  await isDone(eventId);
});

test('a job of release 1.2.0 whose event is gone or purged ends, one that names none fails', async (t) => {
  const eventId = await deliver();
  await app.rows('update webhook_events set payload = null');
  await app.rows('delete from webhook_queue');
  const lost = '00000000-0000-4000-8000-000000000000';
  for (const id of [eventId, lost]) {
    assert.equal(await takeOver(t, await queueFrom120({ eventId: id })), 'done');
    assert.equal(await readQueued(id), undefined);
  }
  const jobId = await queueFrom120({});
  assert.equal(await takeOver(t, jobId), 'queued');
  assert.equal((await jobState(app, jobId))?.last_error, 'TypeError');
});
