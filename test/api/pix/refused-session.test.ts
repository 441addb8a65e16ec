/**
 * A payment to which the bank has answered 401 at every attempt: the same key pays it again after a
 * login, with the same ids, until ten minutes after its first attempt.
 */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { findBrokenRules } from '../../support/broken-rules.ts';
import { givenCustomer, logIn, type TestUser } from '../../support/factories.ts';
import { loseAcknowledgement, mockQueries } from '../../support/intercepted.ts';
import { ProviderError } from '../../../src/provider/errors.ts';
import { faulty, refused } from '../../../src/provider/sandbox/bank/response.ts';
import { startPixApp } from './pix-app.ts';

const app = await startPixApp();
const once = await startPixApp({ environment: { PROVIDER_PAYMENT_RETRIES: '0' } });

const body = { pix_key: 'silent@ponte.test', amount: 10 };
const key = { key: 'refused' };
const begun = ['RESERVED', 'RESOLVED', 'PAYING 1'];
const minuteMs = 60_000;

type App = typeof app;

/** Lets the bank refuse the token of the first payments, whether or not it executes them. */
function refusePayments(t: TestContext, { bank }: App, { count = 2, executes = false } = {}) {
  const pay = bank.pay.bind(bank);
  const payments = t.mock.method(bank, 'pay', (...args: Parameters<typeof pay>) => {
    const isRefused = payments.mock.callCount() < count;
    if (!isRefused || executes) {
      const answer = pay(...args);
      if (!isRefused) return answer;
    }
    return refused({ kind: 'token', reason: 'InvalidToken' });
  });
  return payments;
}

/** A send that was answered by 401 twice, and the user after a login. */
async function givenRefused(t: TestContext, tested: App = app, executes = false) {
  const user = await givenCustomer(tested);
  const payments = refusePayments(t, tested, { executes });
  const sent = await tested.throughTime(tested.send(user, body, key));
  assert.equal(sent.status, 401);
  assert.deepEqual(nextOf(sent), ['unknown', 'log-in']);
  const [row] = await tested.rows<{ id: string; end_to_end: string }>(
    'select id, end_to_end from pix_transactions where user_id = $1',
    [user.id],
  );
  const { id, end_to_end: endToEnd } = row ?? assert.fail();
  assert.equal((await tested.stored(id)).phase, 'UNKNOWN');
  const again = { ...user, token: await logIn(tested, user.email) };
  return { user: again, id, endToEnd, payments };
}

const nextOf = ({ headers }: { readonly headers: Headers }) => [
  headers.get('pix-outcome'),
  headers.get('pix-next'),
];

async function assertAudited(id: string): Promise<void> {
  assert.deepEqual(await findBrokenRules(app, id), []);
}

const executedBy = (user: TestUser) => app.executed(user);

for (const executes of [false, true]) {
  const what = executes ? 'has executed it all the same' : 'has not executed it';
  test(`the same key pays after a login, once, when the bank ${what}`, async (t) => {
    const { user, id, endToEnd, payments } = await givenRefused(t, app, executes);
    const paid = await app.send(user, body, key);
    assert.deepEqual([paid.status, paid.body.transaction_id], [200, id]);
    assert.deepEqual(nextOf(paid), ['accepted', 'wait']);
    const orders = payments.mock.calls.map(({ arguments: [, order] }) => order);
    assert.equal(orders.length, 3);
    assert.deepEqual(new Set(orders.map((order) => order.endToEnd)), new Set([endToEnd]));
    assert.equal(new Set(orders.map((order) => order.clientRequestId)).size, 1);
    assert.deepEqual(await executedBy(user), [endToEnd]);
    assert.deepEqual(await app.timeline(id), [
      ...begun,
      'PAYING 2 401 after_unknown',
      'UNKNOWN 2 401',
      'PAYING 3 after_login',
      'ACCEPTED 3 2xx',
    ]);
    await assertAudited(id);
  });
}

