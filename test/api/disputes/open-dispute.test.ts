/** The dispute of a payment: what can be disputed, repeats, and what the bank answers. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { dayMs } from '../../../src/clock.ts';
import { storeRequest } from '../../../src/disputes/dispute-repository.ts';
import { repeatDisputes } from '../../../src/disputes/repeat-disputes.ts';
import { notSent, timedOut } from '../../../src/provider/errors.ts';
import type { DisputeRequest } from '../../../src/provider/provider.ts';
import { givenCustomer } from '../../support/factories.ts';
import { eventually } from '../../support/eventually.ts';
import { mockQueries } from '../../support/intercepted.ts';
import { refusal, repeatJob, scam, startDisputeApp, type PaidSend } from './dispute-app.ts';

const app = await startDisputeApp();
const off = await startDisputeApp({ environment: { PROVIDER_FEATURES: 'none' } });

const { provider } = app.context;

// The tests run the job by hand. A run of the service at the same time would call the bank, too.
await eventually(async () => {
  const [job] = await app.rows(
    `update jobs set status = 'running', leased_by = 'test', leased_until = 'infinity'
      where kind = 'repeat-disputes' and status = 'queued' returning id`,
  );
  return job;
}, 'the queued job');

/** Runs the job after a time, in minutes. */
async function repeatLater(minutes: number): Promise<void> {
  await app.clock.skip(minutes * 60_000);
  await repeatDisputes.run(app.context, repeatJob);
}

test('a completed send is disputed once, and a repeat gets the same dispute', async () => {
  const paid = await app.pay();
  const opened = await app.open(paid);
  assert.equal(opened.status, 200, JSON.stringify(opened.body));
  const { requested_at: requestedAt, opened_at: openedAt } = opened.body;
  assert.deepEqual(opened.body, {
    transaction_id: paid.id,
    status: 'OPEN',
    situation: 'SCAM',
    requested_at: requestedAt,
    opened_at: openedAt,
  });
  assert.deepEqual((await app.open(paid)).body, opened.body);
  assert.deepEqual((await app.show(paid)).body, opened.body);
  const { disputeId } = app.bank.state.disputes.get(paid.endToEnd) ?? {};
  assert.equal(disputeId, paid.id);
  assert.equal((await app.stored(paid.id)).status, 'COMPLETED');
});

test('a send that is completed while its dispute is requested is disputed', async (t) => {
  const paid = await app.pay();
  const setStatus = (columns: string) =>
    app.ownerRows(`do $$ begin
      perform set_config('session_replication_role', 'replica', true);
      update pix_transactions set ${columns} where id = '${paid.id}';
    end $$`);
  await setStatus(`status = 'PROCESSING', phase = 'ACCEPTED', settled_at = null`);
  let isCompleted = false;
  mockQueries(t, app.context.db, (run) => async (statement, parameters) => {
    const rows = await run(statement, parameters);
    if (statement.name === 'dispute-request' && !isCompleted) {
      isCompleted = true;
      await setStatus(`status = 'COMPLETED', phase = 'SETTLED', settled_at = updated_at`);
    }
    return rows;
  });
  const opened = await app.open(paid);
  assert.deepEqual([opened.status, opened.body.status], [200, 'OPEN']);
});

test('the request of a user who was erased meanwhile is not stored', async () => {
  const { id, user } = await app.pay();
  const paidSince = new Date(0);
  const requested = { id, userId: user.id, situation: 'SCAM', details: null, paidSince } as const;
  await app.rows(`update users set status = 'DISABLED' where id = $1`, [user.id]);
  assert.equal(await storeRequest(app.context, requested), false);
  await app.rows(`update users set status = 'ACTIVE' where id = $1`, [user.id]);
  assert.equal(await storeRequest(app.context, requested), true);
});

test('other content is refused by the fields that differ, in two languages', async () => {
  const paid = await app.pay();
  await app.open(paid);
  const other = await app.open(paid, { situation: 'COERCION' });
  assert.equal(other.status, 422);
  assert.deepEqual(Object.keys(other.body.errors), ['situation', 'details']);
  const { body } = await app.call(`/pix/${paid.id}/dispute`, {
    token: paid.user.token,
    body: { ...scam, situation: 'OTHER' },
    headers: { 'accept-language': 'pt-BR' },
  });
  assert.deepEqual(body.errors, {
    situation: ['O pagamento já foi contestado, com outro conteúdo.'],
  });
});

