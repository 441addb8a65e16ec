/**
 * Parked events and the transactions that they wait for: whichever comes first, and however close
 * together they come, the event is applied within a second, or a sixtieth of its wait.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test, type TestContext } from 'node:test';
import { newTransactionIdentification } from '../../../src/domain/pix.ts';
import { settleEvent } from '../../../src/settlement/settle-event.ts';
import { eventually } from '../../support/eventually.ts';
import { intercepted } from '../../support/intercepted.ts';
import { onlyOnServer } from '../../support/open-database.ts';
import { before, startEventQueue, watched } from './loops.ts';
import { confirmed, results, startSettlingApp } from './settling.ts';
import { reserveCharge, reserveSend, type Reserved } from './transactions.ts';

const app = await startSettlingApp();
const { clock, customer, deliver, stored } = app;

beforeEach(async () => {
  await app.rows('delete from webhook_queue');
  await app.rows('delete from webhook_events');
});

const newEndToEnd = () => `E99999999202605241200${randomUUID().slice(0, 11)}`;

const waits = () => app.rows<{ id_value: string }>('select id_value from webhook_waits');

interface Queued {
  readonly due_at: Date;
  readonly attempts: number;
  readonly last_error: string | null;
}

async function readQueued(eventId: string): Promise<Queued> {
  const [queued] = await app.rows<Queued>('select * from webhook_queue where event_id = $1', [
    eventId,
  ]);
  assert.ok(queued, 'the event is in the queue');
  return queued;
}

/** An event leaves the queue when it is settled: a second passes at most. */
async function hasEnded(eventId: string): Promise<void> {
  await clock.advance(1_000);
  await eventually(async () => (await app.readDue(eventId)) === undefined, 'the end of the event');
}

/** The server that settles the events. */
const server = watched(app);

/** Starts a queue, and waits until it has parked an event. */
async function park(t: TestContext, payload: unknown): Promise<string> {
  await startEventQueue(t, server);
  const eventId = await deliver(payload);
  await parked(eventId);
  return eventId;
}

/** Waits until an event is parked, whose next attempt comes in an hour, unless it is woken. */
async function parked(eventId: string): Promise<void> {
  await eventually(async () => {
    const [event] = await app.rows('select 1 from webhook_events where id = $1 and status = $2', [
      eventId,
      'parked',
    ]);
    return event && (await readQueued(eventId)).due_at > clock.now();
  }, 'the event to be parked');
  await server.rest();
  const dueAt = new Date(clock.now().getTime() + 3_600_000);
  await app.rows('update webhook_queue set due_at = $2 where event_id = $1', [eventId, dueAt]);
}

async function isApplied(eventId: string, { id }: Pick<Reserved, 'id'>): Promise<void> {
  await hasEnded(eventId);
  assert.equal((await stored(id)).status, 'COMPLETED');
  assert.deepEqual(await waits(), []);
}

test('a send is settled as soon as it has the end-to-end id that an event waits for', async (t) => {
  const endToEnd = newEndToEnd();
  const eventId = await park(t, confirmed({ endToEnd, amount: 10.5 }));
  const send = await reserveSend(app, randomUUID());
  await send.pay(endToEnd);
  await isApplied(eventId, send);
});

test("a send is settled as soon as it has the provider's id that an event waits for", async (t) => {
  const send = await reserveSend(app, randomUUID());
  await send.pay(newEndToEnd());
  const eventId = await park(t, confirmed({ id: 'the-id-of-the-provider', amount: 10.5 }));
  await send.accept('the-id-of-the-provider');
  await isApplied(eventId, send);
});

test('an event that knows only the idempotency key waits until the send is about to leave', async (t) => {
  const clientRequestId = randomUUID();
  const eventId = await park(t, confirmed({ clientRequestId, amount: 10.5 }));
  const send = await reserveSend(app, clientRequestId);
  await clock.advance(1_000);
  await eventually(async () => {
    const [event] = await app.rows<{ results: { reason: string }[] }>(
      'select results from webhook_events where id = $1',
      [eventId],
    );
    return event?.results[0]?.reason === 'not_paying_yet';
  }, 'the look after the reservation');
  await parked(eventId);
  await send.pay(newEndToEnd());
  await isApplied(eventId, send);
});