test('a cancellation before it is stored that the same key may pay again holds, too', async (t) => {
  const user = await givenCustomer(app);
  const payments = refusePayments(t, app);
  const reached = Promise.withResolvers<undefined>();
  const gate = Promise.withResolvers<undefined>();
  mockQueries(t, app.context.db, (run) => async (statement, parameters) => {
    if (statement.name === 'pix-allow-resume') {
      reached.resolve(undefined);
      await gate.promise;
    }
    return run(statement, parameters);
  });
  t.after(() => gate.resolve(undefined));
  const first = app.send(user, body, key);
  await app.throughTime(reached.promise);
  const token = await logIn(app, user.email);
  const headers = { 'idempotency-key': key.key };
  const cancelled = await app.call('/pix/send/cancel', { method: 'POST', token, headers });
  assert.deepEqual([cancelled.status, cancelled.body.status], [200, 'PROCESSING']);
  gate.resolve(undefined);
  await app.throughTime(first);
  const repeat = await app.send({ ...user, token }, body, key);
  assert.deepEqual([repeat.status, repeat.body.status], [200, 'PROCESSING']);
  assert.equal(payments.mock.callCount(), 2);
});

test('a cancellation during the look-up holds after it, too', async (t) => {
  const user = await givenCustomer(app);
  const payments = refusePayments(t, app);
  let cancelled: Awaited<ReturnType<typeof app.call>> | undefined;
  mockQueries(t, app.context.db, (run) => async (statement, parameters) => {
    const headers = { 'idempotency-key': key.key };
    if (statement.name === 'pix-step')
      cancelled ??= await app.call('/pix/send/cancel', { method: 'POST', ...user, headers });
    return run(statement, parameters);
  });
  const sent = await app.throughTime(app.send(user, body, key));
  assert.deepEqual([cancelled?.status, cancelled?.body.status], [200, 'PROCESSING']);
  assert.equal(sent.status, 401);
  const token = await logIn(app, user.email);
  const repeat = await app.send({ ...user, token }, body, key);
  assert.deepEqual([repeat.status, repeat.body.status], [200, 'PROCESSING']);
  assert.equal(payments.mock.callCount(), 2);
});

test('a failure of a payment whose earlier attempts were answered by 401 is that of all', async (t) => {
  const { user, id, endToEnd } = await givenRefused(t);
  await app.send(user, body, key);
  const event = { event: 'PIX_PAYMENT_OUT', status: 'ERROR', endToEnd, amount: 10 };
  await app.call('/webhooks/provider', { body: { ...event, error: { code: 'AB03' } } });
  await app.settled(id);
  assert.equal((await app.stored(id)).failure_code, 'AB03');
  await assertAudited(id);
});

test('it may be refused again, and the ten minutes count from the first attempt', async (t) => {
  const { user, id, payments } = await givenRefused(t);
  payments.mock.restore();
  refusePayments(t, app);
  await app.clock.skip(5 * minuteMs);
  const refusedAgain = await app.throughTime(app.send(user, body, key));
  assert.deepEqual([refusedAgain.status, ...nextOf(refusedAgain)], [401, 'unknown', 'log-in']);
  await app.clock.skip(6 * minuteMs);
  const later = { ...user, token: await logIn(app, user.email) };
  const late = await app.send(later, body, key);
  assert.deepEqual([late.status, late.body.status], [200, 'PROCESSING']);
  assert.deepEqual(nextOf(late), ['unknown', 'wait']);
  assert.deepEqual(await executedBy(later), []);
  assert.equal((await app.stored(id)).phase, 'UNKNOWN');
  await assertAudited(id);
});

test('a resumed payment that cannot be sent stays unknown: an attempt before may have been made', async (t) => {
  const { user, id, endToEnd } = await givenRefused(t, app, true);
  t.mock.method(app.context.provider, 'pay', () =>
    Promise.reject(
      new ProviderError({
        outcome: 'not_sent',
        code: 'PROVIDER_UNAVAILABLE',
        statusClass: 'connect',
      }),
    ),
  );
  const repeated = await app.send(user, body, key);
  assert.deepEqual([repeated.status, ...nextOf(repeated)], [200, 'unknown', 'wait']);
  const { status, phase } = await app.stored(id);
  assert.deepEqual([status, phase], ['PROCESSING', 'UNKNOWN']);
  assert.equal((await app.timeline(id)).at(-1), 'UNKNOWN 3 connect not_sent');
  assert.deepEqual(await executedBy(user), [endToEnd]);
  await assertAudited(id);
});