test('the details are sealed, and no log line has them', async () => {
  const paid = await app.pay();
  await app.open(paid);
  const [row] = await app.rows<{ details: Buffer }>(
    'select details from pix_disputes where transaction_id = $1',
    [paid.id],
  );
  assert.ok(row && !row.details.includes(scam.details));
  assert.equal(app.logLines.filter((line) => line.includes(scam.details)).length, 0);
});

test('a situation outside the list, too long details and unknown words are refused', async () => {
  const paid = await app.pay();
  for (const body of [
    {},
    { situation: 'REGRET' },
    { ...scam, details: '' },
    { ...scam, details: 'x'.repeat(2_001) },
    { ...scam, details: 'a\u0000b' },
  ]) {
    const { status, body: refused } = await app.open(paid, body);
    assert.equal(status, 422, JSON.stringify(body));
    assert.equal(Object.keys(refused.errors).length, 1);
  }
  assert.equal((await app.show(paid)).status, 404);
});

test('transactions of others, unknown ids and undisputed payments are not found', async () => {
  const [paid, stranger] = [await app.pay(), await givenCustomer(app)];
  const foreign = { user: stranger, id: paid.id };
  assert.equal((await app.open(foreign)).status, 404);
  await app.open(paid);
  const unknown = { user: stranger, id: randomUUID() };
  for (const one of [foreign, unknown, { user: stranger, id: 'no-uuid' }]) {
    assert.equal((await app.open(one)).status, 404);
    assert.equal((await app.show(one)).status, 404);
    assert.equal((await app.withdraw(one)).status, 404);
  }
  assert.equal((await app.withdraw(await app.pay())).status, 404);
});

/** A copy of a paid send that was paid at another time. */
async function paidAt(paid: PaidSend, at: Date): Promise<PaidSend> {
  const id = randomUUID();
  const endToEnd = `E${id.replaceAll('-', '').slice(1)}`;
  await app.rows(
    `insert into pix_transactions (id, user_id, operation, idempotency_key, fingerprint, status,
            phase, outcome, amount, pix_key, end_to_end, created_at, updated_at, settled_at)
     select $2::uuid, user_id, operation, $2::uuid::text, fingerprint, status, phase, outcome,
            amount, pix_key, $3, $4, $4, $4 from pix_transactions where id = $1`,
    [paid.id, id, endToEnd, at],
  );
  return { ...paid, id, endToEnd };
}

test('only a send that is paid can be disputed', async () => {
  const paid = await app.pay();
  const { user } = paid;
  const unpaid = await app.send(user, { pix_key: 'silent@ponte.test', amount: 10 });
  await app.bank.refund(paid.endToEnd, 100);
  const refund = await eventually(async () => {
    const [row] = await app.rows<{ id: string }>(
      'select id from pix_transactions where original_id = $1',
      [paid.id],
    );
    return row;
  }, 'the refund');
  for (const [id, words] of [
    [unpaid.body.transaction_id, 'Only a completed payment can be disputed.'],
    [refund.id, 'Only a Pix that you have sent can be disputed.'],
  ]) {
    const { status, body } = await app.open({ user, id });
    assert.deepEqual([status, body.errors], [422, { transactionId: [words] }]);
  }
});

test('a payment can be disputed for 80 days', async (t) => {
  const paid = await app.pay();
  t.mock.method(provider, 'openDispute', () => Promise.resolve('OPEN'));
  const limitMs = app.clock.now().getTime() - 80 * dayMs;
  const [last, tooOld] = [
    await paidAt(paid, new Date(limitMs)),
    await paidAt(paid, new Date(limitMs - 1)),
  ];
  assert.equal((await app.open(last)).body.status, 'OPEN');
  const { status, body } = await app.open(tooOld);
  assert.deepEqual(
    [status, body.errors.transactionId],
    [422, ['A payment can be disputed for 80 days.']],
  );
});

test('a refused request is not made again for a payment that is too old by then', async (t) => {
  const paid = await app.pay();
  t.mock.method(provider, 'openDispute', () => Promise.reject(refusal));
  const last = await paidAt(paid, new Date(app.clock.now().getTime() - 80 * dayMs));
  assert.equal((await app.open(last)).status, 502);
  await app.clock.advance(1);
  const { status, body } = await app.open(last);
  assert.deepEqual([status, Object.keys(body.errors)], [422, ['transactionId']]);
  assert.equal((await app.show(last)).body.status, 'REFUSED');
});

