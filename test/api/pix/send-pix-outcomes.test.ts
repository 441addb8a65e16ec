/** What else can become of the two calls of a send: refused tokens, faults, contradictions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolvePix, riskOfFailing } from '../../../src/operator/pix-resolve.ts';
import { ProviderError, type ProviderErrorOptions } from '../../../src/provider/errors.ts';
import type { PaymentReceipt } from '../../../src/provider/provider.ts';
import { sweepPixTransactions } from '../../../src/settlement/sweep.ts';
import { refused } from '../../../src/provider/sandbox/bank/response.ts';
import { givenCustomer, logIn, type TestUser } from '../../support/factories.ts';
import { eventually, startPixApp } from './pix-app.ts';

const app = await startPixApp();

const body = { pix_key: 'ana@example.com', amount: 10 };
const begun = ['RESERVED', 'RESOLVED', 'PAYING 1'];

/** The id of the one transaction of a user, for responses that do not carry it. */
async function readOnlyId({ id }: TestUser): Promise<string> {
  const rows = await app.rows<{ id: string }>(
    'select id from pix_transactions where user_id = $1',
    [id],
  );
  assert.ok(rows.length === 1 && rows[0]);
  return rows[0].id;
}

function nextOf({ headers }: { readonly headers: Headers }): (string | null)[] {
  return [headers.get('pix-outcome'), headers.get('pix-next')];
}

async function readSessionStatus({ id }: TestUser): Promise<string | undefined> {
  const [session] = await app.rows<{ status: string }>(
    'select status from banking_sessions where user_id = $1 order by created_at desc, id limit 1',
    [id],
  );
  return session?.status;
}

test('a token refused at the look-up: 401, unknown, and the same key pays after a new login', async (t) => {
  const user = await givenCustomer(app);
  app.bank.expireCustomerTokens(user.email);
  const payments = t.mock.method(app.bank, 'pay');
  const sent = await app.throughTime(app.send(user, body, { key: 'refused' }));
  assert.equal(sent.status, 401);
  assert.deepEqual(Object.keys(sent.body), ['message']);
  assert.deepEqual(nextOf(sent), ['unknown', 'log-in']);
  assert.equal(payments.mock.callCount(), 0);
  const stored = await app.stored(await readOnlyId(user));
  assert.deepEqual([stored.status, stored.phase, stored.outcome], ['PROCESSING', 'RESERVED', null]);
  assert.equal(await readSessionStatus(user), 'EXPIRED');
  assert.equal((await app.call('/accounts/me', { token: user.token })).status, 401);

  const token = await logIn(app, user.email);
  const again = await app.send({ ...user, token }, body, { key: 'refused' });
  assert.deepEqual([again.status, again.body.transaction_id], [200, stored.id]);
  assert.deepEqual(nextOf(again), ['accepted', 'wait']);
  assert.equal(payments.mock.callCount(), 1);
});

test('without a login the send of a token refused at the look-up is abandoned, and its key says so', async (t) => {
  const user = await givenCustomer(app);
  app.bank.expireCustomerTokens(user.email);
  await app.throughTime(app.send(user, body, { key: 'left' }));
  await app.clock.advance(180_000);
  await sweepPixTransactions(app.context, { requestId: 'test' });
  const payments = t.mock.method(app.bank, 'pay');
  const token = await logIn(app, user.email);
  const again = await app.send({ ...user, token }, body, { key: 'left' });
  assert.deepEqual([again.status, again.body.status], [200, 'FAILED']);
  assert.equal(again.body.failure?.code, 'ABANDONED');
  assert.deepEqual(nextOf(again), ['not_sent', 'new-key']);
  assert.equal(payments.mock.callCount(), 0);
});

test('a repeat after the login and the sweep at once: one of them has the send, and the key tells which', async () => {
  const user = await givenCustomer(app);
  app.bank.expireCustomerTokens(user.email);
  await app.throughTime(app.send(user, body, { key: 'raced' }));
  await app.clock.advance(180_000);
  const token = await logIn(app, user.email);
  const [again] = await Promise.all([
    app.send({ ...user, token }, body, { key: 'raced' }),
    sweepPixTransactions(app.context, { requestId: 'test' }),
  ]);
  const { status } = await app.stored(await readOnlyId(user));
  const executed = await app.executed({ ...user, token });
  assert.equal(again.status, 200);
  assert.equal(again.headers.get('pix-next'), status === 'FAILED' ? 'new-key' : 'wait');
  assert.equal(executed.length, status === 'FAILED' ? 0 : 1);
});