test('of two repeats at once one pays', async (t) => {
  const { user, endToEnd, payments } = await givenRefused(t);
  const both = await Promise.all([app.send(user, body, key), app.send(user, body, key)]);
  assert.deepEqual(
    both.map(({ status }) => status),
    [200, 200],
  );
  assert.equal(payments.mock.callCount(), 3);
  assert.deepEqual(await executedBy(user), [endToEnd]);
});

test('a payment that the customer has given up is not resumed', async (t) => {
  const { user, payments } = await givenRefused(t);
  const { token } = user;
  const headers = { 'Idempotency-Key': key.key };
  const cancelled = await app.call('/pix/send/cancel', { method: 'POST', token, headers });
  assert.deepEqual([cancelled.status, cancelled.body.status], [200, 'PROCESSING']);
  const repeated = await app.send(user, body, key);
  assert.deepEqual([repeated.status, ...nextOf(repeated)], [200, 'unknown', 'wait']);
  assert.equal(payments.mock.callCount(), 2);
});

test('another amount under the key pays nothing', async (t) => {
  const { user, payments } = await givenRefused(t);
  const other = await app.send(user, { ...body, amount: 11 }, key);
  assert.equal(other.status, 422);
  assert.equal(payments.mock.callCount(), 2);
});

test('a payment with an attempt that had another answer is not resumed', async (t) => {
  const { user, id, payments } = await givenRefused(t);
  await app.rows(
    `insert into pix_timeline (transaction_id, phase, at, attempt) values ($1, 'PAYING', now(), 3)`,
    [id],
  );
  await app.rows('update pix_transactions set resumable_until = null where id = $1', [id]);
  const { allowResume } = await import('../../../src/ledger/refused-session-repository.ts');
  await allowResume(app.context, id);
  await app.send(user, body, key);
  assert.equal(payments.mock.callCount(), 2);
});

test('a response that is noted twice refuses the session of one attempt', async (t) => {
  const user = await givenCustomer(app);
  const payments = t.mock.method(app.bank, 'pay', () =>
    payments.mock.callCount() === 0
      ? faulty('internal_error')
      : refused({ kind: 'token', reason: 'InvalidToken' }),
  );
  loseAcknowledgement(t, app.context.db, 'pix-move');
  const sent = await app.throughTime(app.send(user, body, key));
  assert.equal(sent.status, 401);
  const token = await logIn(app, user.email);
  const repeated = await app.throughTime(app.send({ ...user, token }, body, key));
  assert.deepEqual([repeated.status, ...nextOf(repeated)], [200, 'unknown', 'wait']);
  assert.equal(payments.mock.callCount(), 3);
});

test('a blocked account resumes nothing', async (t) => {
  const { user, payments } = await givenRefused(t);
  await app.rows(`update accounts set status = 'BLOCKED' where user_id = $1`, [user.id]);
  const repeated = await app.send(user, body, key);
  assert.deepEqual([repeated.status, ...nextOf(repeated)], [200, 'unknown', 'wait']);
  assert.equal(payments.mock.callCount(), 2);
});

test('where the bank has not confirmed that it recognises a repeat, nothing is resumed', async (t) => {
  const user = await givenCustomer(once);
  const payments = refusePayments(t, once, { count: 1 });
  const sent = await once.throughTime(once.send(user, body, key));
  assert.deepEqual([sent.status, ...nextOf(sent)], [401, 'unknown', 'log-in']);
  const again = { ...user, token: await logIn(once, user.email) };
  const repeated = await once.send(again, body, key);
  assert.deepEqual([repeated.status, ...nextOf(repeated)], [200, 'unknown', 'wait']);
  assert.equal(payments.mock.callCount(), 1);
});
