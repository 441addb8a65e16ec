/** Limits: what a user may send by day and by night, also by sends at the same time. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { fromStatement } from '../../../src/domain/pix.ts';
import { setLimits } from '../../../src/operator/spending-limits.ts';
import { limitPeriod } from '../../../src/domain/spending-limits.ts';
import { correctTransaction } from '../../../src/ledger/correction-repository.ts';
import { ProviderError } from '../../../src/provider/errors.ts';
import { startTestApp, type TestResponse } from '../../support/app.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { mockQueries, type RunAny } from '../../support/intercepted.ts';
import { startPixApp } from './pix-app.ts';
import { showTime } from './shown-time.ts';

const environment = { PIX_LIMIT_DAY: '100.00', PIX_LIMIT_NIGHT: '30.00' };
const app = await startPixApp({ environment });
const caller = { operator: 'ana', progress: () => undefined };

function send(user: TestUser, amount: number, key?: string): Promise<TestResponse> {
  const body = { pix_key: 'ana@example.com', amount };
  return app.send(user, body, key === undefined ? {} : { key });
}

function refusedWith(response: TestResponse, left: string, until: string): void {
  assert.equal(response.status, 422, JSON.stringify(response.body));
  // The same request would pass later, so that its key is closed.
  assert.equal(response.headers.get('pix-outcome'), 'not_sent');
  const [message] = response.body.errors.amount;
  assert.match(message, new RegExp(`R\\$ ${left.replace('.', '\\.')} are left until ${until}`));
}

test('sends pass up to the limit of the day, and what exceeds it is never paid with its key', async () => {
  const user = await givenCustomer(app);
  assert.equal((await send(user, 60)).status, 200);
  const refused = await send(user, 40.01, 'over');
  refusedWith(refused, '40.00', '20:00');
  assert.equal(await app.countMade(user), 1);
  const repeat = await send(user, 40.01, 'over');
  assert.deepEqual([repeat.status, repeat.body.status], [200, 'FAILED']);
  assert.ok((await send(user, 40, 'over')).body.errors['Idempotency-Key']);
  assert.equal((await send(user, 40)).status, 200, 'what is refused does not count');
  refusedWith(await send(user, 0.01), '0.00', '20:00');
});

test('a failed send counts from its correction on: the money has left', async () => {
  const user = await givenCustomer(app);
  const failed = await app.send(user, { pix_key: 'reject@ponte.test', amount: 90 });
  assert.equal(failed.status, 502);
  const [{ id } = { id: '' }] = await app.rows<{ id: string }>(
    'select id from pix_transactions where user_id = $1',
    [user.id],
  );
  assert.equal((await send(user, 10)).status, 200, 'what has failed does not count');
  const proof = { endToEnd: null, providerTxid: null, source: fromStatement };
  assert.ok(await correctTransaction(app.context, id, proof));
  refusedWith(await send(user, 0.01), '0.00', '20:00');
});

test('a send that was judged without a lost payment is judged again when that is found', async (t) => {
  const user = await givenCustomer(app);
  // A loss of commits that has ended: the user owes a reading.
  const [loss] = await app.ownerRows<{ id: number }>(
    `insert into pix_pauses (began_at, began_by, reason, lost_since, ended_at, ended_by)
     values (now(), 'ana', 'failover', now(), now(), 'ana') returning id`,
  );
  t.after(async () => {
    await app.ownerRows('update accounts set loss_read = 0');
    await app.ownerRows('delete from pix_pauses');
  });
  const query = app.context.db.query as unknown as RunAny;
  const order: string[] = [];
  mockQueries(t, app.context.db, () => async (statement, parameters) => {
    const rows = await query(statement, parameters);
    if (!/^pix-(?:limits-read|reserve-send)/.test(statement.name)) return rows;
    order.push(statement.name);
    if (order.length > 1) return rows;
    // Another request reads the statement meanwhile, and stores the lost payment.
    await app.ownerRows(
      `insert into pix_transactions (id, user_id, operation, idempotency_key, fingerprint, status,
              phase, outcome, amount, end_to_end, created_at, updated_at)
       values (gen_random_uuid(), $1, 'SEND', 'lost', '\\x00', 'PROCESSING', 'UNKNOWN', 'unknown',
               90, 'E1116575620260524043000000000077', $2, $2)`,
      [user.id, app.context.clock.now()],
    );
    await app.ownerRows('update accounts set loss_read = $2 where user_id = $1', [
      user.id,
      loss?.id,
    ]);
    return rows;
  });
  refusedWith(await send(user, 60), '10.00', '20:00');
  assert.deepEqual(order, [
    'pix-limits-read',
    'pix-reserve-send-judged',
    'pix-limits-read',
    'pix-reserve-send-judged',
  ]);
});

/** Sends; when the send has read what it is judged by, the night begins. */
async function sendAtNightfall(t: TestContext, user: TestUser, amount: number) {
  const query = app.context.db.query as unknown as RunAny;
  const { nextNightAt } = limitPeriod(app.clock.now(), 20);
  mockQueries(t, app.context.db, () => async (statement, parameters) => {
    const rows = await query(statement, parameters);
    if (statement.name === 'pix-limits-read') t.mock.method(app.clock, 'now', () => nextNightAt);
    return rows;
  });
  return send(user, amount);
}

