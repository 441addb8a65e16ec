/** The daily reconciliation: the provider's statement against what is stored, line by line. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calendarDay, shiftDay } from '../../../src/domain/calendar.ts';
import { reconcile, reconcileUserDays } from '../../../src/settlement/reconcile.ts';
import { moveTransaction } from '../../../src/ledger/move-repository.ts';
import type { ProviderStatementItem as Item } from '../../../src/provider/provider.ts';
import { reconcileUser } from '../../../src/settlement/reconcile-user.ts';
import { findStatementUser } from '../../../src/settlement/reconciliation-repository.ts';
import { findBrokenRules } from '../../support/broken-rules.ts';
import { givenCustomer, logIn, type TestUser } from '../../support/factories.ts';
import { givenUnheard, loseADay, lostWebhooks, listRefunds, unheard } from './lost-webhooks.ts';
import { confirmed, results, startSettlingApp } from './settling.ts';
import { reserveSend } from './transactions.ts';

const app = await startSettlingApp();
const { bank, clock } = app;

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;
const job = { id: '0', kind: 'reconcile', payload: {}, attempt: 1, worker: 'test' } as const;
const run = (context = app.context) => reconcile.run(context, job);

interface DifferenceRow {
  readonly kind: string;
  readonly reason: string;
  readonly subject: string;
  readonly closed_as: string | null;
}

const readDifferences = ({ id }: { readonly id: number }) =>
  app.rows<DifferenceRow>(
    `select kind, reason, subject, closed_as from reconciliation_differences
      where user_id = $1 order by kind, reason, subject`,
    [id],
  );

/** The differences in words: `MISSING_HERE payment_out`, with how each was closed. */
const readShown = async (user: { readonly id: number }) =>
  (await readDifferences(user)).map(({ kind, reason, closed_as: closed }) =>
    [kind, reason, closed].filter(Boolean).join(' '),
  );

const readMovements = async ({ id }: { readonly id: number }) => {
  const rows = await app.rows<{ operation: string; status: string; amount: string }>(
    `select operation, status, amount from pix_transactions where user_id = $1
      order by operation, amount`,
    [id],
  );
  return rows.map(({ operation, status, amount }) => `${operation} ${amount} ${status}`);
};

const readDays = async ({ id }: { readonly id: number }) =>
  app.rows<{ day: string; state: string; reason: string | null }>(
    `select day::text as day, state, reason from reconciliations where user_id = $1 order by day`,
    [id],
  );

const today = () => calendarDay(clock.now());

/** The context with a provider that changes the statement of a user. */
function withStatement(user: TestUser, change: (items: readonly Item[]) => readonly Item[]) {
  const { provider, dialects } = app.context;
  const statement: typeof provider.statement = async (request) => {
    const { items } = await provider.statement(request);
    const isOfUser = request.session.userId === user.id;
    const read = dialects.readStatement(isOfUser ? change(items) : items, false);
    return { ...(read ?? assert.fail()), isFinal: true };
  };
  return { ...app.context, provider: { ...provider, statement } };
}

/** Reconciles the present day of a user, whose statement may be changed. */
async function reconcileToday(user: TestUser, change = (items: readonly Item[]) => items) {
  const found = await findStatementUser(app.context, user.id);
  assert.ok(found);
  const days = { first: today(), last: today(), options: {} };
  const result = await reconcileUser(withStatement(user, change), found, days);
  assert.ok(result.state === 'READ', 'the statement is read');
  return result;
}

async function given(): Promise<TestUser> {
  return givenCustomer(app);
}

async function sent(user: TestUser, amount = 10.5, key = 'ana@example.com') {
  const response = await app.throughTime(app.send(user, { pix_key: key, amount }));
  assert.equal(response.status, 200, JSON.stringify(response.body));
  return app.stored(response.body.transaction_id);
}

function line(changes: Item): Item {
  return {
    id: `line-${Math.random()}`,
    type: 'PIX_RECEIVED',
    direction: 'CREDIT',
    endToEnd: app.newEndToEnd(),
    amount: 5,
    status: 'CONFIRMED',
    ...changes,
  };
}