test('a token that was sealed under another key: 401, and the same key pays after a new login', async (t) => {
  const user = await givenCustomer(app);
  const lookUps = t.mock.method(app.bank, 'lookUpKey');
  const before = await app.send(user, body, { key: 'readable' });
  await app.rows(`update banking_sessions set sealed_token = '\\x00' where user_id = $1`, [
    user.id,
  ]);
  const calls = lookUps.mock.callCount();
  const sent = await app.send(user, body, { key: 'unreadable' });
  assert.deepEqual([sent.status, sent.headers.get('pix-outcome')], [401, 'unknown']);
  assert.equal(lookUps.mock.callCount(), calls);
  // A payment of before is replied without the provider.
  const repeat = await app.send(user, body, { key: 'readable' });
  assert.deepEqual(repeat.body, before.body);

  const token = await logIn(app, user.email);
  const again = await app.send({ ...user, token }, body, { key: 'unreadable' });
  assert.deepEqual([again.status, again.headers.get('pix-outcome')], [200, 'accepted']);
  assert.deepEqual(await app.timeline(again.body.transaction_id), [...begun, 'ACCEPTED 1 2xx']);
});

test('a look-up that refuses the token for another reason: 401, unknown, RESERVED', async (t) => {
  const user = await givenCustomer(app);
  t.mock.method(app.bank, 'lookUpKey', () => refused({ kind: 'token', reason: 'InvalidToken' }));
  const sent = await app.throughTime(app.send(user, body));
  assert.deepEqual([sent.status, ...nextOf(sent)], [401, 'unknown', 'log-in']);
  const { status, phase } = await app.stored(await readOnlyId(user));
  assert.deepEqual([status, phase], ['PROCESSING', 'RESERVED']);
});

test('one 401 at the payment: it is sent once more with the same token, and the session stays', async (t) => {
  const user = await givenCustomer(app);
  const original = app.bank.pay.bind(app.bank);
  const payments = t.mock.method(app.bank, 'pay', (...args: Parameters<typeof original>) =>
    payments.mock.callCount() === 0
      ? refused({ kind: 'token', reason: 'InvalidToken' })
      : original(...args),
  );
  const sent = await app.throughTime(app.send(user, body));
  assert.deepEqual([sent.status, sent.headers.get('pix-outcome')], [200, 'accepted']);
  assert.equal(payments.mock.callCount(), 2);
  assert.deepEqual(await app.executed(user), [sent.body.end_to_end]);
  assert.equal(await readSessionStatus(user), 'ACTIVE');
});

test('a token that a login has renewed meanwhile: the newer one pays', async (t) => {
  const user = await givenCustomer(app);
  const { lookUpKey } = app.bank;
  const lookUps = t.mock.method(
    app.bank,
    'lookUpKey',
    async (...question: Parameters<typeof lookUpKey>) => {
      if (lookUps.mock.callCount() === 0) {
        app.bank.expireCustomerTokens(user.email);
        await logIn(app, user.email);
      }
      return lookUpKey.apply(app.bank, question);
    },
  );
  const sent = await app.send(user, body);
  assert.equal(sent.headers.get('pix-outcome'), 'accepted');
  assert.equal(lookUps.mock.callCount(), 2);
  assert.deepEqual(await app.executed(user), [sent.body.end_to_end]);
});

for (const [fault, code, seen] of [
  ['hang', 'PROVIDER_TIMEOUT', '3 timeout'],
  ['garbled', 'PROVIDER_INVALID_RESPONSE', '1 invalid'],
  ['internal_error', 'PROVIDER_UNAVAILABLE', '3 5xx'],
] as const) {
  test(`a look-up that ends in a fault (${fault}): 502 ${code}, not_sent, FAILED`, async (t) => {
    const user = await givenCustomer(app);
    t.mock.method(app.bank, 'lookUpKey', async () => ({ outcome: 'faulty', fault }) as const);
    const sent = await app.throughTime(app.send(user, body));
    assert.deepEqual([sent.status, sent.body.code], [502, code]);
    assert.equal(sent.headers.get('pix-outcome'), 'not_sent');
    const id = await readOnlyId(user);
    assert.equal((await app.stored(id)).status, 'FAILED');
    assert.deepEqual(await app.timeline(id), ['RESERVED', `SETTLED ${seen} look_up_failed`]);
  });
}

/** Makes the next payments fail in one way, above time-outs and retries. */
function failPayments(t: { mock: typeof test.mock }, options: ProviderErrorOptions): void {
  t.mock.method(app.context.provider, 'pay', async () => {
    throw new ProviderError(options);
  });
}

