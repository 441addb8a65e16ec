/** Events that are settled where they are stored, and what becomes of those that cannot be. */
import assert from 'node:assert/strict';
import { beforeEach, test, type TestContext } from 'node:test';
import type { Context } from '../../../src/context/context.ts';
import type { EventQueueOptions } from '../../../src/settlement/event-queue.ts';
import {
  receiveEvent,
  type PostedEvent,
} from '../../../src/settlement/receive-provider-webhook.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import {
  before,
  eventStatus,
  queuedEvent,
  startEventQueue,
  storingFor,
  wakeEvent,
  watched,
} from './loops.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });
const { clock } = app;

beforeEach(async () => {
  await app.rows('delete from webhook_queue');
  await app.rows('delete from webhook_events');
});

/** A process that settles what it stores. */
async function startProcess(t: TestContext, options: Pick<EventQueueOptions, 'places'> = {}) {
  const process = watched(app);
  const queue = await startEventQueue(t, process, options);
  await process.rest();
  const reads = (): number => process.executions('webhook-queue-take');
  return { ...process, queue, reads, context: storingFor(process.context, queue) };
}

/** A process that stores events to settle them, and dies. */
const theDead = storingFor(app.context, {
  reserve: () => ({
    dueAt: new Date(clock.now().getTime() + 10_000),
    begin: () => undefined,
    release: () => undefined,
  }),
});

let postedCount = 0;

/** An event that means nothing to anybody: it ends as ignored. */
function posted(): PostedEvent {
  postedCount += 1;
  const content = { event: 'CONTA_CRIADA', nth: postedCount };
  return { payload: Buffer.from(JSON.stringify(content)), content };
}

const readQueued = (eventId: string) => queuedEvent(app, eventId);
const readStatus = (eventId: string) => eventStatus(app, eventId);

/** An event leaves the queue in the commit that settles it. */
const isDone = async (...eventIds: readonly string[]): Promise<void> => {
  for (const id of eventIds) {
    await eventually(async () => (await readQueued(id)) === undefined, 'the end of the event');
    assert.equal(await readStatus(id), 'ignored');
  }
};

/** Receives events that are stored in one commit. */
async function receiveTogether(
  context: Context,
  events: readonly PostedEvent[],
): Promise<readonly string[]> {
  const received = await Promise.all(events.map((event) => receiveEvent(context, event)));
  return received.map(({ id }) => id);
}

const threeEvents = (): PostedEvent[] => [posted(), posted(), posted()];

test('an event begins where it is stored: the queue is not read, and the event not looked up', async (t) => {
  const process = await startProcess(t);
  const dueDuring: (number | undefined)[] = [];
  const context = before(process.context, 'webhook-finish', async ({ id }) => {
    dueDuring.push((await readQueued(String(id)))?.due_at.getTime());
  });
  const reads = process.reads();
  const { id } = await receiveEvent(context, posted());
  await isDone(id);
  await process.rest();
  const others = ['webhook-find', 'webhook-queue-postpone', 'webhook-queue-remove'];
  assert.deepEqual(others.map(process.executions), [0, 0, 0]);
  assert.equal(process.reads(), reads);
  assert.deepEqual(dueDuring, [clock.now().getTime() + 10_000], 'others leave it alone meanwhile');
});

test('the same bytes again begin nothing, and take no room', async (t) => {
  const process = await startProcess(t, { places: 1 });
  const event = posted();
  const first = await receiveEvent(process.context, event);
  await isDone(first.id);
  for (let turn = 0; turn < 3; turn += 1) {
    assert.deepEqual(await receiveEvent(process.context, event), { ...first, duplicate: true });
  }
  const reads = process.reads();
  const next = await receiveEvent(process.context, posted());
  await isDone(next.id);
  assert.equal(process.reads(), reads, 'there was room for the next one');
});

test('what finds no room waits in the queue, and is settled all the same', async (t) => {
  const process = await startProcess(t, { places: 1 });
  const reads = process.reads();
  const ids = await receiveTogether(process.context, Array.from({ length: 20 }, posted));
  await isDone(...ids);
  assert.ok(process.reads() > reads, 'the queue was read');
});

test('a store that fails takes no room', async (t) => {
  const process = await startProcess(t, { places: 1 });
  process.fail('webhook-store');
  for (let turn = 0; turn < 3; turn += 1) {
    await assert.rejects(receiveEvent(process.context, posted()));
  }
  process.fail();
  const reads = process.reads();
  const { id } = await receiveEvent(process.context, posted());
  await isDone(id);
  assert.equal(process.reads(), reads);
});