async function holdsEveryRule(): Promise<void> {
  assert.deepEqual(await findBrokenRules(app), []);
}

test('a day with lost webhooks of every kind is brought in', async () => {
  const user = await givenUnheard(app);
  const day = await loseADay(app, user);
  await clock.advance(15 * hourMs);
  assert.equal(await run(), undefined);
  assert.deepEqual(await readDifferences(user), [], 'the day is over for less than an hour');
  await clock.advance(hourMs);
  await logIn(app, unheard);
  await run();
  const all = [
    'CHARGE 15.00 COMPLETED',
    'RECEIVED 42.50 COMPLETED',
    'REFUND_IN 7.00 COMPLETED',
    'REFUND_OUT 2.50 COMPLETED',
    'SEND 11.00 COMPLETED',
    'SEND 12.00 PROCESSING',
    'SEND 13.00 COMPLETED',
    'SEND 14.00 COMPLETED',
  ];
  assert.deepEqual(await readMovements(user), all);
  assert.equal((await app.timeline(day.completed.id)).at(-1), 'SETTLED found_in_statement');
  const corrected = 'SETTLED corrected found_in_statement';
  assert.equal((await app.timeline(day.paidAfterAll.id)).at(-1), corrected);
  // A statement never proves a failure.
  const open = { kind: 'OTHER_STATUS', reason: 'failed_there', subject: day.failed.end_to_end };
  assert.deepEqual(await readDifferences(user), [{ ...open, closed_as: null }]);
  await holdsEveryRule();

  // The webhooks come after all.
  const ids = [day.completed, day.paidAfterAll, day.returned].map((one) => one.end_to_end ?? '');
  const refunds = [
    ...listRefunds(app, day.returned.end_to_end ?? ''),
    ...listRefunds(app, day.received),
  ];
  assert.equal(refunds.length, 2);
  for (const id of [day.received, day.charge.paidBy, ...ids.slice(0, 1), ...refunds]) {
    for (const webhook of lostWebhooks(app, id)) {
      assert.deepEqual(results(await app.receive(webhook)), ['already'], JSON.stringify(webhook));
    }
  }
  assert.deepEqual(await readMovements(user), all);
  const [failure] = lostWebhooks(app, day.failed.end_to_end ?? '');
  assert.deepEqual(results(await app.receive(failure)), ['applied']);
  // A day later the open difference is checked again, and the webhook has explained it.
  await clock.advance(21 * hourMs);
  await logIn(app, unheard);
  await run();
  assert.deepEqual(await readShown(user), ['OTHER_STATUS failed_there EXPLAINED']);
  await holdsEveryRule();
});

test('a line about what an event has settled or recorded changes nothing', async () => {
  const user = await givenCustomer(app);
  const received = await bank.receive(user.email, 1_000);
  assert.ok(received.outcome === 'done');
  const send = await sent(user);
  await bank.settle(send.end_to_end ?? '');
  await bank.refund(send.end_to_end ?? '', 500);
  await bank.idle();
  for (const id of await app.unsettled()) await app.settle(id);
  const before = await readMovements(user);
  assert.equal(before.length, 3);
  const { settled, differences } = await reconcileToday(user);
  assert.deepEqual([settled, differences], [[], []]);
  assert.deepEqual(await readMovements(user), before);
});

test('a refund whose id has no time of the calendar is recorded', async () => {
  const user = await givenCustomer(app);
  const send = await sent(user);
  await bank.settle(send.end_to_end ?? '');
  await bank.idle();
  for (const id of await app.unsettled()) await app.settle(id);
  const returnId = 'D99999999000001011200abcdefghijk';
  const back = line({ type: 'PIX_REFUND_IN', endToEnd: send.end_to_end, returnId });
  await reconcileToday(user, (items) => [...items, back]);
  assert.deepEqual(await readMovements(user), ['REFUND_IN 5.00 COMPLETED', 'SEND 10.50 COMPLETED']);
});