test('a send that is judged by day is stored by day, and does not exceed the limit of the night', async (t) => {
  const user = await givenCustomer(app);
  const judgedAt = app.clock.now();
  assert.equal((await sendAtNightfall(t, user, 100)).status, 200);
  const [stored] = await app.rows<{ created_at: Date }>(
    'select created_at from pix_transactions where user_id = $1',
    [user.id],
  );
  assert.equal(stored?.created_at.getTime(), judgedAt.getTime());
});

test('the sums of the day are not judged by the limit of the night', async (t) => {
  const user = await givenCustomer(app);
  assert.equal((await send(user, 60)).status, 200);
  assert.equal((await sendAtNightfall(t, user, 20)).status, 200);
});

test('a connection that is lost before the claim is tried once more', async (t) => {
  const user = await givenCustomer(app);
  const query = app.context.db.query as unknown as RunAny;
  let isLost = false;
  mockQueries(t, app.context.db, () => async (statement, parameters) => {
    if (statement.name !== 'pix-limits-read' || isLost) return query(statement, parameters);
    isLost = true;
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  });
  assert.equal((await send(user, 10)).status, 200);
});

test('the refusal is in Portuguese for an app that asks so', async () => {
  const user = await givenCustomer(app);
  const body = { pix_key: 'ana@example.com', amount: 100.01 };
  const { body: response } = await app.send(user, body, {
    headers: { 'accept-language': 'pt-BR' },
  });
  const sentence = 'O valor excede o seu limite diurno: restam R$ 100,00 até as 20h.';
  assert.deepEqual(response.errors, { amount: [sentence] });
});

test('a long amount has the separators of the language', async (t) => {
  const user = await showTime(app, t)('2026-05-24T09:00:00.000-03:00', await givenCustomer(app));
  await app.rows('insert into pix_limits (user_id, day, version) values ($1, 2694.5, 1)', [
    user.id,
  ]);
  const body = { pix_key: 'ana@example.com', amount: 3_000 };
  for (const [language, sentence] of [
    ['en', 'The amount exceeds your limit during the day: R$ 2,694.50 are left until 20:00.'],
    ['pt-BR', 'O valor excede o seu limite diurno: restam R$ 2.694,50 até as 20h.'],
  ] as const) {
    const response = await app.send(user, body, { headers: { 'accept-language': language } });
    assert.deepEqual(response.body.errors, { amount: [sentence] });
  }
});

test('a repeat of a send is answered after the limit is used up', async () => {
  const user = await givenCustomer(app);
  const first = await send(user, 100, 'whole-limit');
  const repeated = await send(user, 100, 'whole-limit');
  assert.deepEqual([repeated.status, repeated.body], [200, first.body]);
  const other = await send(user, 99, 'whole-limit');
  assert.ok(other.body.errors['Idempotency-Key'], 'the key belongs to another request');
});

test('a send that has failed does not count, one with an unknown outcome does', async () => {
  const user = await givenCustomer(app);
  const failed = await send(user, 100);
  await app.bank.settle(failed.body.end_to_end, 'FAILED');
  await app.settled(failed.body.transaction_id);
  const body = { pix_key: 'lost@ponte.test', amount: 70 };
  const unknown = await app.throughTime(app.send(user, body));
  assert.equal((await app.stored(unknown.body.transaction_id)).phase, 'UNKNOWN');
  refusedWith(await send(user, 30.01), '30.00', '20:00');
});

test('the night has a limit of its own, which lasts over midnight', async (t) => {
  const pass = showTime(app, t);
  let user = await givenCustomer(app);
  assert.equal((await send(user, 90)).status, 200);
  user = await pass('2026-05-24T20:00:00.000-03:00', user);
  assert.equal((await send(user, 20)).status, 200);
  user = await pass('2026-05-25T05:59:59.999-03:00', user);
  refusedWith(await send(user, 10.01), '10.00', '6:00');
  user = await pass('2026-05-25T06:00:00.000-03:00', user);
  assert.equal((await send(user, 100)).status, 200);
});

