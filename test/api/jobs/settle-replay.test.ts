/** Settling an event again because an operator wants it, and showing first what that would do. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { previewReplay, replayEvent, type Preview } from '../../../src/settlement/replay.ts';
import { confirmed, results, startSettlingApp } from './settling.ts';
import { reserveCharge, reserveSend } from './transactions.ts';
import { newTransactionIdentification } from '../../../src/domain/pix.ts';

const app = await startSettlingApp();
const { clock, context, customer, deliver, stored, receive } = app;

const hourMs = 60 * 60_000;

const { newEndToEnd } = app;

const preview = (eventId: string) => previewReplay(context, eventId);

/** What an item would come to: `applied PROCESSING→COMPLETED`, `parked: no_match`. */
function shown(previewed: Preview): string[] {
  assert.ok(previewed.kind === 'preview');
  return previewed.items.map(({ result, reason, from, to }) =>
    [
      reason === undefined ? result : `${result}: ${reason}`,
      to === undefined ? [] : `${from}→${to}`,
    ]
      .flat()
      .join(' '),
  );
}

async function replay(eventId: string) {
  const replayed = await replayEvent(context, eventId);
  assert.ok(replayed.kind === 'replayed');
  return { ...replayed, eventId, retryAt: replayed.parkedUntil };
}

const countQueued = async (eventId: string): Promise<number> =>
  (await app.rows('select from webhook_queue where event_id = $1', [eventId])).length;

/** Everything that a preview could change by mistake. */
async function everything() {
  const [row] = await app.rows<{ text: string }>(`
    select concat((select json_agg(t order by t.id) from pix_transactions t),
                  (select json_agg(t order by t.id) from pix_timeline t),
                  (select json_agg(t order by t.id) from webhook_events t),
                  (select json_agg(t) from webhook_waits t),
                  (select json_agg(t order by t.event_id) from webhook_queue t),
                  (select json_agg(t order by t.id) from jobs t)) as text`);
  const metrics = await context.metrics.registry.metrics();
  const counted = metrics.split('\n').filter((line) => /^ponte_(?:pix|webhook)_/.test(line));
  return {
    rows: row?.text,
    counted,
    lines: app.logLines.filter((line) => line.includes('event')).length,
  };
}

test('what has become possible since an event was orphaned is shown, and then done', async () => {
  const endToEnd = newEndToEnd();
  const { eventId } = await receive(confirmed({ endToEnd, amount: 10.5 }));
  await clock.advance(24 * hourMs);
  assert.equal((await app.settle(eventId)).status, 'orphaned');
  const send = await reserveSend(app, randomUUID());
  await send.pay(endToEnd);
  const before = await everything();
  assert.deepEqual(await preview(eventId), {
    kind: 'preview',
    status: 'orphaned',
    statusAfter: 'processed',
    items: [
      {
        index: 0,
        result: 'applied',
        transactionId: send.id,
        from: 'PROCESSING',
        to: 'COMPLETED',
      },
    ],
  });
  assert.deepEqual(await everything(), before);
  assert.deepEqual(results(await replay(eventId)), ['applied']);
  assert.equal((await stored(send.id)).status, 'COMPLETED');
});

test('what was applied is found applied: a replay changes and counts nothing', async () => {
  const send = await app.givenSend();
  const { eventId } = await receive(confirmed({ endToEnd: send.end_to_end, amount: 10.5 }));
  const [settled, timeline] = [await stored(send.id), await app.timeline(send.id)];
  assert.deepEqual(shown(await preview(eventId)), ['already COMPLETED→COMPLETED']);
  const replayed = await replay(eventId);
  assert.deepEqual([replayed.status, results(replayed)], ['processed', ['applied']]);
  assert.deepEqual([await stored(send.id), await app.timeline(send.id)], [settled, timeline]);
});