test('an event and a line at once record a Pix and a return once', async () => {
  const user = { ...(await givenUnheardAgain()) };
  for (let round = 0; round < 5; round += 1) {
    const received = await bank.receive(user.email, 1_000 + round);
    assert.ok(received.outcome === 'done');
    const refunded = await bank.refund(received.value.endToEnd, 100);
    assert.ok(refunded.outcome === 'done');
    const webhooks = [received.value.endToEnd, refunded.value.returnId].flatMap((id) =>
      lostWebhooks(app, id),
    );
    const [{ differences }] = await Promise.all([
      reconcileToday(user),
      ...webhooks.map((webhook) => app.receive(webhook)),
    ]);
    assert.deepEqual(differences, []);
    await reconcileToday(user);
  }
  const counts = Map.groupBy(await readMovements(user), (one) => one.split(' ')[0]);
  assert.equal(counts.get('RECEIVED')?.filter((one) => / 10\.0\d /.test(one)).length, 5);
  assert.equal(counts.get('REFUND_OUT')?.filter((one) => one.includes(' 1.00 ')).length, 5);
  await holdsEveryRule();
});

/** The same customer, whose session may have ended. */
async function givenUnheardAgain(): Promise<TestUser> {
  const [row] = await app.rows<{ id: number }>('select id from users where email = $1', [unheard]);
  assert.ok(row);
  return { id: row.id, email: unheard, token: await logIn(app, unheard) };
}

test('a line without an end-to-end id, twice, or not understood only appears in the list', async () => {
  const user = await given();
  const twice = app.newEndToEnd();
  const unproven = [
    line({ endToEnd: undefined }),
    line({ endToEnd: 'no-id-of-the-instant-payment-system' }),
    line({ endToEnd: twice }),
    line({ endToEnd: twice }),
    line({ status: 'WHO_KNOWS' }),
    line({ amount: 'five' }),
  ];
  const fee = line({ endToEnd: undefined, type: 'FEE', direction: undefined });
  const { settled } = await reconcileToday(user, () => [...unproven, fee]);
  assert.deepEqual(settled, []);
  assert.deepEqual(await readMovements(user), []);
  assert.deepEqual(await readShown(user), [
    'UNPROVEN no_end_to_end_id',
    'UNPROVEN no_end_to_end_id',
    'UNPROVEN several_lines',
    'UNPROVEN unreadable',
    'UNPROVEN unreadable',
  ]);
});

test('a line with the id of a stored send proves its payment, whatever the form of that id', async () => {
  const user = await given();
  const id = 'an-id-that-a-look-up-gave';
  const send = await reserveSend({ ...app, customer: user }, 'of-an-id-in-another-form');
  await moveTransaction(app.context, send.id, {
    from: ['RESERVED'],
    to: 'PAYING',
    status: 'PROCESSING',
    endToEnd: id,
    timeline: [{ phase: 'PAYING' }],
  });
  const out = line({ type: 'PIX_PAYMENT_OUT', direction: 'DEBIT', endToEnd: id, amount: 10.5 });
  const { settled, differences } = await reconcileToday(user, () => [out]);
  assert.deepEqual(differences, []);
  assert.deepEqual(
    settled.map(({ action, endToEnd }) => [action, endToEnd]),
    [['completed', id]],
  );
  const other = await given();
  const ofOther = await reconcileToday(other, () => [out]);
  assert.deepEqual(ofOther.settled, [], "another user's send proves nothing");
});

test('money under an id that is older than the statement, or of a send, is not received', async () => {
  const user = await given();
  const send = await sent(user);
  const old = `E99999999${today().replaceAll('-', '').slice(0, 6)}011200abcdefghijk`;
  const back = line({ endToEnd: send.end_to_end });
  await reconcileToday(user, () => [line({ endToEnd: old }), back]);
  assert.deepEqual(await readMovements(user), ['SEND 10.50 PROCESSING']);
  assert.deepEqual(await readShown(user), [
    'OTHER_STATUS money_back',
    'UNPROVEN id_before_statement',
  ]);
});