test('an event about a send that is abandoned before it is sent becomes an anomaly at once', async (t) => {
  const clientRequestId = randomUUID();
  const send = await reserveSend(app, clientRequestId);
  const eventId = await park(t, confirmed({ clientRequestId, amount: 10.5 }));
  await send.giveUp();
  await hasEnded(eventId);
  assert.deepEqual((await app.timeline(send.id)).at(-1), 'ANOMALY contradicts_final_status event');
  assert.deepEqual(await waits(), []);
});

for (const [what, asReported] of [
  ['its identification', (txid: string) => txid],
  ['the 25 characters of it that a static code holds', (txid: string) => txid.slice(0, 25)],
] as const) {
  test(`a charge is settled as soon as it has ${what} that an event waits for`, async (t) => {
    const txid = newTransactionIdentification();
    const pix = {
      txid: asReported(txid),
      endToEndId: newEndToEnd(),
      valor: '10.50',
      horario: 'now',
    };
    const eventId = await park(t, { pix: [pix] });
    await isApplied(eventId, await reserveCharge(app, txid));
  });
}

test("a charge is settled as soon as it has the provider's id that an event waits for", async (t) => {
  const charge = await reserveCharge(app);
  const eventId = await park(t, { event: 'CHARGE_COMPLETED', id: 'charge-id', amount: 10.5 });
  await charge.accept('charge-id');
  await isApplied(eventId, charge);
});

test('an event about a PIX that is recorded from another event is settled with it', async (t) => {
  const endToEnd = newEndToEnd();
  const eventId = await park(t, { event: 'PIX_RECEIVED', endToEnd });
  const recording = { event: 'PIX_RECEIVED', endToEnd, amount: 10.5, key: customer.email };
  await hasEnded(await deliver(recording));
  await hasEnded(eventId);
  assert.deepEqual(results(await app.settle(eventId)), ['already']);
  assert.deepEqual(await waits(), []);
});

test('every event that waits for an id is woken, and none that waits for another one', async (t) => {
  const endToEnd = newEndToEnd();
  const first = await park(t, confirmed({ endToEnd, amount: 10.5 }));
  const second = await deliver([
    { event: 'CONTA_CRIADA' },
    confirmed({ endToEnd, amount: 10.5, status: 'PAID' }),
  ]);
  const other = await deliver(confirmed({ endToEnd: newEndToEnd(), amount: 10.5 }));
  for (const eventId of [second, other]) await parked(eventId);
  const untouched = await readQueued(other);
  const send = await reserveSend(app, randomUUID());
  await send.pay(endToEnd);
  for (const eventId of [first, second]) await hasEnded(eventId);
  assert.equal((await stored(send.id)).status, 'COMPLETED');
  assert.deepEqual(await readQueued(other), untouched);
});

test('sends that are stored together wake the events of each of them', async (t) => {
  const ids = [newEndToEnd(), newEndToEnd(), newEndToEnd()];
  const events = await Promise.all(
    ids.map((endToEnd) => deliver(confirmed({ endToEnd, amount: 10.5 }))),
  );
  await startEventQueue(t, server);
  for (const eventId of events) await parked(eventId);
  const sends = await Promise.all(ids.map(() => reserveSend(app, randomUUID())));
  await Promise.all(sends.map((send, place) => send.pay(ids[place] ?? '')));
  for (const [place, eventId] of events.entries()) {
    const send = sends[place] ?? assert.fail('a send is missing');
    await hasEnded(eventId);
    assert.equal((await stored(send.id)).status, 'COMPLETED');
  }
  assert.deepEqual(await waits(), []);
});