test('a call with an unknown outcome leaves it requested; the same request repeats it', async (t) => {
  const paid = await app.pay();
  const lost = t.mock.method(provider, 'openDispute', () =>
    Promise.reject(timedOut('unknown', null)),
  );
  const first = await app.open(paid);
  assert.deepEqual([first.status, first.body.status], [200, 'REQUESTED']);
  lost.mock.restore();
  const call = t.mock.method(provider, 'openDispute');
  assert.equal((await app.open(paid)).body.status, 'OPEN');
  const { order } = call.mock.calls[0]?.arguments[0] ?? {};
  assert.deepEqual(order, { disputeId: paid.id, endToEnd: paid.endToEnd, ...scam });
});

/** A payment whose dispute is requested, and could not be sent to the bank. */
async function givenUnsent(t: TestContext): Promise<PaidSend> {
  const paid = await app.pay();
  const failing = t.mock.method(provider, 'openDispute', () =>
    Promise.reject(notSent('connect', null)),
  );
  assert.equal((await app.open(paid)).body.status, 'REQUESTED');
  failing.mock.restore();
  return paid;
}

test('the job repeats what is not answered, in the session of the customer', async (t) => {
  const paid = await givenUnsent(t);
  await repeatLater(1);
  assert.equal((await app.show(paid)).body.status, 'OPEN');
  assert.equal(app.bank.state.disputes.get(paid.endToEnd)?.disputeId, paid.id);
});

test('the job leaves a dispute whose customer is logged out', async (t) => {
  const paid = await app.pay();
  t.mock.method(provider, 'openDispute', () => Promise.reject(timedOut('unknown', null)));
  await app.open(paid);
  await app.call('/auth/logout', { token: paid.user.token, method: 'POST' });
  t.mock.restoreAll();
  await repeatLater(1);
  assert.equal(app.bank.state.disputes.has(paid.endToEnd), false);
});

test('a request that the bank refuses is 502, and may be made again with other content', async () => {
  const paid = await app.pay('dispute-refused@ponte.test');
  const { status, body } = await app.open(paid);
  assert.deepEqual([status, body.code], [502, 'PROVIDER_REJECTED']);
  const shown = await app.show(paid);
  assert.deepEqual([shown.body.status, typeof shown.body.ended_at], ['REFUSED', 'string']);
  const again = await app.open(paid, { situation: 'COERCION' });
  assert.equal(again.status, 502);
  assert.equal((await app.show(paid)).body.situation, 'COERCION');
});

/** A payment whose dispute was requested by a call without a response; repeats are refused. */
async function givenDoubt(t: TestContext, isExecuted: boolean): Promise<PaidSend> {
  const paid = await app.pay('dispute-pending@ponte.test');
  const open = provider.openDispute.bind(provider);
  const lost = t.mock.method(provider, 'openDispute', async (request: DisputeRequest) => {
    if (isExecuted) await open(request);
    throw timedOut('unknown', null);
  });
  await app.open(paid);
  lost.mock.restore();
  t.mock.method(provider, 'openDispute', () => Promise.reject(refusal));
  return paid;
}

test('a refusal after a call without a response: the bank is asked what it has', async (t) => {
  const opened = await givenDoubt(t, true);
  assert.equal((await app.open(opened)).body.status, 'OPEN');
  t.mock.restoreAll();
  const unknown = await givenDoubt(t, false);
  assert.equal((await app.open(unknown)).status, 502);
  assert.equal((await app.show(unknown)).body.status, 'REFUSED');
});

test('a refusal after a call without a response proves nothing if the bank cannot be asked', async (t) => {
  const paid = await givenDoubt(t, false);
  t.mock.method(provider, 'readDispute', () => Promise.reject(refusal));
  const { status, body } = await app.open(paid);
  assert.deepEqual([status, body.status], [200, 'REQUESTED']);
});