test('what the statement does not show is listed, and stays as it is', async () => {
  const user = await given();
  const completed = await sent(user, 20);
  await app.receive(confirmed({ endToEnd: completed.end_to_end }));
  await sent(user, 21);
  await sent(user, 22, 'lost@ponte.test');
  await reconcileToday(user, () => []);
  assert.deepEqual(await readShown(user), [
    'MISSING_THERE not_in_statement',
    'MISSING_THERE open_and_not_in_statement',
    'MISSING_THERE open_and_not_in_statement',
  ]);
  assert.deepEqual(await readMovements(user), [
    'SEND 20.00 COMPLETED',
    'SEND 21.00 PROCESSING',
    'SEND 22.00 PROCESSING',
  ]);
  // The next run finds all of them, completes the open ones and closes the differences.
  const { explained } = await reconcileToday(user);
  assert.equal(explained, 3);
  assert.ok((await readShown(user)).every((one) => one.endsWith('EXPLAINED')));
});

test('a hold, a fee and failed debits show no payment', async () => {
  const user = await given();
  const sends = [await sent(user, 20), await sent(user, 21), await sent(user, 22)];
  for (const { end_to_end: endToEnd } of sends) await app.receive(confirmed({ endToEnd }));
  const [held, charged, failed] = sends.map((one) => one.end_to_end);
  await reconcileToday(user, (items) =>
    items.flatMap((item) => {
      if (item['endToEnd'] === held) return [{ ...item, type: 'PIX_HOLD' }];
      if (item['endToEnd'] === charged) return [{ ...item, type: 'TARIFA' }];
      const error = { ...item, status: 'ERROR' };
      return item['endToEnd'] === failed ? [error, { ...error, id: 'again' }] : [item];
    }),
  );
  assert.deepEqual(await readShown(user), Array(3).fill('MISSING_THERE not_in_statement'));
});

test('a return that the statement calls failed or pending is listed', async () => {
  const user = await given();
  const credit = line({ amount: 20 });
  const returnId = `D${String(credit['endToEnd']).slice(1)}`;
  const { endToEnd: originalEndToEnd, ...rest } = credit;
  const debit = { type: 'PIX_REFUND_OUT', direction: 'DEBIT', returnId, originalEndToEnd };
  const back = { ...rest, ...debit, id: 'back', amount: 12 };
  await reconcileToday(user, () => [credit, back]);
  assert.deepEqual(await readMovements(user), [
    'RECEIVED 20.00 COMPLETED',
    'REFUND_OUT 12.00 COMPLETED',
  ]);
  await reconcileToday(user, () => [credit, { ...back, status: 'ERROR' }]);
  assert.deepEqual(await readShown(user), ['OTHER_STATUS failed_there']);
  await reconcileToday(user, () => [credit, { ...back, status: 'PENDING' }]);
  assert.deepEqual(await readShown(user), ['OTHER_STATUS open_there']);
});

test('a difference that an operator has accepted is listed again when it is another one', async () => {
  const user = await given();
  const send = await sent(user, 20);
  await app.receive(confirmed({ endToEnd: send.end_to_end }));
  const asStatus = (status: string) => (items: readonly Item[]) =>
    items.map((item) => ({ ...item, status }));
  await reconcileToday(user, asStatus('PENDING'));
  await app.rows(
    `update reconciliation_differences set closed_at = $1, closed_as = 'ACCEPTED'
      where user_id = $2`,
    [clock.now(), user.id],
  );
  await reconcileToday(user, asStatus('PENDING'));
  assert.deepEqual(await readShown(user), ['OTHER_STATUS open_there ACCEPTED']);
  await reconcileToday(user, asStatus('ERROR'));
  assert.deepEqual(await readShown(user), ['OTHER_STATUS failed_there']);
});