test('a payment that was provably not sent: 502, not_sent, FAILED', async (t) => {
  const user = await givenCustomer(app);
  const code = 'PROVIDER_UNAVAILABLE';
  failPayments(t, { outcome: 'not_sent', code, statusClass: 'connect' });
  const sent = await app.send(user, body);
  assert.deepEqual([sent.status, sent.body.code], [502, code]);
  assert.equal(sent.headers.get('pix-outcome'), 'not_sent');
  const stored = await app.stored(await readOnlyId(user));
  assert.deepEqual([stored.status, stored.phase], ['FAILED', 'SETTLED']);
  assert.deepEqual(await app.timeline(stored.id), [...begun, 'SETTLED 1 connect not_sent']);
});

const codes = [
  'PROVIDER_UNAVAILABLE',
  'PROVIDER_TIMEOUT',
  'PROVIDER_REJECTED',
  'PIX_KEY_NOT_FOUND',
  'INSUFFICIENT_FUNDS',
  'PROVIDER_RATE_LIMITED',
  'PROVIDER_INVALID_RESPONSE',
] as const;

for (const code of codes) {
  test(`a payment that is refused: 502 ${code}, rejected, FAILED`, async (t) => {
    const user = await givenCustomer(app);
    failPayments(t, { outcome: 'rejected', code, statusClass: '4xx', retryAfterMs: 1_500 });
    const sent = await app.send(user, body);
    assert.deepEqual([sent.status, sent.body.code], [502, code]);
    assert.equal(sent.headers.get('pix-outcome'), 'rejected');
    assert.equal(sent.headers.get('retry-after'), '2');
    const stored = await app.stored(await readOnlyId(user));
    assert.deepEqual([stored.status, stored.phase], ['FAILED', 'REJECTED']);
    assert.equal(stored.failure_code, code);
  });

  test(`a payment of unknown outcome (${code}): 200 PROCESSING, never FAILED`, async (t) => {
    const user = await givenCustomer(app);
    failPayments(t, { outcome: 'unknown', code, statusClass: 'reset' });
    const sent = await app.send(user, body);
    assert.deepEqual([sent.status, sent.body.status], [200, 'PROCESSING']);
    assert.equal(sent.headers.get('pix-outcome'), 'unknown');
    assert.equal((await app.stored(sent.body.transaction_id)).phase, 'UNKNOWN');
    assert.deepEqual(await app.timeline(sent.body.transaction_id), [...begun, 'UNKNOWN 1 reset']);
  });
}

test('a receipt with foreign ids: the outcome is unknown', async (t) => {
  const user = await givenCustomer(app);
  t.mock.method(app.bank, 'pay', async () => {
    const clientRequestId = 'of-somebody-else';
    const endToEnd = 'E11165756202605241200abcdefghijk';
    const value = { endToEnd, clientRequestId, providerTxid: 'x', status: 'PROCESSING' } as const;
    return { outcome: 'done', value } as const;
  });
  const sent = await app.send(user, body);
  assert.deepEqual([sent.status, sent.body.status], [200, 'PROCESSING']);
  assert.equal(sent.headers.get('pix-outcome'), 'unknown');
  assert.deepEqual(await app.timeline(sent.body.transaction_id), [...begun, 'UNKNOWN 1 invalid']);
});

test('a defect of our own after the payment may have been sent: its outcome is unknown', async (t) => {
  const user = await givenCustomer(app);
  t.mock.method(app.context.provider, 'pay', async () => {
    throw new TypeError('a defect');
  });
  const sent = await app.send(user, body);
  assert.deepEqual([sent.status, sent.body.status], [200, 'PROCESSING']);
  assert.equal(sent.headers.get('pix-outcome'), 'unknown');
  assert.equal((await app.stored(sent.body.transaction_id)).phase, 'UNKNOWN');
});

test('an end-to-end id that another payment has: 502, not_sent, and nothing is paid', async (t) => {
  const user = await givenCustomer(app);
  const first = await app.send(user, body);
  const owner = { name: null, document: null, ispb: null };
  const value = { endToEnd: first.body.end_to_end, ...owner };
  t.mock.method(app.bank, 'lookUpKey', async () => ({ outcome: 'done', value }) as const);
  const payments = t.mock.method(app.bank, 'pay');
  const sent = await app.send(user, body, { key: 'second' });
  assert.deepEqual([sent.status, sent.body.code], [502, 'PROVIDER_INVALID_RESPONSE']);
  assert.equal(sent.headers.get('pix-outcome'), 'not_sent');
  assert.equal(payments.mock.callCount(), 0);
  const again = await app.send(user, body, { key: 'second' });
  assert.deepEqual([again.status, again.body.status], [200, 'FAILED']);
  assert.equal((await app.stored(first.body.transaction_id)).status, 'PROCESSING');
});

