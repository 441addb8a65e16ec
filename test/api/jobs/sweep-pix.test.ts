/** The sweep: ends what is known, and never guesses about money that may have left. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { calendarDay } from '../../../src/domain/calendar.ts';
import { sweepPix } from '../../../src/settlement/sweep-pix.ts';
import { moveTransaction } from '../../../src/ledger/move-repository.ts';
import { notUnderstood } from '../../../src/provider/errors.ts';
import type { DayRange, ProviderStatementItem as Item } from '../../../src/provider/provider.ts';
import { startPixApp, type StoredPix } from '../pix/pix-app.ts';
import { settleBy } from './settling.ts';
import { startTestApp } from '../../support/app.ts';
import { createTestDatabase } from '../../support/db.ts';
import { eventually } from '../../support/eventually.ts';
import { givenCustomer, logIn, readSessions, type TestUser } from '../../support/factories.ts';
import { passUntil } from '../../support/passing-time.ts';

const database = await createTestDatabase();
const app = await startPixApp({ environment: { JOBS: 'off' }, database });
after(() => database.drop());
// No queue is read here: the bank's webhooks settle nothing.
const { stored, clock } = app;

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const sweepJob = { id: '0', kind: 'sweep-pix', payload: {}, attempt: 1, worker: 'test' } as const;

const sweep = (context = app.context) => sweepPix.run(context, sweepJob);

async function givenSend(user: TestUser, key = 'ana@example.com', amount = 10.5) {
  const response = await app.throughTime(app.send(user, { pix_key: key, amount }));
  assert.equal(response.status, 200, JSON.stringify(response.body));
  return stored(response.body.transaction_id);
}

/** A send as a process that died in a phase has left it, touched so long ago. */
async function leftIn(
  user: TestUser,
  phase: string,
  left: { agoMs: number; claimed_until?: Date },
) {
  const { agoMs, ...changes } = left;
  const { id } = await givenSend(user);
  const at = new Date(clock.now().getTime() - agoMs);
  const columns = {
    phase,
    created_at: at,
    updated_at: at,
    outcome: null,
    provider_txid: null,
    claimed_until: null,
    ...changes,
  };
  const assignments = Object.keys(columns).map((column, index) => `${column} = $${index + 2}`);
  await app.rows(`update pix_transactions set ${assignments.join(', ')} where id = $1`, [
    id,
    ...Object.values(columns),
  ]);
  return id;
}

/** A send whose response was lost: the bank has executed it, and its outcome is not known. */
async function givenLost(user: TestUser, amount = 10.5): Promise<StoredPix> {
  const send = await givenSend(user, 'lost@ponte.test', amount);
  assert.equal(send.phase, 'UNKNOWN');
  return send;
}

const standing = ({ status, phase, outcome, failure_code: code }: StoredPix) => [
  status,
  phase,
  outcome,
  code,
];

const customer = await givenCustomer(app);

test('it runs every minute', () => assert.equal(sweepPix.everyMs, minuteMs));

for (const phase of ['RESERVED', 'RESOLVED']) {
  test(`a send that has been in ${phase} for two minutes fails: nothing was sent`, async () => {
    const id = await leftIn(customer, phase, { agoMs: 2 * minuteMs });
    await sweep();
    const failed = ['FAILED', 'SETTLED', 'not_sent', 'ABANDONED'];
    assert.deepEqual(standing(await stored(id)), failed);
    assert.equal((await app.timeline(id)).at(-1), 'SETTLED abandoned');
    await sweep();
    assert.equal((await app.timeline(id)).filter((line) => line === 'SETTLED abandoned').length, 1);
  });

  test(`a send in ${phase} that is younger, or that a process works on, is left alone`, async () => {
    const claimed = { claimed_until: new Date(clock.now().getTime() + 1) };
    const younger = await leftIn(customer, phase, { agoMs: 2 * minuteMs - 1 });
    const inWork = await leftIn(customer, phase, { agoMs: 60 * minuteMs, ...claimed });
    await sweep();
    for (const id of [younger, inWork]) assert.equal((await stored(id)).phase, phase);
    await clock.advance(1);
    await sweep();
    for (const id of [younger, inWork]) assert.equal((await stored(id)).status, 'FAILED');
  });
}

