/**
 * A bank that books a rejected payment as a debit, and reverses it: a debit proves a send only when
 * a reading ten minutes after its first sight still shows it without a reversal.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { calendarDay } from '../../../src/domain/calendar.ts';
import type { ProviderStatementItem as Item } from '../../../src/provider/provider.ts';
import { findStatementUser } from '../../../src/settlement/reconciliation-repository.ts';
import { reconcileUser } from '../../../src/settlement/reconcile-user.ts';
import { receiveEvent } from '../../../src/settlement/receive-provider-webhook.ts';
import { sweepPix } from '../../../src/settlement/sweep-pix.ts';
import { findBrokenRules } from '../../support/broken-rules.ts';
import { createTestDatabase } from '../../support/db.ts';
import { givenCustomer, logIn, type TestUser } from '../../support/factories.ts';
import { startPixApp } from '../pix/pix-app.ts';
import { settleBy } from './settling.ts';

const database = await createTestDatabase();
const app = await startPixApp({ environment: { JOBS: 'off' }, database });
after(() => database.drop());
const { stored, clock } = app;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const job = { id: '0', kind: 'test', payload: {}, attempt: 1, worker: 'test' } as const;

type Lines = (items: readonly Item[]) => readonly Item[];

/** The context with a provider whose lines are not final, and changed by the test. */
function withStatement(change: Lines) {
  const { provider, dialects } = app.context;
  const statement: typeof provider.statement = async (request) => {
    const { items } = await provider.statement(request);
    const read = dialects.readStatement(change(items), false) ?? assert.fail();
    return { ...read, isFinal: false };
  };
  return { ...app.context, provider: { ...provider, statement } };
}

const asBooked: Lines = (items) => items;

/** Each debit with a reversal: an incoming line with its end-to-end id and no return id. */
const reversed: Lines = (items) =>
  items.flatMap((item) => [
    item,
    { ...item, id: `${String(item['id'])}-r`, direction: 'CREDIT', type: 'ESTORNO' },
  ]);

const sweep = (change: Lines) => sweepPix.run(withStatement(change), { ...job, kind: 'sweep-pix' });

async function reconcile(user: TestUser, change: Lines) {
  const found = (await findStatementUser(app.context, user.id)) ?? assert.fail();
  const day = calendarDay(clock.now());
  const days = { first: day, last: day, options: { isBackground: true } };
  const result = await reconcileUser(withStatement(change), found, days);
  return result.state === 'READ' ? result : assert.fail(result.reason);
}

/** A send that the bank has executed and answered with 500: its outcome is not known. */
async function givenLost(user: TestUser, amount = 10.5) {
  const response = await app.throughTime(app.send(user, { pix_key: 'lost@ponte.test', amount }));
  return stored(response.body.transaction_id);
}

async function givenCompleted(user: TestUser, amount = 10.5) {
  const send = await givenLost(user, amount);
  await sweepPix.run(app.context, { ...job, kind: 'sweep-pix' });
  assert.equal((await stored(send.id)).status, 'COMPLETED');
  return send;
}

async function statusOf({ id }: { readonly id: string }) {
  const { status, failure_code: code } = await stored(id);
  return code === null ? status : `${status} ${code}`;
}

const refundsOf = ({ id }: { readonly id: string }) =>
  app.rows<{ amount: string; end_to_end: string | null }>(
    `select amount, end_to_end from pix_transactions where original_id = $1 order by created_at, id`,
    [id],
  );

async function receive(payload: Readonly<Record<string, unknown>>) {
  const posted = { payload: Buffer.from(JSON.stringify(payload)), content: undefined };
  const { id: eventId } = await receiveEvent(app.context, posted);
  await settleBy(app, eventId);
}