test('a receipt that says COMPLETED settles the payment at once', async (t) => {
  const user = await givenCustomer(app);
  const { pay } = app.context.provider;
  t.mock.method(
    app.context.provider,
    'pay',
    async (...order: Parameters<typeof pay>): Promise<PaymentReceipt> => ({
      ...(await pay(...order)),
      status: 'COMPLETED',
    }),
  );
  const sent = await app.send(user, body);
  assert.deepEqual([sent.status, sent.body.status], [200, 'COMPLETED']);
  assert.equal(sent.headers.get('pix-outcome'), 'accepted');
  const timeline = [...begun, 'ACCEPTED 1 2xx', 'SETTLED COMPLETED'];
  assert.deepEqual(await app.timeline(sent.body.transaction_id), timeline);
});

/**
 * Pays, has the webhook report the end before the response, and then answers otherwise. A completed
 * payment is settled by then; a failure waits for the response.
 */
function contradict(
  t: { mock: typeof test.mock },
  settled: 'COMPLETED' | 'FAILED',
  respond: (receipt: PaymentReceipt) => PaymentReceipt,
): void {
  const { pay } = app.context.provider;
  t.mock.method(app.context.provider, 'pay', async (...order: Parameters<typeof pay>) => {
    const receipt = await pay(...order);
    await app.bank.settle(receipt.endToEnd, settled);
    await eventually(async () => {
      const [row] = await app.rows<{ status: string }>(
        `select event.status from webhook_events event
          where position($1 in convert_from(event.payload, 'UTF8')) > 0`,
        [receipt.endToEnd],
      );
      return row?.status === (settled === 'FAILED' ? 'parked' : 'processed');
    });
    return respond(receipt);
  });
}

function refuse(): never {
  throw new ProviderError({ outcome: 'rejected', code: 'PROVIDER_REJECTED', statusClass: '4xx' });
}

test('a refusal after the webhook has completed it: 200 COMPLETED, and an anomaly', async (t) => {
  const user = await givenCustomer(app);
  const anomalies = await app.anomalies();
  contradict(t, 'COMPLETED', refuse);
  const sent = await app.send(user, body);
  assert.deepEqual([sent.status, sent.body.status], [200, 'COMPLETED']);
  assert.equal(sent.headers.get('pix-outcome'), 'accepted');
  assert.equal(await app.anomalies(), anomalies + 1);
  assert.ok(app.logLines.some((line) => line.includes('contradicts a settled payment')));
  const timeline = await app.timeline(sent.body.transaction_id);
  assert.deepEqual(timeline, [
    ...begun,
    'SETTLED COMPLETED event',
    'ANOMALY contradicted_by_FAILED',
  ]);
});

test('a receipt that says COMPLETED after the webhook has reported a failure: 200 COMPLETED, and an anomaly', async (t) => {
  const user = await givenCustomer(app);
  const anomalies = await app.anomalies();
  contradict(t, 'FAILED', (receipt) => ({ ...receipt, status: 'COMPLETED' }));
  const sent = await app.send(user, body);
  assert.deepEqual([sent.status, sent.body.status], [200, 'COMPLETED']);
  await app.throughPolls(eventually(async () => (await app.anomalies()) === anomalies + 1));
});

test('an acceptance after the webhook has reported a failure: 200 PROCESSING, and then FAILED', async (t) => {
  const user = await givenCustomer(app);
  const anomalies = await app.anomalies();
  contradict(t, 'FAILED', (receipt) => receipt);
  const sent = await app.send(user, body);
  assert.deepEqual([sent.status, sent.body.status], [200, 'PROCESSING']);
  const { status } = await app.throughPolls(app.settled(sent.body.transaction_id));
  assert.equal(status, 'FAILED');
  const timeline = [...begun, 'ACCEPTED 1 2xx', 'SETTLED FAILED event'];
  assert.deepEqual(await app.timeline(sent.body.transaction_id), timeline);
  assert.equal(await app.anomalies(), anomalies);
});

test('an acceptance after the webhook has settled it is no contradiction', async (t) => {
  const user = await givenCustomer(app);
  const anomalies = await app.anomalies();
  contradict(t, 'COMPLETED', (receipt) => receipt);
  const sent = await app.send(user, body);
  assert.deepEqual([sent.status, sent.body.status], [200, 'COMPLETED']);
  assert.equal(sent.headers.get('pix-outcome'), 'accepted');
  assert.equal(await app.anomalies(), anomalies);
});