/** A send whose look-up the bank refuses with the session: the same key resumes it. */
async function sendUnstarted(t: TestContext, user: TestUser, [amount, key]: [number, string]) {
  const code = 'TOKEN_REFUSED';
  const said = { outcome: 'not_sent', code, statusClass: '4xx', retryable: false } as const;
  const lookUp = t.mock.method(app.context.provider, 'lookUpKey', () =>
    Promise.reject(new ProviderError(said)),
  );
  const response = await send(user, amount, key);
  assert.deepEqual([response.status, response.headers.get('pix-next')], [401, 'log-in']);
  lookUp.mock.restore();
}

test('a send that is resumed is judged by the limits of that time, and counts in its period', async (t) => {
  const pass = showTime(app, t);
  let user = await pass('2026-05-24T09:00:00.000-03:00', await givenCustomer(app));
  await sendUnstarted(t, user, [60, 'lowered']);
  await setLimits.run(app.context, { user: user.email, reason: 'ticket 7', day: 5_000 }, caller);
  refusedWith(await send(user, 60, 'lowered'), '50.00', '20:00');
  await sendUnstarted(t, user, [20, 'resumed']);
  await sendUnstarted(t, user, [20, 'late']);
  assert.equal((await send(user, 20, 'resumed')).status, 200);
  user = await pass('2026-05-24T20:00:00.000-03:00', user);
  const late = await send(user, 20, 'late');
  assert.deepEqual([late.status, late.headers.get('pix-outcome')], [422, 'not_sent']);
  assert.match(late.body.errors.amount[0], /before your present limit began/);
  assert.equal((await send(user, 30)).status, 200);
});

test('a lower limit applies at once, a higher one and another hour after a day', async (t) => {
  const pass = showTime(app, t);
  let user = await pass('2026-05-24T09:00:00.000-03:00', await givenCustomer(app));
  const set = (change: object) =>
    setLimits.run(app.context, { user: user.email, reason: 'ticket 7', ...change }, caller);
  await set({ day: 1_000 });
  refusedWith(await send(user, 10.01), '10.00', '20:00');
  await set({ day: 20_000, nightHour: 22 });
  refusedWith(await send(user, 10.01), '10.00', '20:00');
  user = await pass('2026-05-25T08:59:59.999-03:00', user);
  refusedWith(await send(user, 10.01), '10.00', '20:00');
  user = await pass('2026-05-25T09:00:00.000-03:00', user);
  assert.equal((await send(user, 150)).status, 200);
  user = await pass('2026-05-25T21:59:59.999-03:00', user);
  refusedWith(await send(user, 50.01), '50.00', '22:00');
});

test('a send that exceeds the limit of a blocked account is refused for the account', async () => {
  const user = await givenCustomer(app);
  await app.rows(`update accounts set status = 'BLOCKED' where user_id = $1`, [user.id]);
  assert.deepEqual(Object.keys((await send(user, 500)).body.errors), ['account']);
});

test('sends of one user at a time do not exceed the limit together', async () => {
  // Another process, where the database takes one.
  const { database } = app;
  const isShared = database.databaseUrl !== undefined;
  const other = isShared
    ? await startTestApp({ environment: { ...environment, JOBS: 'off' }, database })
    : app;
  const amounts = fc.array(fc.integer({ min: 1, max: 6_000 }), { minLength: 2, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(amounts, async (cents) => {
      const user = await givenCustomer(app);
      const token = user.token;
      const responses = await Promise.all(
        cents.map((one, index) =>
          (index % 2 === 0 ? app : other).call('/pix/send', {
            token,
            key: `${index}`,
            body: { pix_key: 'ana@example.com', amount: one / 100 },
          }),
        ),
      );
      const statuses = responses.map(({ status }) => status);
      assert.ok(
        statuses.every((status) => status === 200 || status === 422),
        statuses.join(' '),
      );
      const sent = cents.filter((_, index) => statuses[index] === 200);
      const sum = sent.reduce((total, one) => total + one, 0);
      assert.ok(sum <= 10_000, `${sum} centavos were sent`);
      // Each that was refused exceeded what was left then, so it exceeds what is left now.
      const refused = cents.filter((_, index) => statuses[index] === 422);
      assert.ok(refused.every((one) => sum + one > 10_000));
      const [stored] = await app.rows<{ sum: string | null }>(
        `select sum(amount) from pix_transactions where user_id = $1 and status <> 'FAILED'`,
        [user.id],
      );
      assert.equal(Number(stored?.sum ?? 0), sum / 100);
    }),
    { numRuns: 15 },
  );
});