test('a send that enters PAYING after the sweep has read it does not fail', async (t) => {
  const id = await leftIn(customer, 'RESERVED', { agoMs: 2 * minuteMs });
  const { db } = app.context;
  const query = db.query.bind(db);
  t.mock.method(db, 'query', async (...[statement, parameters]: Parameters<typeof query>) => {
    const rows = await query(statement, parameters);
    if (statement.name === 'pix-stale') {
      await app.rows(
        `update pix_transactions set phase = 'PAYING', updated_at = $2
          where id = $1 and phase = 'RESERVED'`,
        [id, clock.now()],
      );
    }
    return rows;
  });
  await sweep();
  assert.deepEqual(standing(await stored(id)), ['PROCESSING', 'PAYING', null, null]);
});

test('a charge that was never made fails like a send', async () => {
  const charged = await app.charge(customer, { type: 'dynamic', amount: 5 });
  const { id } = await stored(charged.body.transaction_id);
  await app.rows(
    `update pix_transactions set phase = 'RESERVED', outcome = null, qr_code = null,
            copy_paste = null, provider_txid = null, created_at = $2, updated_at = $2
      where id = $1`,
    [id, new Date(clock.now().getTime() - 2 * minuteMs)],
  );
  await sweep();
  assert.deepEqual(standing(await stored(id)).slice(0, 3), ['FAILED', 'SETTLED', 'not_sent']);
});

test('a payment whose process died while it left is UNKNOWN, never FAILED', async () => {
  const silent = await givenCustomer(app);
  const old = await leftIn(silent, 'PAYING', { agoMs: 2 * minuteMs });
  const younger = await leftIn(silent, 'PAYING', { agoMs: 2 * minuteMs - 1 });
  // Of another amount than the bank's, so that the statement does not end it in the same sweep.
  await app.rows('update pix_transactions set amount = 11 where id = $1', [old]);
  await sweep();
  assert.deepEqual(standing(await stored(old)), ['PROCESSING', 'UNKNOWN', 'unknown', null]);
  assert.ok((await app.timeline(old)).includes('UNKNOWN process_died'));
  assert.equal((await stored(younger)).phase, 'PAYING');
});

/** The context with a provider that changes the statement of a user. */
function withStatement(
  user: TestUser,
  change: (items: readonly Item[], range: DayRange) => readonly Item[],
) {
  const { provider } = app.context;
  const statement: typeof provider.statement = async (request) => {
    const { items } = await provider.statement(request);
    const { start, end } = request;
    const changed = request.session.userId === user.id ? change(items, { start, end }) : items;
    const read = app.context.dialects.readStatement(changed, false);
    return { ...(read ?? assert.fail()), isFinal: true };
  };
  return { ...app.context, provider: { ...provider, statement } };
}

/** Lets days pass; the user logs in again, because tokens do not live that long. */
async function passDays(user: TestUser, days: number): Promise<TestUser> {
  await clock.advance(days * dayMs);
  return { ...user, token: await logIn(app, user.email) };
}

const tooLarge = (): never => {
  throw notUnderstood(new Error('a response of 2 MiB'));
};

/** The day so many days after the present one. */
const dayAfter = (days: number) => calendarDay(new Date(clock.now().getTime() + days * dayMs));

test('an accepted payment whose webhook is ten minutes late is completed by the statement', async () => {
  const send = await givenSend(customer, 'silent@ponte.test');
  await clock.advance(10 * minuteMs - 1);
  await sweep();
  assert.deepEqual(standing(await stored(send.id)), standing(send));
  await clock.advance(1);
  await sweep();
  assert.deepEqual(standing(await stored(send.id)), ['COMPLETED', 'SETTLED', 'accepted', null]);
  assert.equal((await app.timeline(send.id)).at(-1), 'SETTLED found_in_statement');
});

test('an accepted payment that the statement does not show stays PROCESSING, however old', async () => {
  const user = await givenCustomer(app);
  const send = await givenSend(user, 'silent@ponte.test');
  await passDays(user, 30);
  await sweep(withStatement(user, () => []));
  assert.deepEqual(standing(await stored(send.id)), standing(send));
});

test("an UNKNOWN payment in the provider's statement is completed", async () => {
  const send = await givenLost(await givenCustomer(app));
  await sweep();
  assert.deepEqual(standing(await stored(send.id)), ['COMPLETED', 'SETTLED', 'accepted', null]);
  assert.equal((await app.timeline(send.id)).at(-1), 'SETTLED found_in_statement');
});

