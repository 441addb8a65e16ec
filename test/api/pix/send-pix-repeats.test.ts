/** Attempts after the first: each is made only while this process may make the payment. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { connectionLost } from '../../support/lost-response.ts';
import { givenCustomer } from '../../support/factories.ts';
import { mockQueries, type RunAny } from '../../support/intercepted.ts';
import { eventually } from './pix-app.ts';
import { startReturnApp } from './return-app.ts';

// Longer than what `throughTime` lets pass: only back-offs end by it.
const timeoutMs = 2_000;

// Some of these tests let an hour pass, which must not end the session of the others.
const app = await startReturnApp({
  environment: { PROVIDER_TIMEOUT_MS: String(timeoutMs), JWT_TTL_SECONDS: '86400' },
});

const user = await givenCustomer(app);

const body = { pix_key: 'ana@example.com', amount: 10 };
const begun = ['RESERVED', 'RESOLVED', 'PAYING 1'];

type Pay = typeof app.bank.pay;

/** What is done while the first attempt is at the bank, which then answers 500. */
type Meanwhile = (order: {
  readonly endToEnd: string;
  readonly clientRequestId: string;
}) => unknown;

/** The bank fails the first attempt and carries out the next one. */
function failFirst(t: TestContext, meanwhile: Meanwhile = () => undefined) {
  const { pay } = app.bank;
  const payments = t.mock.method(app.bank, 'pay', async (...call: Parameters<Pay>) => {
    if (payments.mock.callCount() > 0) return pay.apply(app.bank, call);
    await meanwhile(call[1]);
    return { outcome: 'faulty', fault: 'internal_error' } as const;
  });
  return payments;
}

const send = (key: string) =>
  app.throughTime(app.send(user, body, { key: key.replaceAll(' ', '-') }));

const post = async (event: Record<string, unknown>) => {
  const response = await app.call('/webhooks/provider', { method: 'POST', body: event });
  assert.equal(response.status, 200);
};

/** A proxy between the service and its database. */
function onStatement(
  t: TestContext,
  name: string,
  handle: (rows: () => ReturnType<RunAny>) => ReturnType<RunAny>,
): void {
  mockQueries(t, app.context.db, (run) => (statement, parameters) => {
    const rows = () => run(statement, parameters);
    return statement.name === name ? handle(rows) : rows();
  });
}

test('a payment in PAYING has the claim of its process, which a call fits into', async (t) => {
  const { pay } = app.bank;
  const claims: number[] = [];
  t.mock.method(app.bank, 'pay', async (...call: Parameters<Pay>) => {
    const [row] = await app.rows<{ claimed_until: Date | null }>(
      `select claimed_until from pix_transactions where end_to_end = $1 and phase = 'PAYING'`,
      [call[1].endToEnd],
    );
    claims.push((row?.claimed_until?.getTime() ?? 0) - app.clock.now().getTime());
    return pay.apply(app.bank, call);
  });
  await app.send(user, body, { key: 'claimed' });
  // Three attempts, one more time-out in the queue, and two back-offs.
  assert.deepEqual(claims, [4 * timeoutMs + 2 * 1_000]);
});

test('a repeat is stored before it is sent, and the acceptance has the number of attempts', async (t) => {
  const seen: string[][] = [];
  const payments = failFirst(t);
  const { pay } = app.bank;
  t.mock.method(app.bank, 'pay', async (...call: Parameters<Pay>) => {
    const [row] = await app.rows<{ id: string }>(
      'select id from pix_transactions where end_to_end = $1',
      [call[1].endToEnd],
    );
    seen.push(await app.timeline(row?.id ?? ''));
    return pay.apply(app.bank, call);
  });
  const sent = await send('repeated');
  assert.deepEqual([sent.status, sent.body.status], [200, 'PROCESSING']);
  const repeated = [...begun, 'PAYING 2 5xx after_unknown'];
  assert.deepEqual(seen, [begun, repeated]);
  const timeline = await app.timeline(sent.body.transaction_id);
  assert.deepEqual(timeline, [...repeated, 'ACCEPTED 2 2xx']);
  assert.equal(payments.mock.callCount(), 2);
  const { claimed_until: claimedUntil } = await app.stored(sent.body.transaction_id);
  assert.equal(claimedUntil, null);
});

const failure = { event: 'PIX_PAYMENT_OUT', status: 'ERROR', amount: 10, error: { code: 'AC03' } };