test('an anomaly is recorded once, however often its event is replayed', async () => {
  const send = await app.givenSend();
  const { eventId } = await receive(confirmed({ endToEnd: send.end_to_end, amount: 99 }));
  const [timeline, anomalies] = [await app.timeline(send.id), await app.anomalies()];
  assert.equal(timeline.at(-1), 'ANOMALY amount_mismatch event');
  assert.deepEqual(shown(await preview(eventId)), [
    'anomaly: amount_mismatch PROCESSING→PROCESSING',
  ]);
  for (let time = 0; time < 3; time += 1) {
    assert.deepEqual(results(await replay(eventId)), ['anomaly: amount_mismatch']);
  }
  assert.deepEqual([await app.timeline(send.id), await app.anomalies()], [timeline, anomalies]);
});

test('a preview of many items finds each as a replay does', async () => {
  const key = randomUUID();
  const send = await app.givenSend(key);
  const others = Array.from({ length: 25 }, (_, nth) => ({
    event: 'PIX_RECEIVED',
    endToEnd: newEndToEnd(),
    amount: nth + 1,
    key: customer.email,
  }));
  const eventId = await deliver([...others, confirmed({ clientRequestId: key, amount: 10.5 })]);
  const previewed = shown(await preview(eventId));
  assert.equal(previewed.at(-1), 'applied PROCESSING→COMPLETED');
  assert.deepEqual(results(await replay(eventId)).at(-1), 'applied');
  assert.equal((await stored(send.id)).status, 'COMPLETED');
});

test('an anomaly whose cause is gone is applied by a replay', async () => {
  const send = await app.givenSend();
  const { eventId } = await receive(confirmed({ endToEnd: send.end_to_end, amount: 99 }));
  await app.rows('update pix_transactions set amount = 99 where id = $1', [send.id]);
  assert.deepEqual(shown(await preview(eventId)), ['applied PROCESSING→COMPLETED']);
  assert.deepEqual(results(await replay(eventId)), ['applied']);
});

test('an orphan that still matches nothing is parked for another day, in the queue', async () => {
  const endToEnd = newEndToEnd();
  const { eventId } = await receive(confirmed({ endToEnd, amount: 10.5 }));
  await clock.advance(24 * hourMs);
  await app.settle(eventId);
  assert.equal(await countQueued(eventId), 0);
  assert.deepEqual(shown(await preview(eventId)), ['parked: no_match']);
  const replayed = await replay(eventId);
  assert.deepEqual([replayed.status, results(replayed)], ['parked', ['parked: no_match']]);
  assert.deepEqual(await app.readDue(eventId), replayed.parkedUntil);
  await clock.advance(23 * hourMs);
  assert.equal((await app.settle(eventId)).status, 'parked');
  await clock.advance(hourMs);
  assert.equal((await app.settle(eventId)).status, 'orphaned');
});

test('an orphan is never parked outside the queue: where that takes none it stays as it was', async () => {
  const { eventId } = await receive(confirmed({ endToEnd: newEndToEnd(), amount: 10.5 }));
  await clock.advance(24 * hourMs);
  await app.settle(eventId);
  assert.equal(await countQueued(eventId), 0);
  const { ownerRows } = app;
  await ownerRows('alter table webhook_queue add constraint no_more check (false) not valid');
  await assert.rejects(replayEvent(context, eventId), /no_more/);
  await ownerRows('alter table webhook_queue drop constraint no_more');
  const [event] = await app.rows(
    `select status, (select count(*)::int from webhook_waits where event_id = e.id) as waits
       from webhook_events e where id = $1`,
    [eventId],
  );
  assert.deepEqual(event, { status: 'orphaned', waits: 0 });
});

test('an event that waits already stays in the queue, and waits for another day', async () => {
  const { eventId } = await receive(confirmed({ endToEnd: newEndToEnd(), amount: 10.5 }));
  await clock.advance(23 * hourMs);
  const { parkedUntil } = await replay(eventId);
  assert.ok(parkedUntil);
  assert.ok(((await app.readDue(eventId)) ?? assert.fail()) <= parkedUntil);
  await clock.advance(23 * hourMs);
  assert.equal((await app.settle(eventId)).status, 'parked');
});