test('another amount and another status are listed, and settle nothing', async () => {
  const user = await given();
  const [open, completed, refunded] = [
    await sent(user, 20),
    await sent(user, 21),
    await sent(user, 22),
  ];
  for (const one of [completed, refunded]) {
    await app.receive(confirmed({ endToEnd: one.end_to_end }));
  }
  const change = (items: readonly Item[]) =>
    items.flatMap((item) => {
      if (item['endToEnd'] === open.end_to_end) return [{ ...item, amount: 20.01 }];
      if (item['endToEnd'] === completed.end_to_end) return [{ ...item, status: 'ERROR' }];
      const back = { type: 'PIX_REFUND_IN', returnId: `D${refunded.end_to_end?.slice(1)}` };
      const tooMuch = { ...back, originalEndToEnd: refunded.end_to_end, amount: 22.01 };
      return [item, line({ ...tooMuch, endToEnd: undefined })];
    });
  const { settled } = await reconcileToday(user, change);
  assert.deepEqual(settled, []);
  assert.deepEqual(await readShown(user), [
    'DIFFERENT_AMOUNT amount_mismatch',
    'DIFFERENT_AMOUNT refunds_exceed_amount',
    'OTHER_STATUS failed_there',
  ]);
  assert.deepEqual(await readMovements(user), [
    'SEND 20.00 PROCESSING',
    'SEND 21.00 COMPLETED',
    'SEND 22.00 COMPLETED',
  ]);
});

test('an outgoing line that is not here is listed until it is explained or accepted', async () => {
  const user = await given();
  const elsewhere = line({ type: 'PIX_PAYMENT_OUT', direction: 'DEBIT' });
  const returned = line({
    endToEnd: undefined,
    returnId: `D${app.newEndToEnd().slice(1)}`,
    originalEndToEnd: app.newEndToEnd(),
  });
  await reconcileToday(user, () => [elsewhere, returned]);
  const open = ['MISSING_HERE payment_out', 'MISSING_HERE refund_of_nothing'];
  assert.deepEqual(await readShown(user), open);
  await app.rows(
    `update reconciliation_differences set closed_at = $1, closed_as = 'ACCEPTED'
      where user_id = $2 and reason = 'payment_out'`,
    [clock.now(), user.id],
  );
  await reconcileToday(user, () => [elsewhere]);
  assert.deepEqual(await readShown(user), [
    'MISSING_HERE payment_out ACCEPTED',
    'MISSING_HERE refund_of_nothing EXPLAINED',
  ]);
  await reconcileToday(user, () => [elsewhere, returned]);
  assert.deepEqual(await readShown(user), [`${open[0]} ACCEPTED`, open[1]]);
});

test('a line without an id that an operator has accepted hides no line of a later day', async () => {
  const user = await given();
  const unnamed = line({ endToEnd: undefined, id: undefined });
  await reconcileToday(user, () => [unnamed]);
  await app.rows(
    `update reconciliation_differences set closed_at = $1, closed_as = 'ACCEPTED'
      where user_id = $2`,
    [clock.now(), user.id],
  );
  const shown: string[][] = [];
  for (let day = 0; day <= 3; day += 1) {
    await reconcileToday(user, () => [unnamed]);
    shown.push(await readShown(user));
    await clock.advance(dayMs);
    await logIn(app, user.email);
  }
  const [open, accepted] = ['UNPROVEN no_end_to_end_id', 'UNPROVEN no_end_to_end_id ACCEPTED'];
  assert.deepEqual(shown, [[accepted], [accepted], [accepted], [open]]);
});

test('a debit whose id is of a later time is listed', async () => {
  const user = await given();
  const { endToEnd, ...debit } = line({ type: 'PIX_PAYMENT_OUT', direction: 'DEBIT' });
  const dated = (at: string) => String(endToEnd).replace(/^(.{9}).{12}/, `$1${at}`);
  const tomorrow = shiftDay(today(), 1).replaceAll('-', '');
  await reconcileToday(user, () => [
    { ...debit, endToEnd: dated('209901011200') },
    { ...debit, id: 'of-tomorrow', endToEnd: dated(`${tomorrow}1200`) },
  ]);
  const differences = await readDifferences(user);
  assert.deepEqual(
    differences.map(({ subject }) => subject),
    [dated('209901011200')],
  );
});