const ids: Readonly<Record<string, (order: Parameters<Meanwhile>[0]) => object>> = {
  'the end-to-end id': ({ endToEnd }) => ({ endToEnd }),
  'both ids': ({ endToEnd, clientRequestId }) => ({ endToEnd, clientRequestId }),
};

/** Until an event about the payment is processed: it waits for the end of the call. */
const waits = ({ endToEnd, clientRequestId }: Parameters<Meanwhile>[0]) =>
  eventually(async () => {
    const waiting = await app.rows('select from webhook_waits where id_value = any($1)', [
      [endToEnd, clientRequestId],
    ]);
    return waiting.length > 0;
  });

for (const [title, chooseIds] of Object.entries(ids)) {
  test(`a failure that is reported between two attempts, by ${title}: no further attempt, and it has failed`, async (t) => {
    const payments = failFirst(t, async (order) => {
      await post({ ...failure, ...chooseIds(order) });
      await waits(order);
    });
    const anomalies = await app.anomalies();
    const sent = await send(`failed by ${title}`);
    assert.equal(payments.mock.callCount(), 1);
    assert.equal(sent.status, 200);
    const settled = await app.throughPolls(app.settled(sent.body.transaction_id));
    const { status, outcome, end_to_end: endToEnd } = settled;
    assert.deepEqual([status, outcome], ['FAILED', 'rejected']);
    const end = ['UNKNOWN 1 5xx', 'SETTLED FAILED event'];
    assert.deepEqual(await app.timeline(sent.body.transaction_id), [...begun, ...end]);
    assert.ok(!(await app.executed(user)).includes(endToEnd ?? ''));
    assert.equal(await app.anomalies(), anomalies);
  });
}

test('a failure that is reported between two attempts, by the key alone: no further attempt, and it is open', async (t) => {
  const payments = failFirst(t, async (order) => {
    await post({ ...failure, clientRequestId: order.clientRequestId });
    await waits(order);
  });
  const sent = await send('failed by its key');
  assert.equal(payments.mock.callCount(), 1);
  const { transaction_id: id } = sent.body;
  await app.throughPolls(
    eventually(async () => (await app.timeline(id)).at(-1) === 'ANOMALY weak_id event'),
  );
  assert.equal((await app.stored(id)).status, 'PROCESSING');
});

test('a failure that was received before the payment was created is not of it by the key alone', async (t) => {
  const events: { id: string }[] = [];
  failFirst(t, async ({ clientRequestId }) => {
    await post({ ...failure, clientRequestId });
    await eventually(async () => {
      const waiting = await app.rows<{ id: string }>(
        `update webhook_events set received_at = received_at - interval '1 second'
          where id = (select event_id from webhook_waits where id_value = $1) returning id`,
        [clientRequestId],
      );
      return events.push(...waiting) === 1;
    });
  });
  const sent = await send('failed before');
  await eventually(async () => {
    const [event] = await app.rows<{ status: string }>(
      'select status from webhook_events where id = $1',
      [events[0]?.id],
    );
    return event?.status === 'parked';
  });
  // The event may be judged before the second attempt or after it: neither may be ended by it.
  const timeline = await app.timeline(sent.body.transaction_id);
  assert.deepEqual(timeline.slice(0, begun.length), begun);
  assert.ok(!timeline.some((entry) => /SETTLED|ANOMALY/u.test(entry)), timeline.join());
  assert.equal((await app.stored(sent.body.transaction_id)).status, 'PROCESSING');
});

test('a payment that is reported between two attempts: no further attempt, and 200 COMPLETED', async (t) => {
  const payments = failFirst(t, async ({ endToEnd }) => {
    await post({ event: 'PIX_PAYMENT_OUT', status: 'CONFIRMED', amount: 10, endToEnd });
    await eventually(async () => {
      const [row] = await app.rows<{ status: string }>(
        'select status from pix_transactions where end_to_end = $1',
        [endToEnd],
      );
      return row?.status === 'COMPLETED';
    });
  });
  const sent = await send('completed between');
  assert.deepEqual([sent.status, sent.body.status], [200, 'COMPLETED']);
  assert.equal(payments.mock.callCount(), 1);
});

test('a failure that says "duplicate" between two attempts stops none and settles nothing', async (t) => {
  const payments = failFirst(t, ({ endToEnd }) =>
    post({ event: 'PIX_PAYMENT_OUT', status: 'ERROR', endToEnd, error: { code: 'PBE300' } }),
  );
  const sent = await send('duplicate between');
  assert.deepEqual([sent.status, sent.body.status], [200, 'PROCESSING']);
  assert.equal(sent.headers.get('pix-outcome'), 'accepted');
  assert.equal(payments.mock.callCount(), 2);
});