test('a debit completes a send ten minutes after its first sight, which the timeline has', async () => {
  const user = await givenCustomer(app);
  const send = await givenLost(user);
  await sweep(asBooked);
  assert.equal(await statusOf(send), 'PROCESSING');
  assert.ok((await app.timeline(send.id)).includes('SEEN seen_in_statement'));
  await clock.advance(10 * minuteMs - 1);
  await sweep(asBooked);
  assert.equal(await statusOf(send), 'PROCESSING');
  await clock.advance(minuteMs);
  await sweep(asBooked);
  assert.equal(await statusOf(send), 'COMPLETED');
  assert.equal((await app.timeline(send.id)).filter((line) => line.startsWith('SEEN')).length, 1);
  assert.deepEqual(await findBrokenRules(app, send.id), []);
});

test('a debit that is reversed within ten minutes proves nothing in any reading', async () => {
  const user = await givenCustomer(app);
  const send = await givenLost(user);
  await sweep(asBooked);
  await clock.advance(11 * minuteMs);
  await sweep(reversed);
  const { settled, differences } = await reconcile(user, reversed);
  assert.deepEqual(settled, []);
  assert.deepEqual(
    differences.map(({ kind, reason }) => `${kind} ${reason}`),
    ['OTHER_STATUS money_back'],
  );
  assert.equal(await statusOf(send), 'PROCESSING');
  assert.ok((await app.timeline(send.id)).includes('ANOMALY statement_reversed'));
});

test('reconciliation waits ten minutes for a reversal as well, and lists the line', async () => {
  const user = await givenCustomer(app);
  const send = await givenLost(user);
  const first = await reconcile(user, asBooked);
  assert.deepEqual(first.settled, []);
  assert.deepEqual(
    first.differences.map(({ kind, reason }) => `${kind} ${reason}`),
    ['UNPROVEN first_seen'],
  );
  await clock.advance(10 * minuteMs);
  const second = await reconcile(user, asBooked);
  assert.deepEqual(
    second.settled.map(({ action }) => action),
    ['completed'],
  );
  assert.equal(await statusOf(send), 'COMPLETED');
});

test('a line corrects a failed send only after ten minutes', async () => {
  const user = await givenCustomer(app);
  const send = await givenLost(user);
  const failure = { event: 'PIX_PAYMENT_OUT', status: 'ERROR', error: { code: 'AB03' } };
  await receive({ ...failure, endToEnd: send.end_to_end, amount: 10.5 });
  // The attempt was repeated: the bank's word about one of them proves nothing.
  await app.rows(
    `update pix_transactions set status = 'FAILED', phase = 'SETTLED', settled_at = now(),
            failure_code = 'AB03' where id = $1 and status = 'PROCESSING'`,
    [send.id],
  );
  await reconcile(user, asBooked);
  assert.equal((await stored(send.id)).status, 'FAILED');
  await clock.advance(10 * minuteMs);
  await reconcile(user, asBooked);
  assert.equal(await statusOf(send), 'COMPLETED');
});

test('debits and reversals of equal sums fail a send 36 hours after its last attempt', async () => {
  const user = await givenCustomer(app);
  const send = await givenLost(user);
  await sweep(reversed);
  await clock.advance(36 * hourMs - 2 * minuteMs);
  await logIn(app, user.email);
  await sweep(reversed);
  assert.equal(await statusOf(send), 'PROCESSING');
  await clock.advance(hourMs);
  await sweep(asBooked);
  assert.equal(await statusOf(send), 'PROCESSING');
  await clock.advance(hourMs);
  await sweep(reversed);
  assert.equal(await statusOf(send), 'FAILED REVERSED');
  assert.deepEqual(await findBrokenRules(app, send.id), []);
  await receive({
    event: 'PIX_PAYMENT_OUT',
    status: 'CONFIRMED',
    endToEnd: send.end_to_end,
    amount: 10.5,
  });
  assert.equal(await statusOf(send), 'COMPLETED');
});

