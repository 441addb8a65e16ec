/** Several processes settle the events of one queue; some of them are slow, or die. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test, type TestContext } from 'node:test';
import type { Context } from '../../../src/context/context.ts';
import { EventQueue } from '../../../src/settlement/event-queue.ts';
import { replayEvent } from '../../../src/settlement/replay.ts';
import { receiveEvent } from '../../../src/settlement/receive-provider-webhook.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { serverUrl } from '../../support/db.ts';
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
import { confirmed, startSettlingApp } from './settling.ts';
import { reserveSend } from './transactions.ts';

const app = await startSettlingApp();
const { clock, context, database, stored } = app;

/** A service of its own on the same database; the embedded one has a single service. */
const other: TestApp = serverUrl
  ? await startTestApp({ environment: { JOBS: 'off' }, database, clock })
  : app;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

interface Event {
  readonly status: string;
  readonly results: readonly { readonly result: string; readonly transactionId: string }[];
}

beforeEach(async () => {
  await app.rows('delete from webhook_queue');
  await app.rows('delete from webhook_events');
});

const newEndToEnd = () => `E99999999202605241200${randomUUID().slice(0, 11)}`;
const readQueued = (eventId: string) => queuedEvent(app, eventId);
const readStatus = (eventId: string) => eventStatus(app, eventId);
const countWaits = async (): Promise<number> =>
  (await app.rows('select from webhook_waits')).length;

const hasLeft = (eventId: string) =>
  eventually(async () => (await readQueued(eventId)) === undefined, 'the end of the event');

const givenSend = async (endToEnd: string): Promise<string> => {
  const send = await reserveSend(app, randomUUID());
  await send.pay(endToEnd);
  return send.id;
};

async function assertSettledOnce(id: string): Promise<void> {
  assert.equal((await stored(id)).status, 'COMPLETED');
  const ends = (await app.timeline(id)).filter((line) => line.startsWith('SETTLED'));
  assert.deepEqual(ends, ['SETTLED COMPLETED event']);
}

/** A process whose first execution of a statement is frozen until the test thaws it. */
function frozenAt(t: TestContext, statementName: string) {
  const process = watched(app);
  const gate = Promise.withResolvers<undefined>();
  const reached = Promise.withResolvers<undefined>();
  t.after(() => gate.resolve(undefined));
  let executions = 0;
  const frozen = before(process.context, statementName, () => {
    executions += 1;
    if (executions > 1) return undefined;
    reached.resolve(undefined);
    return gate.promise;
  });
  const thaw = (): void => gate.resolve(undefined);
  return { ...process, context: frozen, reached: reached.promise, thaw };
}

test('two processes that attempt an event at the same time settle it once', async (t) => {
  const endToEnd = newEndToEnd();
  const id = await givenSend(endToEnd);
  const first = frozenAt(t, 'webhook-finish');
  await startEventQueue(t, first);
  const eventId = await app.deliver(confirmed({ endToEnd, amount: 10.5 }));
  await first.reached;
  const second = watched(other);
  const reached = Promise.withResolvers<undefined>();
  const gate = Promise.withResolvers<undefined>();
  const held = before(second.context, 'webhook-finish', () => {
    reached.resolve(undefined);
    return gate.promise;
  });
  await startEventQueue(t, { ...second, context: held });
  await wakeEvent(app, eventId);
  await reached.promise;
  first.thaw();
  gate.resolve(undefined);
  await hasLeft(eventId);
  await first.rest();
  await second.rest();
  await assertSettledOnce(id);
  assert.equal(await readStatus(eventId), 'processed');
  assert.equal(await readQueued(eventId), undefined);
});

test('an event that is due for two queues at once is taken by one of them', async (t) => {
  const eventIds: string[] = [];
  for (let nth = 0; nth < 10; nth += 1) {
    eventIds.push(await app.deliver({ event: 'CONTA_CRIADA', nth }));
  }
  const processes = [watched(app), watched(other)];
  await Promise.all(processes.map((process) => startEventQueue(t, process)));
  for (const eventId of eventIds) await hasLeft(eventId);
  for (const process of processes) await process.rest();
  const found = processes.map((process) => process.executions('webhook-find'));
  assert.equal((found[0] ?? 0) + (found[1] ?? 0), eventIds.length);
});