test('a received Pix that the bank has taken back is listed', async () => {
  const user = await given();
  const credit = line({});
  await reconcileToday(user, () => [credit]);
  const debit = { ...credit, id: 'taken', type: 'DEBIT', direction: 'DEBIT' };
  await reconcileToday(user, () => [credit, debit]);
  assert.deepEqual(await readShown(user), ['OTHER_STATUS taken_back']);
  assert.deepEqual(await readMovements(user), ['RECEIVED 5.00 COMPLETED']);
});

test("a line completes no charge of another user, and records no other user's Pix", async () => {
  const [owner, other] = [await given(), await given()];
  const charged = await app.charge(owner, { type: 'dynamic', amount: 15, expiration_qr: 7200 });
  const charge = await app.stored(charged.body.transaction_id);
  const paid = line({ transactionIdentification: charge.transaction_identification, amount: 15 });
  await reconcileToday(other, () => [paid]);
  assert.deepEqual(await readMovements(other), ['RECEIVED 15.00 COMPLETED']);
  assert.equal((await app.stored(charge.id)).status, 'PROCESSING');
  await reconcileToday(owner, () => [paid]);
  assert.deepEqual(await readShown(owner), ['UNPROVEN other_account']);
  assert.equal((await app.stored(charge.id)).status, 'PROCESSING');
});

test('both sides of a payment between two customers are settled, each by its statement', async () => {
  const [payer, payee] = [await given(), await given()];
  const send = await sent(payer, 17);
  await reconcileToday(payer);
  const { endToEnd } = line({ endToEnd: send.end_to_end });
  await reconcileToday(payee, () => [line({ endToEnd, amount: 17 })]);
  assert.deepEqual(await readMovements(payer), ['SEND 17.00 COMPLETED']);
  assert.deepEqual(await readMovements(payee), ['RECEIVED 17.00 COMPLETED']);
  await holdsEveryRule();
});

test('a statement with a further page is unread, and changes nothing', async () => {
  const user = await given();
  await sent(user);
  const found = await findStatementUser(app.context, user.id);
  assert.ok(found);
  const { provider } = app.context;
  const statement: typeof provider.statement = async (request) => {
    return { ...(await provider.statement(request)), isWhole: false };
  };
  const context = { ...app.context, provider: { ...provider, statement } };
  const days = { first: today(), last: today(), options: {} };
  const { state } = await reconcileUser(context, found, days);
  assert.equal(state, 'UNREAD');
  assert.deepEqual(await readMovements(user), ['SEND 10.50 PROCESSING']);
  const unread = { day: today(), state: 'UNREAD', reason: 'NOT_WHOLE' };
  assert.deepEqual(await readDays(user), [unread]);
});

test('days without a session wait, and the login queues their reading, all at once', async () => {
  const user = await given();
  const received = await bank.receive(user.email, 3_300);
  assert.ok(received.outcome === 'done');
  await app.call('/auth/logout', { method: 'POST', token: user.token });
  const first = today();
  await clock.advance(dayMs);
  await run();
  await clock.advance(dayMs);
  await run();
  const waiting = [first, shiftDay(first, 1)].map((day) => ({
    day,
    state: 'UNREAD',
    reason: 'NO_SESSION',
  }));
  assert.deepEqual(await readDays(user), waiting);
  const queued = () =>
    app.rows<{ payload: Record<string, unknown> }>(
      `select payload from jobs where kind = 'reconcile-user' and unique_key = $1`,
      [`reconcile:${user.id}`],
    );
  assert.deepEqual(await queued(), []);
  await logIn(app, user.email);
  const [{ payload } = assert.fail()] = await queued();
  assert.deepEqual(payload, { userId: user.id });
  const calls: unknown[] = [];
  const { provider } = app.context;
  const statement: typeof provider.statement = (request) => {
    calls.push(request.start);
    return provider.statement(request);
  };
  const context = { ...app.context, provider: { ...provider, statement } };
  await reconcileUserDays.run(context, { ...job, kind: 'reconcile-user', payload });
  assert.equal(calls.length, 1, 'one reading serves all days');
  assert.deepEqual(
    (await readDays(user)).map(({ state }) => state),
    ['READ', 'READ'],
  );
  assert.deepEqual(await readMovements(user), ['RECEIVED 33.00 COMPLETED']);
  // The date is that of the payment, not of the login.
  const [row] = await app.rows<{ created_at: Date }>(
    'select created_at from pix_transactions where user_id = $1',
    [user.id],
  );
  assert.equal(calendarDay(row?.created_at ?? clock.now()), first);
  await app.rows('delete from jobs', []);
  await logIn(app, user.email);
  assert.deepEqual(await queued(), [], 'a login of a user who does not wait queues nothing');
});