test('a reversal after COMPLETED is shown as money back, once', async () => {
  const user = await givenCustomer(app);
  const send = await givenCompleted(user);
  const { settled } = await reconcile(user, reversed);
  assert.deepEqual(
    settled.map(({ action }) => action),
    ['returned'],
  );
  assert.deepEqual(await refundsOf(send), [{ amount: '10.50', end_to_end: null }]);
  assert.deepEqual((await reconcile(user, reversed)).settled, []);
  assert.equal((await refundsOf(send)).length, 1);
  const day = calendarDay(clock.now());
  const { body } = await app.call(`/accounts/statement?start_date=${day}&end_date=${day}`, {
    token: user.token,
  });
  const { refunds } = (body as { items: { refunds: Item[] } }).items;
  assert.deepEqual(
    refunds.map(({ amount, type, return_id: id }) => [amount, type, id]),
    [[10.5, 'PIX_REFUND_IN', send.end_to_end]],
  );
  assert.deepEqual(await findBrokenRules(app, send.id), []);
});

const returnId = (unique: string) => `D11165756202605241201${unique.padEnd(11, 'x')}`;

const refundEvent = (endToEnd: string | null, id: string, amount: number) => ({
  event: 'PIX_REFUND_IN',
  status: 'CONFIRMED',
  endToEnd,
  returnId: id,
  amount,
});

test('a refund of the amount of a reversal is the same money, and brings its return id', async () => {
  const user = await givenCustomer(app);
  const send = await givenCompleted(user);
  await reconcile(user, reversed);
  await receive(refundEvent(send.end_to_end, returnId('after'), 10.5));
  const same = [{ amount: '10.50', end_to_end: returnId('after') }];
  assert.deepEqual(await refundsOf(send), same);
  await receive({ ...refundEvent(send.end_to_end, returnId('after'), 10.5), again: undefined });
  await reconcile(user, reversed);
  assert.deepEqual(await refundsOf(send), same);
  assert.deepEqual(await findBrokenRules(app, send.id), []);
});

test('a reversal of the amount of a refund is the same money', async () => {
  const user = await givenCustomer(app);
  const send = await givenCompleted(user);
  await receive(refundEvent(send.end_to_end, returnId('before'), 10.5));
  const { settled, differences } = await reconcile(user, reversed);
  assert.deepEqual([settled, differences], [[], []]);
  assert.deepEqual(await refundsOf(send), [{ amount: '10.50', end_to_end: returnId('before') }]);
});

test('a reversal of another amount than a refund is other money, and never more than was paid', async () => {
  const user = await givenCustomer(app);
  const send = await givenCompleted(user);
  await receive(refundEvent(send.end_to_end, returnId('part'), 4));
  const partly: Lines = (items) =>
    items.flatMap((item) => [
      item,
      { ...item, id: 'part', direction: 'CREDIT', type: 'ESTORNO', amount: 6.5 },
    ]);
  await reconcile(user, partly);
  assert.deepEqual(
    (await refundsOf(send)).map(({ amount }) => amount),
    ['4.00', '6.50'],
  );
  const { differences } = await reconcile(user, reversed);
  assert.ok(differences.some(({ reason }) => reason === 'refunds_exceed_amount'));
});

/** Each debit with two reversals of half of it. */
const halves: Lines = (items) =>
  items.flatMap((item) => [
    item,
    { ...item, id: 'h1', direction: 'CREDIT', type: 'ESTORNO', amount: 5.25 },
    { ...item, id: 'h2', direction: 'CREDIT', type: 'ESTORNO', amount: 5.25 },
  ]);

test('a refund brings its return id to one reversal of its amount, also when it is reported again', async () => {
  const user = await givenCustomer(app);
  const send = await givenCompleted(user);
  await reconcile(user, halves);
  const half = refundEvent(send.end_to_end, returnId('half'), 5.25);
  await receive(half);
  await receive({ ...half, again: true });
  const ids = async () => (await refundsOf(send)).map(({ end_to_end: id }) => id);
  assert.deepEqual(new Set(await ids()), new Set([returnId('half'), null]));
  await receive(refundEvent(send.end_to_end, returnId('other'), 5.25));
  assert.deepEqual(new Set(await ids()), new Set([returnId('half'), returnId('other')]));
});