test('the job reads an open dispute whose event is lost, once an hour at first', async (t) => {
  const paid = await app.pay('dispute-pending@ponte.test');
  await app.open(paid);
  t.mock.method(provider, 'readDispute', () => Promise.resolve('ACCEPTED'));
  await repeatLater(59);
  assert.equal((await app.show(paid)).body.status, 'OPEN');
  await repeatLater(1);
  assert.equal((await app.show(paid)).body.status, 'ACCEPTED');
});

test('tokens that no key opens, and open disputes, do not hold up a request', async (t) => {
  const request = await givenUnsent(t);
  const open = await app.pay('dispute-pending@ponte.test');
  await app.open(open);
  await app.rows('update banking_sessions set sealed_token = $2 where user_id = $1', [
    open.user.id,
    Buffer.alloc(60),
  ]);
  await app.rows(
    `with paid as (
       insert into pix_transactions (id, user_id, operation, idempotency_key, fingerprint, status,
              phase, outcome, amount, pix_key, end_to_end, created_at, updated_at, settled_at)
       select gen_random_uuid(), user_id, operation, 'copy-' || place, fingerprint, status, phase,
              outcome, amount, pix_key, 'copy-' || place, $2, $2, $2
         from pix_transactions, generate_series(1, 60) as place where id = $1
       returning id, user_id
     )
     insert into pix_disputes
            (transaction_id, user_id, status, situation, requested_at, opened_at, updated_at)
     select id, user_id, 'OPEN', 'SCAM', $2, $2, $2 from paid`,
    [open.id, new Date(app.clock.now().getTime() - 10 * dayMs)],
  );
  await repeatLater(1);
  assert.equal((await app.show(request)).body.status, 'OPEN');
  await app.rows('delete from pix_disputes where user_id = $1', [open.user.id]);
});

test('a reading that fails ends the run', async (t) => {
  for (const _ of [1, 2, 3, 4, 5, 6]) await app.open(await app.pay('dispute-pending@ponte.test'));
  const read = t.mock.method(provider, 'readDispute', () =>
    Promise.reject(timedOut('unknown', null)),
  );
  await repeatLater(60);
  assert.equal(read.mock.callCount(), 1);
});

test('an open dispute that the bank does not know stays open', async (t) => {
  const paid = await app.pay('dispute-pending@ponte.test');
  await app.open(paid);
  const read = t.mock.method(provider, 'readDispute', () => Promise.resolve(null));
  const count = (): number =>
    read.mock.calls.filter(({ arguments: [asked] }) => asked?.dispute.disputeId === paid.id).length;
  await repeatLater(60);
  assert.equal((await app.show(paid)).body.status, 'OPEN');
  assert.equal(count(), 1);
  await repeatLater(59);
  assert.equal(count(), 1);
});

test('a dispute whose details no key opens is opened without them', async (t) => {
  const paid = await givenUnsent(t);
  await app.rows('update pix_disputes set details = $2 where transaction_id = $1', [
    paid.id,
    Buffer.alloc(60),
  ]);
  const call = t.mock.method(provider, 'openDispute');
  const { status, body } = await app.open(paid);
  assert.deepEqual([status, body.status], [200, 'OPEN']);
  assert.equal(call.mock.calls[0]?.arguments[0].order.details, null);
});

test('two requests at the same time make one call', async (t) => {
  const paid = await app.pay();
  const call = t.mock.method(provider, 'openDispute');
  const [one, other] = await Promise.all([app.open(paid), app.open(paid)]);
  assert.deepEqual([one.status, other.status], [200, 200]);
  assert.equal(call.mock.callCount(), 1);
  assert.equal((await app.show(paid)).body.status, 'OPEN');
});

test('a process that dies during the call leaves its claim for others to take', async (t) => {
  const paid = await app.pay();
  t.mock.method(provider, 'openDispute', () => Promise.reject(new Error('the process dies')));
  assert.equal((await app.open(paid)).status, 500);
  t.mock.restoreAll();
  await repeatLater(1);
  assert.equal((await app.show(paid)).body.status, 'REQUESTED');
  await repeatLater(10);
  assert.equal((await app.show(paid)).body.status, 'OPEN');
});

test('without the feature every request is answered with 501', async () => {
  const paid = await off.pay();
  for (const response of [await off.open(paid), await off.show(paid), await off.withdraw(paid)]) {
    assert.deepEqual([response.status, response.body.code], [501, 'NOT_AVAILABLE']);
  }
});