test('a refusal after the webhook has reported a failure: 502, rejected', async (t) => {
  const user = await givenCustomer(app);
  contradict(t, 'FAILED', refuse);
  const sent = await app.send(user, body);
  assert.deepEqual([sent.status, sent.body.code], [502, 'PROVIDER_REJECTED']);
  assert.equal(sent.headers.get('pix-outcome'), 'rejected');
  const timeline = await app.timeline(sent.body.transaction_id);
  assert.deepEqual(timeline, [...begun, 'REJECTED 1 4xx']);
});

/** The call takes so long that the sweep has moved it to UNKNOWN, and it has been settled since. */
function endMeanwhile(
  t: { mock: typeof test.mock },
  end: (id: string, endToEnd: string) => Promise<unknown>,
): void {
  const { pay } = app.context.provider;
  t.mock.method(app.context.provider, 'pay', async (...order: Parameters<typeof pay>) => {
    const receipt = await pay(...order);
    const [row] = await app.rows<{ id: string }>(
      `update pix_transactions set phase = 'UNKNOWN', outcome = 'unknown', claimed_until = null
        where end_to_end = $1 returning id`,
      [receipt.endToEnd],
    );
    await end(row?.id ?? '', receipt.endToEnd);
    return receipt;
  });
}

test('an acceptance after an operator has called the payment failed: 200 FAILED, and an anomaly', async (t) => {
  const user = await givenCustomer(app);
  const anomalies = await app.anomalies();
  endMeanwhile(t, (id) =>
    resolvePix.run(
      app.context,
      { id, as: 'failed', reason: 'ticket 7', confirm: riskOfFailing, despiteStatement: true },
      { operator: 'ana', progress: () => undefined },
    ),
  );
  const sent = await app.send(user, body);
  assert.deepEqual([sent.status, sent.body.status], [200, 'FAILED']);
  const timeline = await app.timeline(sent.body.transaction_id);
  assert.equal(timeline.at(-1), 'ANOMALY contradicted_by_ACCEPTED');
  assert.equal(await app.anomalies(), anomalies + 1);
});

test('an acceptance after an event has ended the payment: 200 FAILED, and no anomaly', async (t) => {
  const user = await givenCustomer(app);
  const anomalies = await app.anomalies();
  endMeanwhile(t, async (id, endToEnd) => {
    await app.bank.settle(endToEnd, 'FAILED');
    await app.settled(id);
  });
  const sent = await app.send(user, body);
  assert.deepEqual([sent.status, sent.body.status], [200, 'FAILED']);
  const timeline = await app.timeline(sent.body.transaction_id);
  assert.deepEqual(timeline, [...begun, 'SETTLED FAILED event']);
  assert.equal(await app.anomalies(), anomalies);
});

test('time alone never makes an unknown payment FAILED, nor does a sweep', async (t) => {
  const user = await givenCustomer(app);
  t.mock.method(
    app.bank,
    'pay',
    async () => ({ outcome: 'faulty', fault: 'internal_error' }) as const,
  );
  const sent = await app.throughTime(app.send(user, body, { key: 'for-ever' }));
  assert.equal(sent.headers.get('pix-outcome'), 'unknown');
  await app.clock.skip(10 * 60_000);
  await eventually(async () => {
    await app.clock.advance(100);
    const [sweep] = await app.rows<{ run_at: Date }>(
      "select run_at from jobs where kind = 'sweep-pix'",
    );
    return sweep !== undefined && sweep.run_at > app.clock.now();
  });
  const again = await app.send(user, body, { key: 'for-ever' });
  assert.deepEqual([again.status, again.body.status], [200, 'PROCESSING']);
  assert.equal((await app.stored(sent.body.transaction_id)).phase, 'UNKNOWN');
});

test('an open breaker: 502 PROVIDER_UNAVAILABLE, not_sent, without a call to the bank', async (t) => {
  const user = await givenCustomer(app);
  const down = { ...body, pix_key: 'unavailable@ponte.test' };
  for (let times = 0; times < 4; times += 1) await app.throughTime(app.send(user, down));
  const lookUps = t.mock.method(app.bank, 'lookUpKey');
  const sent = await app.send(user, body);
  assert.deepEqual([sent.status, sent.body.code], [502, 'PROVIDER_UNAVAILABLE']);
  assert.equal(sent.headers.get('pix-outcome'), 'not_sent');
  assert.equal(lookUps.mock.callCount(), 0);
});