test('days on which nothing ran are read afterwards', async () => {
  const user = await given();
  const first = today();
  await clock.advance(dayMs);
  await run();
  const lost = today();
  const received = await bank.receive(user.email, 4_400);
  assert.ok(received.outcome === 'done');
  await clock.advance(3 * dayMs);
  const joined = await given();
  const last = shiftDay(first, 4);
  // At half past eleven in the evening of the day before.
  const late = await given();
  const at = `${last}T02:30:00Z`;
  await app.rows('update accounts set created_at = $2 where user_id = $1', [late.id, at]);
  await clock.advance(dayMs);
  await logIn(app, user.email);
  await run();
  assert.deepEqual(await readDays(joined), [{ day: last, state: 'READ', reason: null }]);
  assert.deepEqual(
    (await readDays(late)).map(({ day }) => day),
    [shiftDay(last, -1), last],
  );
  const missed = [lost, shiftDay(lost, 1), shiftDay(lost, 2)];
  assert.deepEqual(await readDays(user), [
    { day: first, state: 'READ', reason: null },
    ...missed.map((day) => ({ day, state: 'UNREAD', reason: 'MISSED' })),
    { day: last, state: 'READ', reason: null },
  ]);
  assert.deepEqual(await readMovements(user), []);
  await clock.advance(hourMs + 1);
  await run();
  assert.ok((await readDays(user)).every(({ state }) => state === 'READ'));
  assert.deepEqual(await readMovements(user), ['RECEIVED 44.00 COMPLETED']);
});

test('a run that is interrupted goes on where it stopped, four users at a time', async () => {
  await clock.advance(dayMs);
  const users: TestUser[] = [];
  for (let one = 0; one < 9; one += 1) users.push(await given());
  await clock.advance(dayMs);
  const ids = new Set(users.map(({ id }) => id));
  for (const { email } of users) await logIn(app, email);
  const stopping = new AbortController();
  const read: number[] = [];
  let atOnce = 0;
  let most = 0;
  const { provider } = app.context;
  const statement: typeof provider.statement = async (request) => {
    const { userId } = request.session;
    if (ids.has(userId)) read.push(userId);
    atOnce += 1;
    most = Math.max(most, atOnce);
    if (read.length === 3) stopping.abort();
    const response = await provider.statement(request);
    atOnce -= 1;
    return response;
  };
  const context = { ...app.context, provider: { ...provider, statement } };
  const killed = await run({ ...context, stopping: stopping.signal });
  assert.ok(killed && 'runAgainAt' in killed, 'it goes on at once');
  const before = read.length;
  assert.ok(before >= 3 && before < 9, `${before} users were read`);
  assert.equal(await run(context), undefined);
  assert.equal(read.length, 9);
  assert.equal(new Set(read).size, 9, 'no statement is read twice');
  assert.ok(most <= 4, `${most} statements were read at once`);
});

test('a provider that does not answer is left alone after some statements', async () => {
  await clock.advance(dayMs);
  const users: TestUser[] = [];
  for (let one = 0; one < 12; one += 1) users.push(await given());
  await clock.advance(dayMs);
  for (const { email } of users) await logIn(app, email);
  let calls = 0;
  const { provider } = app.context;
  const statement: typeof provider.statement = async (request) => {
    calls += 1;
    return { ...(await provider.statement(request)), isWhole: false };
  };
  await run({ ...app.context, provider: { ...provider, statement } });
  // A range that is not whole is read in halves; five users and those beside them are attempted.
  assert.ok(calls < 12 * 3, `${calls} calls`);
});