test('what a frozen process has found does not undo the result of the one that took over', async (t) => {
  const endToEnd = newEndToEnd();
  const frozen = frozenAt(t, 'webhook-park');
  await startEventQueue(t, frozen);
  const eventId = await app.deliver(confirmed({ endToEnd, amount: 10.5 }));
  // It has found no send, and is about to park the event.
  await frozen.reached;
  const id = await givenSend(endToEnd);
  const next = watched(other);
  await startEventQueue(t, next);
  await next.pass(9_000);
  assert.equal(await readStatus(eventId), 'received');
  await next.pass(1_000);
  await hasLeft(eventId);
  frozen.thaw();
  await frozen.rest();
  const [event] = await app.rows<Event>('select status, results from webhook_events');
  const applied = { index: 0, result: 'applied', transactionId: id };
  assert.deepEqual(event, { status: 'processed', results: [applied] });
  assert.deepEqual([await readQueued(eventId), await countWaits()], [undefined, 0]);
  await assertSettledOnce(id);
});

test('a frozen process that settles an event late leaves it to the one that took over', async (t) => {
  const frozen = frozenAt(t, 'webhook-finish');
  await startEventQueue(t, frozen);
  const eventId = await app.deliver({ event: 'CONTA_CRIADA', nth: 'late' });
  await frozen.reached;
  const next = frozenAt(t, 'webhook-finish');
  await startEventQueue(t, next);
  await next.pass(10_000);
  await next.reached;
  const row = await readQueued(eventId);
  frozen.thaw();
  await eventually(async () => (await readStatus(eventId)) === 'ignored', 'the late result');
  assert.deepEqual(await readQueued(eventId), row, 'the other attempt may have found more');
  next.thaw();
  await hasLeft(eventId);
  assert.equal(await readStatus(eventId), 'ignored');
});

test('an attempt that gives an event up leaves it to a replay that came meanwhile', async (t) => {
  const eventId = await app.deliver(confirmed({ endToEnd: newEndToEnd() }));
  await app.settle(eventId);
  await clock.advance(25 * hourMs);
  const late = frozenAt(t, 'webhook-finish');
  await startEventQueue(t, late);
  await late.reached;
  const replay = await replayEvent(other.context, eventId);
  assert.equal(replay.kind === 'replayed' && replay.status, 'parked');
  late.thaw();
  const isWaiting = async () => (await readStatus(eventId)) === 'parked';
  await late.pass(10_000);
  await eventually(isWaiting, 'the attempt after the replay');
  const queued = (await readQueued(eventId)) ?? assert.fail('the event is not in the queue');
  assert.ok(queued.waiting_since.getTime() > clock.now().getTime() - hourMs);
  await app.rows('delete from webhook_queue');
});

test('a frozen process that fails late does not put off what another has put off', async (t) => {
  const frozen = frozenAt(t, 'webhook-queue-postpone');
  frozen.fail('webhook-park');
  await startEventQueue(t, frozen);
  const eventId = await app.deliver(confirmed({ endToEnd: newEndToEnd() }));
  await frozen.reached;
  const next = watched(other);
  await startEventQueue(t, next);
  await next.pass(10_000);
  await eventually(async () => (await readStatus(eventId)) === 'parked', 'the takeover');
  const row = await readQueued(eventId);
  frozen.thaw();
  await frozen.rest();
  assert.equal(frozen.executions('webhook-queue-postpone'), 1);
  assert.deepEqual(await readQueued(eventId), row);
});

/** A process that dies at the first event that it attempts. */
async function diesAt(t: TestContext): Promise<void> {
  const process = frozenAt(t, 'webhook-find');
  const queue = new EventQueue({ context: process.context });
  await queue.start();
  await process.reached;
  // It reads the queue no more, and its attempt never ends.
  void queue.stop();
}