/** A payment whose first attempt is unknown, and a failure that is reported after the repeat. */
async function failedAfterRepeat(t: TestContext, key: string) {
  failFirst(t);
  const { body: sent } = await send(key);
  const { end_to_end: endToEnd } = await app.stored(sent.transaction_id);
  await post({ ...failure, endToEnd });
  assert.deepEqual(await app.resultsFor(sent.transaction_id, 1), ['anomaly']);
  assert.equal((await app.stored(sent.transaction_id)).phase, 'ACCEPTED');
  return { id: String(sent.transaction_id), endToEnd };
}

test('a failure that may be that of an earlier attempt waits for the word that the payment was made', async (t) => {
  const anomalies = await app.anomalies();
  const { id, endToEnd } = await failedAfterRepeat(t, 'failed late');
  await post({ event: 'PIX_PAYMENT_OUT', status: 'CONFIRMED', amount: 10, endToEnd });
  assert.equal((await app.settled(id)).status, 'COMPLETED');
  await eventually(async () => (await app.anomalies()) === anomalies + 1);
});

/** Lets minutes pass, at most until a payment has ended; time stands still while a job runs. */
async function endWithin(id: string, minutes: number) {
  const untilMs = app.clock.now().getTime() + minutes * 60_000;
  await eventually(async () => {
    const running = await app.rows("select id from jobs where status = 'running'");
    if (running.length > 0) return false;
    const hasEnded = (await app.stored(id)).status !== 'PROCESSING';
    if (hasEnded || app.clock.now().getTime() >= untilMs) return true;
    await app.clock.skip(60_000);
    return false;
  });
  return (await app.stored(id)).status;
}

test('a failure that may be that of an earlier attempt waits for the statement', async (t) => {
  const { id } = await failedAfterRepeat(t, 'failed and listed');
  assert.equal(await endWithin(id, 14), 'COMPLETED');
});

test('a failure that may be that of an earlier attempt settles nothing, however long it waits', async (t) => {
  const { id } = await failedAfterRepeat(t, 'failed at last');
  const statement = t.mock.method(app.context.provider, 'statement', async () => ({ items: [] }));
  assert.equal(await endWithin(id, 40), 'PROCESSING');
  assert.ok(statement.mock.callCount() > 0);
});

const elsewhere: Readonly<Record<string, string>> = {
  'another claim': `claimed_until = claimed_until + interval '1 second'`,
  'no claim': 'claimed_until = null',
  'another phase': `phase = 'UNKNOWN', outcome = 'unknown'`,
};

for (const [title, change] of Object.entries(elsewhere)) {
  test(`a payment with ${title} is not repeated`, async (t) => {
    const payments = failFirst(t, ({ endToEnd }) =>
      app.rows(`update pix_transactions set ${change} where end_to_end = $1`, [endToEnd]),
    );
    const sent = await send(`under ${title}`);
    assert.deepEqual([sent.status, sent.body.status], [200, 'PROCESSING']);
    assert.equal(sent.headers.get('pix-outcome'), 'unknown');
    assert.equal(payments.mock.callCount(), 1);
    const { phase } = await app.stored(sent.body.transaction_id);
    assert.equal(phase, 'UNKNOWN');
  });
}

test('a payment of an account that was blocked during the first attempt is not repeated', async (t) => {
  const payer = await givenCustomer(app);
  const payments = failFirst(t, () =>
    app.rows("update accounts set status = 'BLOCKED' where user_id = $1", [payer.id]),
  );
  const sent = await app.throughTime(app.send(payer, body));
  assert.deepEqual([sent.status, sent.body.status], [200, 'PROCESSING']);
  assert.equal(sent.headers.get('pix-outcome'), 'unknown');
  assert.equal(payments.mock.callCount(), 1);
  const timeline = await app.timeline(sent.body.transaction_id);
  assert.deepEqual(timeline, [...begun, 'UNKNOWN 1 5xx']);
});

test('a payment is not repeated while the database cannot be read', async (t) => {
  onStatement(t, 'pix-repeat', () => Promise.reject(connectionLost()));
  const payments = failFirst(t);
  const sent = await send('without a database');
  assert.deepEqual([sent.status, sent.body.status], [200, 'PROCESSING']);
  assert.equal(sent.headers.get('pix-outcome'), 'unknown');
  assert.equal(payments.mock.callCount(), 1);
  const timeline = await app.timeline(sent.body.transaction_id);
  assert.deepEqual(timeline, [...begun, 'UNKNOWN 1 5xx']);
});