test('an orphan that the provider repeats is parked for another day by a replay all the same', async () => {
  const payload = confirmed({ endToEnd: newEndToEnd(), amount: 10.5 });
  const { eventId } = await receive(payload);
  await clock.advance(24 * hourMs);
  await app.settle(eventId);
  assert.equal(await countQueued(eventId), 0);
  assert.equal(await deliver(payload), eventId);
  assert.equal((await replay(eventId)).status, 'parked');
  assert.equal((await app.settle(eventId)).status, 'parked');
});

test('an event that was not looked at yet is settled, and leaves the queue; a late attempt finds that', async () => {
  const send = await app.givenSend();
  const eventId = await deliver(confirmed({ endToEnd: send.end_to_end, amount: 10.5 }));
  assert.deepEqual(shown(await preview(eventId)), ['applied PROCESSING→COMPLETED']);
  assert.deepEqual(results(await replay(eventId)), ['applied']);
  assert.equal(await countQueued(eventId), 0);
  assert.deepEqual(results(await app.settle(eventId)), ['applied']);
});

test('of an event whose payload was purged and of one that never was nothing is done', async () => {
  const { eventId, status } = await receive({ event: 'CONTA_CRIADA' });
  await app.rows('update webhook_events set payload = null where id = $1', [eventId]);
  for (const inspect of [previewReplay, replayEvent]) {
    assert.deepEqual(await inspect(context, eventId), { kind: 'purged', status });
    assert.deepEqual(await inspect(context, randomUUID()), { kind: 'missing' });
  }
});

test('a preview of many items shows each as if those before it had been carried out', async () => {
  const send = await app.givenSend();
  const txid = newTransactionIdentification();
  const charge = await reserveCharge(app, txid);
  const reserved = await reserveSend(app, 'reserved');
  const [paidBy, received] = [newEndToEnd(), newEndToEnd()];
  const pix = { event: 'PIX_RECEIVED', status: 'CONFIRMED', amount: 10.5 };
  const eventId = await deliver([
    confirmed({ endToEnd: send.end_to_end }),
    confirmed({ endToEnd: send.end_to_end, status: 'ERROR' }),
    confirmed({ endToEnd: send.end_to_end, status: 'PAID' }),
    { ...pix, txid, endToEnd: paidBy },
    { ...pix, endToEnd: paidBy },
    { ...pix, txid, endToEnd: received },
    { ...pix, endToEnd: received },
    { ...pix, endToEnd: received, amount: 11 },
    confirmed({ clientRequestId: 'reserved', amount: 10.5 }),
    { event: 'WEATHER_CHANGED' },
  ]);
  const before = await everything();
  const previewed = await preview(eventId);
  assert.deepEqual(shown(previewed), [
    'applied PROCESSING→COMPLETED',
    'anomaly: contradicted_in_event COMPLETED→COMPLETED',
    'already COMPLETED→COMPLETED',
    'applied PROCESSING→COMPLETED',
    'already COMPLETED→COMPLETED',
    'applied null→COMPLETED',
    'already COMPLETED→COMPLETED',
    'anomaly: amount_mismatch COMPLETED→COMPLETED',
    'parked: not_paying_yet PROCESSING→PROCESSING',
    'ignored: unknown_event',
  ]);
  assert.deepEqual(await everything(), before);
  const replayed = await replay(eventId);
  const reported = shown(previewed).map((line) =>
    line.split(' ').slice(0, line.includes(':') ? 2 : 1),
  );
  assert.deepEqual(
    results(replayed),
    reported.map((words) => words.join(' ')),
  );
  const positions = (items: readonly { transactionId?: string }[]) =>
    items.map(({ transactionId }) =>
      [send.id, charge.id, reserved.id].indexOf(transactionId ?? ''),
    );
  assert.ok(previewed.kind === 'preview');
  assert.deepEqual(positions(previewed.items), [0, 0, 0, 1, 1, -1, -1, -1, 2, -1]);
  assert.deepEqual(positions(replayed.items), positions(previewed.items));
  const [row] = await app.rows('select 1 from pix_transactions where end_to_end = $1', [received]);
  assert.ok(row && customer.id);
});