test('a process without a queue stores events for others, which begin at once', async (t) => {
  const other = await startProcess(t);
  const { id } = await receiveEvent(app.context, posted());
  await isDone(id);
  assert.equal(other.executions('webhook-find'), 1);
});

test('events whose process dies before they are settled are taken up after ten seconds', async (t) => {
  const ids = await receiveTogether(theDead, threeEvents());
  const other = await startProcess(t);
  await other.pass(9_000);
  for (const id of ids) assert.equal(await readStatus(id), 'received');
  await other.pass(1_000);
  await isDone(...ids);
});

test('a first attempt that fails is put off, and the next one looks the event up', async (t) => {
  const process = await startProcess(t);
  process.fail('webhook-finish');
  const { id } = await receiveEvent(process.context, posted());
  await eventually(async () => (await readQueued(id))?.last_error, 'the failed attempt');
  const { due_at: dueAt, last_error: error } = (await readQueued(id)) ?? assert.fail();
  const pauseMs = dueAt.getTime() - clock.now().getTime();
  assert.ok(pauseMs >= 500 && pauseMs <= 1_000, `a pause of ${pauseMs} ms`);
  assert.equal(error, 'Error');
  process.fail();
  await process.pass(1_000);
  await isDone(id);
  assert.equal(process.executions('webhook-find'), 1);
});

test('of events that are stored together, only the one that fails is put off', async (t) => {
  const process = await startProcess(t);
  let failing = '';
  const context = before(process.context, 'webhook-finish', ({ id }) => {
    if (failing !== '') return;
    failing = String(id);
    throw new Error('it fails');
  });
  const ids = await receiveTogether(context, threeEvents());
  await eventually(async () => failing && (await readQueued(failing))?.last_error, 'the failure');
  await isDone(...ids.filter((id) => id !== failing));
  assert.equal(await readStatus(failing), 'received');
  await process.pass(1_000);
  await isDone(failing);
  assert.equal(process.executions('webhook-find'), 1, 'the others are not settled again');
});

test('an event that is woken while it runs stays in the queue, and is attempted again', async (t) => {
  const process = await startProcess(t);
  let isWoken = false;
  const context = before(process.context, 'webhook-finish', async ({ id }) => {
    if (isWoken) return;
    isWoken = true;
    await wakeEvent(app, String(id));
  });
  const { id } = await receiveEvent(context, posted());
  await isDone(id);
  await process.rest();
  const executions = ['webhook-finish', 'webhook-find'].map(process.executions);
  assert.deepEqual(executions, [2, 1]);
});

test('an event that waits stays in the queue; those that are stored with it leave it', async (t) => {
  const process = await startProcess(t);
  const content = { event: 'PIX_PAYMENT', endToEnd: 'E-none', status: 'CONFIRMED', amount: 1 };
  const parked = { payload: Buffer.from(JSON.stringify(content)), content };
  const [id = '', ...others] = await receiveTogether(process.context, [parked, posted(), posted()]);
  await isDone(...others);
  await process.rest();
  assert.equal(await readStatus(id), 'parked');
  const now = clock.now();
  assert.deepEqual(await readQueued(id), {
    event_id: id,
    due_at: new Date(now.getTime() + 1_000),
    waiting_since: now,
    attempts: 0,
    waits: 0,
    failures: 0,
    last_error: null,
    seen: '',
  });
});

test('a queue that stops waits for what has begun, and takes no more', async (t) => {
  const process = await startProcess(t);
  const gate = Promise.withResolvers<undefined>();
  t.after(() => gate.resolve(undefined));
  const context = before(process.context, 'webhook-finish', () => gate.promise);
  const begun = await receiveEvent(context, posted());
  let isStopped = false;
  const stopped = process.queue.stop().then(() => {
    isStopped = true;
  });
  assert.equal(process.queue.reserve(), null);
  const late = await receiveEvent(context, posted());
  await process.pass(60_000, 10_000);
  assert.equal(isStopped, false);
  assert.equal(await readStatus(late.id), 'received');
  gate.resolve(undefined);
  await stopped;
  await isDone(begun.id);
  assert.equal(await readStatus(late.id), 'received');
  assert.ok(((await readQueued(late.id))?.due_at ?? Infinity) <= clock.now(), 'others take it up');
});

test('an event whose place was given before the stop is settled all the same', async (t) => {
  const process = await startProcess(t);
  let stopped: Promise<void> | undefined;
  const context = before(process.context, 'webhook-store', () => {
    stopped = process.queue.stop();
  });
  const { id } = await receiveEvent(context, posted());
  await stopped;
  await isDone(id);
});