test('a statement that is read for an open send corrects a failed one that it proves', async () => {
  const user = await givenCustomer(app);
  const [open, paid] = [await givenLost(user), await givenLost(user, 11)];
  const refused = await app.send(user, { pix_key: 'reject@ponte.test', amount: 12 });
  assert.equal(refused.status, 502);
  await moveTransaction(app.context, paid.id, {
    from: ['UNKNOWN'],
    to: 'SETTLED',
    status: 'FAILED',
    outcome: 'rejected',
    failureCode: 'AC03',
    timeline: [{ phase: 'SETTLED', note: 'FAILED' }],
  });
  await sweep();
  assert.equal((await stored(open.id)).status, 'COMPLETED');
  assert.deepEqual(standing(await stored(paid.id)), ['COMPLETED', 'SETTLED', 'accepted', null]);
  assert.equal((await app.timeline(paid.id)).at(-1), 'SETTLED corrected found_in_statement');
  const failed = await app.rows<{ status: string }>(
    `select status from pix_transactions where user_id = $1 and status = 'FAILED'`,
    [user.id],
  );
  assert.equal(failed.length, 1, 'what the statement does not show stays FAILED');
});

test('a payment with the key and amount of a send and another id is reported, once', async () => {
  const user = await givenCustomer(app);
  const send = await givenLost(user);
  const { end_to_end: own } = send;
  const [row] = await app.rows<{ key: string }>(
    'select idempotency_key as key from pix_transactions where id = $1',
    [send.id],
  );
  const other = { endToEnd: 'E-other', clientRequestId: row?.key, amount: -10.5 };
  const others: readonly Item[][] = [
    [{ ...other, amount: -10.51 }, { ...other, clientRequestId: 'another' }, { endToEnd: 'E-x' }],
    [other],
    [other],
  ];
  const timelines = [];
  for (const items of others) {
    await sweep(withStatement(user, () => items));
    timelines.push((await app.timeline(send.id)).filter((line) => line.startsWith('ANOMALY')));
    await clock.advance(minuteMs);
  }
  const reported = ['ANOMALY same_key_and_amount_as E-other'];
  assert.deepEqual(timelines, [[], reported, reported]);
  assert.deepEqual([(await stored(send.id)).phase, own !== null], ['UNKNOWN', true]);
});

test('a payment whose id is in two lines stays UNKNOWN, and is flagged once', async () => {
  const user = await givenCustomer(app);
  const send = await givenLost(user);
  const anomalies = await app.anomalies();
  const twice = withStatement(user, (items) => [...items, ...items]);
  for (let nth = 0; nth < 2; nth += 1) {
    await sweep(twice);
    await clock.advance(minuteMs);
  }
  assert.equal((await stored(send.id)).phase, 'UNKNOWN');
  assert.deepEqual((await app.timeline(send.id)).slice(-1), ['ANOMALY statement_unclear']);
  assert.equal(await app.anomalies(), anomalies + 1);
  await sweep();
  assert.equal((await stored(send.id)).status, 'COMPLETED');
});

test('a statement with a further page proves nothing', async () => {
  const user = await givenCustomer(app);
  const send = await givenLost(user);
  const { provider } = app.context;
  const statement: typeof provider.statement = async (request) => ({
    ...(await provider.statement(request)),
    isWhole: false,
  });
  await sweep({ ...app.context, provider: { ...provider, statement } });
  assert.equal((await stored(send.id)).phase, 'UNKNOWN');
  await sweep();
  assert.equal((await stored(send.id)).status, 'COMPLETED');
});

test('money back with a return id does not undo the proof of a payment', async () => {
  const user = await givenCustomer(app);
  const send = await givenLost(user);
  const returnId = `D11165756202605241201${'a'.repeat(11)}`;
  const credit = { amount: 10.5, type: 'ESTORNO', direction: 'CREDIT', status: 'CONFIRMED' };
  const back = { ...credit, returnId, originalEndToEnd: send.end_to_end };
  await sweep(withStatement(user, (items) => [...items, back]));
  assert.equal((await stored(send.id)).status, 'COMPLETED');
});

test('each send is looked up in the statement of its own day, the day before and the day after', async () => {
  const user = await givenCustomer(app);
  const old = await givenLost(user);
  const oldRange = { start: dayAfter(-1), end: dayAfter(1) };
  const recent = await givenLost(await passDays(user, 40));
  const ranges: DayRange[] = [];
  const seen = withStatement(user, (items, range) => {
    ranges.push(range);
    return items;
  });
  await sweep(seen);
  assert.deepEqual(ranges, [oldRange, { start: dayAfter(-1), end: dayAfter(0) }]);
  for (const { id } of [old, recent]) assert.equal((await stored(id)).status, 'COMPLETED');
});