test('an event of which an item waits on is woken for that item as well', async (t) => {
  const [one, other] = [newEndToEnd(), newEndToEnd()];
  const asReported = [one, other].map((endToEnd) => confirmed({ endToEnd, amount: 10.5 }));
  const eventId = await park(t, asReported);
  const [first, second] = [await reserveSend(app, randomUUID()), await reserveSend(app, 'second')];
  await first.pay(one);
  await clock.advance(1_000);
  await eventually(async () => (await stored(first.id)).status === 'COMPLETED', 'the first send');
  await parked(eventId);
  assert.deepEqual(await waits(), [{ id_value: other }]);
  await second.pay(other);
  await isApplied(eventId, second);
});

test('the waits of an event are gone when it is an orphan', async () => {
  const eventId = await deliver(confirmed({ endToEnd: newEndToEnd() }));
  await app.settle(eventId);
  assert.equal((await waits()).length, 1);
  await clock.advance(24 * 60 * 60_000);
  assert.equal((await app.settle(eventId)).status, 'orphaned');
  assert.deepEqual(await waits(), []);
});

test('a look that is stored late does not put back what a later look has found', async () => {
  const endToEnd = newEndToEnd();
  const eventId = await deliver(confirmed({ endToEnd, amount: 10.5 }));
  const { db } = app.context;
  let storeLate: () => Promise<unknown[]> = () => assert.fail('the look was not to be stored');
  // The process sees the time-out while its statement is still on its way.
  const query: typeof db.query = async (statement, parameters) => {
    if (statement.name !== 'webhook-park') return db.query(statement, parameters);
    storeLate = () => db.query(statement, parameters);
    throw new Error('Query read timeout');
  };
  const context = { ...app.context, db: { ...db, query } };
  await assert.rejects(settleEvent(context, eventId), /read timeout/);

  const send = await reserveSend(app, randomUUID());
  await send.pay(endToEnd);
  assert.equal((await app.settle(eventId)).status, 'processed');
  assert.deepEqual(await storeLate(), [], 'it stores nothing');
  const [event] = await app.rows<{ status: string }>('select status from webhook_events');
  assert.equal(event?.status, 'processed');
  assert.deepEqual(await waits(), []);
});

test('a look that another one has overtaken is taken again', async () => {
  const endToEnd = newEndToEnd();
  const eventId = await deliver(confirmed({ endToEnd, amount: 10.5 }));
  const { db } = app.context;
  let isOvertaken = false;
  const query: typeof db.query = async (statement, parameters) => {
    if (statement.name === 'webhook-park' && !isOvertaken) {
      isOvertaken = true;
      await clock.advance(1);
      assert.equal((await app.settle(eventId)).status, 'parked');
    }
    return db.query(statement, parameters);
  };
  const context = { ...app.context, db: { ...db, query } };
  assert.equal((await settleEvent(context, eventId))?.status, 'parked');
  assert.equal((await waits()).length, 1);
});

test('an event whose every look is overtaken is looked at again a second later, and has not failed', async (t) => {
  const endToEnd = newEndToEnd();
  const { db } = server.context;
  let overtaken = 0;
  const overtaking = intercepted(db, (run) => async (statement, parameters) => {
    if (statement.name === 'webhook-park' && overtaken < 3) {
      overtaken += 1;
      const at = new Date(clock.now().getTime() + overtaken);
      await app.rows('update webhook_events set processed_at = $2 where id = $1', [
        parameters['id'],
        at,
      ]);
    }
    return run(statement, parameters);
  });
  const context = { ...server.context, db: overtaking };
  await startEventQueue(t, { ...server, context });
  const eventId = await deliver(confirmed({ endToEnd, amount: 10.5 }));
  const again = clock.now().getTime() + 1_000;
  await eventually(async () => (await readQueued(eventId)).due_at.getTime() === again, 'the end');
  assert.equal(overtaken, 3);
  assert.equal((await readQueued(eventId)).last_error, null);
  await server.pass(1_000);
  await parked(eventId);
});