test('a refund of another amount than a reversal brings it no return id', async () => {
  const user = await givenCustomer(app);
  const send = await givenCompleted(user);
  const partly: Lines = (items) =>
    items.flatMap((item) => [
      item,
      { ...item, id: 'part', direction: 'CREDIT', type: 'ESTORNO', amount: 6.5 },
    ]);
  await reconcile(user, partly);
  await receive(refundEvent(send.end_to_end, returnId('rest'), 4));
  const found = (await refundsOf(send)).map(
    ({ amount, end_to_end: id }) => `${amount} ${String(id)}`,
  );
  assert.deepEqual(new Set(found), new Set(['6.50 null', `4.00 ${returnId('rest')}`]));
});

test('two reversals of one amount are two parts of the money back', async () => {
  const user = await givenCustomer(app);
  const send = await givenCompleted(user);
  await reconcile(user, halves);
  await reconcile(user, halves);
  assert.deepEqual(
    (await refundsOf(send)).map(({ amount }) => amount),
    ['5.25', '5.25'],
  );
});

test('a reversal with another id is other money beside the first, and alone it is listed', async () => {
  const user = await givenCustomer(app);
  const send = await givenCompleted(user);
  const reversalOf =
    (...ids: readonly string[]): Lines =>
    ([item]) =>
      ids.flatMap((id) => [{ ...item, id, amount: 3, direction: 'CREDIT', type: 'ESTORNO' }]);
  const read = async (...ids: readonly string[]) => {
    const { differences } = await reconcile(user, reversalOf(...ids));
    return [(await refundsOf(send)).length, ...differences.map(({ reason }) => reason)];
  };
  assert.deepEqual(await read('first'), [1]);
  assert.deepEqual(await read('first'), [1]);
  assert.deepEqual(await read('other'), [1, 'reversed_again']);
  assert.deepEqual(await read('first', 'second'), [2]);
  assert.deepEqual(await read('second'), [2]);
  // A refund that an event has reported may be any of them.
  await receive(refundEvent(send.end_to_end, returnId('third'), 3));
  assert.deepEqual(await read('other'), [2]);
  assert.deepEqual(await findBrokenRules(app, send.id), []);
});

test('a reversal days after its debit is shown, although the debit is not in the statement', async () => {
  const user = await givenCustomer(app);
  const send = await givenCompleted(user);
  const alone: Lines = () => [
    {
      id: 'late',
      endToEnd: send.end_to_end,
      amount: 10.5,
      direction: 'CREDIT',
      type: 'ESTORNO',
      status: 'CONFIRMED',
    },
  ];
  await clock.advance(5 * 24 * hourMs);
  await logIn(app, user.email);
  const { settled } = await reconcile(user, alone);
  assert.deepEqual(
    settled.map(({ action }) => action),
    ['returned'],
  );
  assert.equal((await refundsOf(send)).length, 1);
});

test('the audit notices a COMPLETED send whose money came back unshown', async () => {
  const user = await givenCustomer(app);
  const send = await givenLost(user);
  await sweep(reversed);
  assert.deepEqual(await findBrokenRules(app, send.id), []);
  await receive({
    event: 'PIX_PAYMENT_OUT',
    status: 'CONFIRMED',
    endToEnd: send.end_to_end,
    amount: 10.5,
  });
  assert.equal(await statusOf(send), 'COMPLETED');
  assert.deepEqual(await findBrokenRules(app, send.id), [
    'money_back_shown: no refund of what came back',
  ]);
  await reconcile(user, reversed);
  assert.deepEqual(await findBrokenRules(app, send.id), []);
});

test('fees, holds and a pending line beside a payment change nothing', async () => {
  const user = await givenCustomer(app);
  const send = await givenLost(user);
  const beside: Lines = (items) =>
    items.flatMap((item) => [
      { ...item, id: 'fee', type: 'TARIFA', amount: 0.35 },
      { ...item, id: 'hold', type: 'BLOQUEIO' },
      { ...item, status: 'PROCESSING' },
      item,
    ]);
  await sweep(beside);
  await clock.advance(11 * minuteMs);
  await sweep(beside);
  assert.equal(await statusOf(send), 'COMPLETED');
});