test('a day whose statement fails does not affect the sends of other days', async () => {
  const user = await givenCustomer(app);
  const old = await givenLost(user);
  const recent = await givenLost(await passDays(user, 40));
  const today = dayAfter(0);
  await sweep(withStatement(user, (items, { end }) => (end < today ? tooLarge() : items)));
  assert.equal((await stored(old.id)).phase, 'UNKNOWN');
  assert.equal((await stored(recent.id)).status, 'COMPLETED');
});

test('a statement that is too large is requested in parts', async () => {
  const user = await givenCustomer(app);
  const send = await givenLost(user);
  await passDays(user, 3);
  const days: string[] = [];
  const limited = withStatement(user, (items, { start, end }) => {
    if (start !== end) return tooLarge();
    days.push(start);
    return items;
  });
  await sweep(limited);
  assert.equal((await stored(send.id)).status, 'COMPLETED');
  assert.deepEqual(days, [dayAfter(-4), dayAfter(-3), dayAfter(-2)]);
});

test('a day that cannot be read may hold a reversal: the send stays UNKNOWN', async () => {
  const user = await givenCustomer(app);
  const send = await givenLost(user);
  const lastDay = dayAfter(1);
  await passDays(user, 3);
  await sweep(withStatement(user, (items, { end }) => (end === lastDay ? tooLarge() : items)));
  assert.equal((await stored(send.id)).phase, 'UNKNOWN');
});

test('an UNKNOWN payment of earlier days is found too', async () => {
  const user = await givenCustomer(app);
  const send = await givenLost(user);
  await clock.advance(3 * 24 * 60 * minuteMs);
  await sweep();
  assert.equal((await stored(send.id)).status, 'COMPLETED');
});

test('an UNKNOWN payment that does not stand there, or with another amount, stays UNKNOWN', async () => {
  const user = await givenCustomer(app);
  const [otherAmount, notThere] = [await givenLost(user), await givenLost(user)];
  await app.rows('update pix_transactions set amount = 10.49 where id = $1', [otherAmount.id]);
  await app.rows(`update pix_transactions set end_to_end = 'E-elsewhere' where id = $1`, [
    notThere.id,
  ]);
  for (let nth = 0; nth < 3; nth += 1) {
    await clock.advance(60 * minuteMs);
    await sweep();
  }
  for (const { id } of [otherAmount, notThere]) {
    assert.deepEqual(standing(await stored(id)), ['PROCESSING', 'UNKNOWN', 'unknown', null]);
  }
});

test('an UNKNOWN payment that the bank has given back is not completed', async () => {
  const user = await givenCustomer(app);
  const send = await givenLost(user);
  await app.bank.settle(send.end_to_end ?? '', 'FAILED');
  await sweep();
  assert.equal((await stored(send.id)).phase, 'UNKNOWN');
});

test('without an active session no provider is called and nothing changes', async () => {
  const [out, expired] = [await givenCustomer(app), await givenCustomer(app)];
  const sends = [await givenLost(out), await givenLost(expired)];
  await app.call('/auth/logout', { method: 'POST', token: out.token });
  await app.rows(`update banking_sessions set token_expires_at = $2 where user_id = $1`, [
    expired.id,
    clock.now(),
  ]);
  const before = await readRows(sends);
  await sweep();
  assert.deepEqual(await readRows(sends), before);
});

async function readRows(sends: readonly StoredPix[]): Promise<StoredPix[]> {
  return Promise.all(sends.map(({ id }) => stored(id)));
}

test('an UNKNOWN payment is looked up in every sweep of the first hour, then at growing intervals', async () => {
  const user = await givenCustomer(app);
  await givenLost(user);
  await app.rows('update pix_transactions set amount = 10.49 where user_id = $1', [user.id]);
  const { provider } = app.context;
  let requests = 0;
  const statement: typeof provider.statement = (request) => {
    requests += Number(request.session.userId === user.id);
    return provider.statement(request);
  };
  const context = { ...app.context, provider: { ...provider, statement } };
  const isAsked = async () => {
    const before = requests;
    await sweep(context);
    return requests > before;
  };
  let ageMinutes = 0;
  const pass = async (minutes: number) => {
    await clock.advance(minutes * minuteMs);
    ageMinutes += minutes;
  };
  for (const [atMinutes, pauseMinutes] of [
    ...([0, 5, 30, 58] as const).map((at) => [at, 1] as const),
    ...([60, 120, 900, 3_600] as const).map((at) => [at, at / 60] as const),
    ...([4_000, 100_000] as const).map((at) => [at, 60] as const),
  ]) {
    await pass(Math.max(0, atMinutes - ageMinutes));
    assert.equal(await isAsked(), true, `at minute ${atMinutes}`);
    // The sweep comes once a minute: in the first hour no pause is shorter than that.
    if (pauseMinutes > 1) {
      await pass(pauseMinutes - 0.5);
      assert.equal(await isAsked(), false, `before the pause after minute ${atMinutes} is over`);
      await pass(0.5);
    } else {
      await pass(1);
    }
    assert.equal(await isAsked(), true, `after the pause after minute ${atMinutes}`);
  }
});