test('a look that fails holds up no event that is due', async (t) => {
  await park(t, confirmed({ endToEnd: newEndToEnd() }));
  server.fail('webhook-queue-waiting');
  const due = await deliver({ event: 'CONTA_CRIADA' });
  await hasEnded(due);
  server.fail();
});

test(
  'a waiting event whose row another session has locked holds up no other one',
  onlyOnServer,
  async (t) => {
    const [first, second] = [newEndToEnd(), newEndToEnd()];
    const locked = await park(t, confirmed({ endToEnd: first, amount: 10.5 }));
    const free = await deliver(confirmed({ endToEnd: second, amount: 10.5 }));
    await parked(free);
    const holder = await app.context.db.em();
    await holder.begin();
    await holder.execute('select from webhook_queue where event_id = ? for update', [locked]);
    for (const endToEnd of [first, second]) {
      const send = await reserveSend(app, randomUUID());
      await send.pay(endToEnd);
    }
    await hasEnded(free);
    await holder.rollback();
    await hasEnded(locked);
  },
);

for (const [what, shifts] of [
  ['was frozen during a look', [0, 10 * 60_000]],
  ['has its clock set back by an hour', [60 * 60_000, 0]],
] as const) {
  test(`a process that ${what} looks again within seconds`, async (t) => {
    const endToEnd = newEndToEnd();
    let [shiftMs] = shifts;
    const looking = before(server.context, 'webhook-queue-waiting', () => {
      [, shiftMs] = shifts;
    });
    const now = (): Date => new Date(clock.now().getTime() + shiftMs);
    const context = { ...looking, clock: { ...clock, now } };
    await startEventQueue(t, { ...server, context });
    const eventId = await deliver(confirmed({ endToEnd, amount: 10.5 }));
    await parked(eventId);
    const send = await reserveSend(app, randomUUID());
    await send.pay(endToEnd);
    await server.pass(15_000);
    await isApplied(eventId, send);
  });
}

test('the longer an event waits, the rarer are the looks; a new one is looked for at once', async (t) => {
  const old = await park(t, confirmed({ endToEnd: newEndToEnd(), amount: 10.5 }));
  const looks = () => server.executions('webhook-queue-waiting');
  const looksIn = async (ms: number): Promise<number> => {
    const first = looks();
    await server.pass(ms);
    return looks() - first;
  };
  assert.equal(await looksIn(30_000), 30);
  await server.pass(15 * 60_000, 15_000);
  assert.equal(await looksIn(60_000), 4);
  const endToEnd = newEndToEnd();
  const early = await deliver(confirmed({ endToEnd, amount: 10.5 }));
  await parked(early);
  const send = await reserveSend(app, randomUUID());
  await send.pay(endToEnd);
  await hasEnded(early);
  assert.ok(await app.readDue(old));
});

/** When, in the first attempt at an event, the transaction comes that it waits for. */
const moments = [
  ['after the event was looked at, before it is stored that it waits', 'pix-candidates'],
  ['after it was stored that it waits, before the queue looks', 'webhook-park'],
  ['after the queue has looked', 'webhook-queue-waiting'],
] as const;

for (const [when, statementName] of moments) {
  test(`nothing is missed when the transaction comes ${when}`, async (t) => {
    const endToEnd = newEndToEnd();
    const { db } = server.context;
    let send: Reserved | undefined;
    let hasCome = false;
    const query: typeof db.query = async (statement, parameters) => {
      const rows = await db.query(statement, parameters);
      if (statement.name === statementName && !hasCome) {
        hasCome = true;
        const reserved = await reserveSend(app, randomUUID());
        await reserved.pay(endToEnd);
        send = reserved;
      }
      return rows;
    };
    const context = { ...server.context, db: { ...db, query } };
    await startEventQueue(t, { ...server, context });
    const eventId = await deliver(confirmed({ endToEnd, amount: 10.5 }));
    const found = await eventually(async () => {
      await clock.advance(0);
      return send;
    }, 'the transaction');
    await parked(eventId);
    await isApplied(eventId, found);
  });
}