test('an event that kills its processes is tried once an hour', async (t) => {
  const eventId = await app.deliver({ event: 'CONTA_CRIADA', nth: 'deadly' });
  const dueAgain = async (): Promise<number> => {
    const { due_at: dueAt } = (await readQueued(eventId)) ?? assert.fail();
    return dueAt.getTime() - clock.now().getTime();
  };
  for (let death = 1; death <= 8; death += 1) {
    await diesAt(t);
    assert.equal(await dueAgain(), 10_000, `after death ${death}`);
    await clock.advance(10_000);
  }
  for (let death = 9; death <= 11; death += 1) {
    await diesAt(t);
    assert.equal(await dueAgain(), hourMs, `after death ${death}`);
    await clock.advance(hourMs);
  }
  assert.equal((await readQueued(eventId))?.attempts, 11);
  await startEventQueue(t, watched(app));
  await hasLeft(eventId);
  assert.equal(await readStatus(eventId), 'ignored');
});

test('an attempt that fails has ended: after many failures a dead process delays nothing', async (t) => {
  const eventId = await app.deliver({ event: 'CONTA_CRIADA', nth: 'failing, then deadly' });
  const failing = watched(app);
  failing.fail('webhook-finish');
  const queue = await startEventQueue(t, failing);
  for (let failed = 1; failed <= 10; failed += 1) {
    const readFailures = async () => (await readQueued(eventId))?.failures === failed;
    await eventually(readFailures, `failure ${failed}`);
    await failing.rest();
    const { due_at: dueAt } = (await readQueued(eventId)) ?? assert.fail();
    if (failed < 10) await failing.pass(dueAt.getTime() - clock.now().getTime(), 5 * 60_000);
  }
  await queue.stop();
  await clock.advance(5 * 60_000);
  await diesAt(t);
  const { due_at: dueAt } = (await readQueued(eventId)) ?? assert.fail();
  assert.equal(dueAt.getTime() - clock.now().getTime(), 10_000);
  await app.rows('delete from webhook_queue');
});

test('an event that kills its processes is tried at once when it is woken', async (t) => {
  const eventId = await app.deliver({ event: 'CONTA_CRIADA', nth: 'deadly' });
  await app.rows('update webhook_queue set attempts = 8');
  await diesAt(t);
  await startEventQueue(t, watched(other));
  await wakeEvent(app, eventId);
  await hasLeft(eventId);
});

/** Every fifth attempt of a process fails. */
function unsteady(process: Context): Context {
  let attempts = 0;
  return before(process, 'webhook-finish', () => {
    attempts += 1;
    if (attempts % 5 === 0) throw new Error('it fails');
  });
}

test('two processes and many events: each is applied once, and the queue is empty at the end', async (t) => {
  const endToEnds = Array.from({ length: 40 }, newEndToEnd);
  const ids = await Promise.all(endToEnds.slice(0, 30).map(givenSend));
  const processes = [watched(app), watched(other)];
  const intakes: Context[] = [];
  for (const process of processes) {
    const unsteadily = unsteady(process.context);
    const options = { places: 5, room: 5 };
    const queue = await startEventQueue(t, { ...process, context: unsteadily }, options);
    intakes.push(storingFor(unsteadily, queue));
  }
  // Two events of each send, which differ in their bytes, and one of them twice.
  const received = endToEnds.flatMap((endToEnd) =>
    [0, 1, 1].map((nth, place) => {
      const content = confirmed({ endToEnd, amount: 10.5, nth });
      const posted = { payload: Buffer.from(JSON.stringify(content)), content };
      return receiveEvent(intakes[place % 2] ?? context, posted);
    }),
  );
  const stores = await Promise.all(received);
  assert.equal(stores.filter(({ duplicate }) => duplicate).length, endToEnds.length);
  // The last sends come after their events.
  ids.push(...(await Promise.all(endToEnds.slice(30).map(givenSend))));
  const isEmpty = async () => (await app.rows('select from webhook_queue')).length === 0;
  await eventually(async () => {
    await processes[0]?.pass(1_000);
    return isEmpty();
  }, 'the end of the queue');
  for (const process of processes) await process.rest();
  assert.ok(await isEmpty());
  for (const id of ids) await assertSettledOnce(id);
  const events = await app.rows<Event>('select status, results from webhook_events');
  assert.equal(events.length, 2 * endToEnds.length);
  const outcomes = events.flatMap(({ results }) => results);
  const count = (sought: string) => outcomes.filter(({ result }) => result === sought).length;
  assert.deepEqual([count('applied'), count('already')], [endToEnds.length, endToEnds.length]);
  assert.equal(await countWaits(), 0);
});