test('a payment that becomes UNKNOWN long after it began is looked up at once', async () => {
  const user = await givenCustomer(app);
  const { id } = await givenSend(user, 'lost@ponte.test');
  await app.rows(
    `update pix_transactions set phase = 'PAYING', outcome = null, created_at = $2, updated_at = $2
      where id = $1`,
    [id, new Date(clock.now().getTime() - 20 * 60 * minuteMs)],
  );
  await sweep();
  assert.equal((await stored(id)).status, 'COMPLETED');
});

test("one user's trouble with the provider does not keep the others from being settled", async () => {
  const [refused, unreadable, fine] = [
    await givenCustomer(app),
    await givenCustomer(app),
    await givenCustomer(app),
  ];
  const sends = [await givenLost(refused), await givenLost(unreadable), await givenLost(fine)];
  app.bank.expireCustomerTokens(refused.email);
  await app.rows(`update banking_sessions set sealed_token = '\\x00' where user_id = $1`, [
    unreadable.id,
  ]);
  await app.throughTime(sweep());
  const phases = (await readRows(sends)).map(({ phase }) => phase);
  assert.deepEqual(phases, ['UNKNOWN', 'UNKNOWN', 'SETTLED']);
  const [session] = await readSessions(app, refused.id);
  assert.equal(session?.status, 'EXPIRED');
});

test('a provider that does not answer is called again at the next sweep', async () => {
  const user = await givenCustomer(app);
  const send = await givenLost(user);
  const { provider } = app.context;
  const down = { ...app.context, provider: { ...provider, statement: () => never() } };
  await sweep(down);
  assert.equal((await stored(send.id)).phase, 'UNKNOWN');
  await sweep();
  assert.equal((await stored(send.id)).phase, 'SETTLED');
});

async function never(): Promise<never> {
  throw new Error('the statement cannot be read');
}

test('sweeps of several instances at once end each transaction once', async () => {
  const user = await givenCustomer(app);
  const lost = await givenLost(user);
  const reserved = await leftIn(user, 'RESERVED', { agoMs: 5 * minuteMs });
  // The bank has executed it: the statement would correct it.
  await app.rows('update pix_transactions set end_to_end = null where id = $1', [reserved]);
  await Promise.all(Array.from({ length: 4 }, sweep));
  for (const id of [lost.id, reserved]) {
    const ends = (await app.timeline(id)).filter((line) => line.startsWith('SETTLED'));
    assert.equal(ends.length, 1);
  }
});

test('a webhook that is settled during the sweep and the sweep itself agree', async () => {
  const user = await givenCustomer(app);
  const anomalies = await app.anomalies();
  const send = await givenLost(user);
  await app.bank.settle(send.end_to_end ?? '');
  const [event] = await app.rows<{ id: string }>(
    `select id from webhook_events where position($1 in convert_from(payload, 'UTF8')) > 0`,
    [send.end_to_end],
  );
  await Promise.all([sweep(), settleBy(app, event?.id ?? '')]);
  assert.equal((await stored(send.id)).status, 'COMPLETED');
  const ends = (await app.timeline(send.id)).filter((line) => line.startsWith('SETTLED'));
  assert.equal(ends.length, 1);
  assert.equal(await app.anomalies(), anomalies);
});

test('a service that starts sweeps what the one before has left', async () => {
  const user = await givenCustomer(app);
  const id = await leftIn(user, 'RESERVED', { agoMs: 365 * 24 * 60 * minuteMs });
  await passUntil(app.clock, app.stop());
  const next = await startTestApp({ database });
  const status = async () => {
    const [row] = await next.rows<{ status: string }>(
      'select status from pix_transactions where id = $1',
      [id],
    );
    return row?.status;
  };
  await eventually(async () => (await status()) === 'FAILED', 'the sweep');
});