test('a process that was suspended after PAYING sends nothing when its claim has expired', async (t) => {
  const payments = t.mock.method(app.bank, 'pay');
  let isPaying = false;
  onStatement(t, 'pix-step', async (rows) => {
    const stepped = await rows();
    if (!isPaying) await app.clock.skip(10 * 60_000);
    isPaying = true;
    return stepped;
  });
  const sent = await app.send(user, body, { key: 'stood-still' });
  assert.deepEqual([sent.status, sent.headers.get('pix-outcome')], [502, 'not_sent']);
  assert.equal(payments.mock.callCount(), 0);
});

test('a claim that is confirmed after another request has taken the send over says nothing of its payment', async (t) => {
  const { pay } = app.bank;
  const [atBank, mayAnswer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const payments = t.mock.method(app.bank, 'pay', async (...call: Parameters<Pay>) => {
    atBank.resolve();
    await mayAnswer.promise;
    return pay.apply(app.bank, call);
  });
  const key = 'taken-over';
  let second: ReturnType<typeof app.send> | undefined;
  onStatement(t, 'pix-reserve-send', async (rows) => {
    const reserved = await rows();
    if (second) return reserved;
    await app.clock.skip(30_000);
    second = app.send(user, body, { key });
    await atBank.promise;
    throw connectionLost();
  });
  const first = await app.send(user, body, { key });
  assert.deepEqual([first.status, first.body.status], [200, 'PROCESSING']);
  assert.notEqual(first.headers.get('pix-outcome'), 'not_sent');
  mayAnswer.resolve();
  assert.equal((await second)?.body.status, 'PROCESSING');
  assert.equal(payments.mock.callCount(), 1);
  const timeline = await app.timeline(first.body.transaction_id);
  assert.deepEqual(timeline, [...begun, 'ACCEPTED 1 2xx']);
});

/** The first claim is stored while the next call waits for its row, which then sees nothing. */
function storeLate(t: TestContext, name: string): void {
  let isFirst = true;
  onStatement(t, name, async (rows) => {
    const reserved = await rows();
    if (!isFirst) return reserved;
    isFirst = false;
    await app.clock.skip(1_000);
    return reserved.map((row) => Object.assign(row, { reserved: null, id: null }));
  });
}

for (const what of ['RESERVED', 'PAYING']) {
  test(`a claim that is stored late as ${what} is that of its request`, async (t) => {
    const payments = t.mock.method(app.bank, 'pay');
    const looked = { token: user.token, body: { pix_key: body.pix_key } };
    const lookUpId = (await app.call('/pix/lookup', looked)).body.lookup_id;
    storeLate(t, 'pix-reserve-send');
    const order = { ...body, ...(what === 'PAYING' && { lookup_id: lookUpId }) };
    const sent = await app.send(user, order, { key: `late-${what}` });
    assert.equal(sent.headers.get('pix-outcome'), 'accepted', JSON.stringify(sent.body));
    assert.equal(payments.mock.callCount(), 1);
    const timeline = await app.timeline(sent.body.transaction_id);
    assert.deepEqual(timeline, [...begun, 'ACCEPTED 1 2xx']);
  });
}

test('a return whose claim is stored late is made by its request', async (t) => {
  const received = await app.givenReceived(user);
  storeLate(t, 'pix-reserve-return');
  const returned = await app.giveBack(user, received.id, 10);
  assert.equal(returned.headers.get('pix-outcome'), 'accepted', JSON.stringify(returned.body));
  assert.equal(returned.headers.get('idempotency-replayed'), null);
  assert.deepEqual(app.returned(received.endToEnd), [[returned.body.return_id, 10]]);
});

test('a charge whose claim is stored late is made by its request', async (t) => {
  const charges = t.mock.method(app.bank, 'createCharge');
  storeLate(t, 'pix-reserve');
  const charged = await app.charge(user, { type: 'static', amount: 10 }, { key: 'late-charge' });
  assert.equal(charged.headers.get('idempotency-replayed'), null);
  assert.ok(charged.body.copy_paste ?? charged.body.qr_code, JSON.stringify(charged.body));
  assert.equal(charges.mock.callCount(), 1);
});
