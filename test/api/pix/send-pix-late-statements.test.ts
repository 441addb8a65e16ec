/** Statements that are executed after their time-out, and rows that a failover loses. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, test, type TestContext } from 'node:test';
import { newEndToEndId } from '../../../src/domain/pix.ts';
import { ProviderError } from '../../../src/provider/errors.ts';
import type { PayRequest } from '../../../src/provider/provider.ts';
import { moveTransaction } from '../../../src/ledger/move-repository.ts';
import { eventually } from '../../support/eventually.ts';
import { givenCustomer } from '../../support/factories.ts';
import { mockQueries, type RunAny } from '../../support/intercepted.ts';
import { startPixApp } from './pix-app.ts';

const app = await startPixApp();
const unmocked = { ...app.context.db };
const query = unmocked.query as unknown as RunAny;

const body = { pix_key: 'ana@example.com', amount: 10.5 };

// Some of these tests lose a commit, which pauses all sends.
afterEach(() => app.ownerRows('delete from pix_pauses'));

test('a send that another process takes to PAYING by the same look-up is not paid here too', async (t) => {
  const user = await givenCustomer(app);
  const found = await app.call('/pix/lookup', {
    token: user.token,
    body: { pix_key: body.pix_key },
  });
  // The process that has the look-up has not opened the token: PAYING is a step of its own.
  app.context.sealer.forgetText(`user:${user.id}`);
  const payments = t.mock.method(app.context.provider, 'pay');
  let steps = 0;
  mockQueries(t, app.context.db, () => async (statement, parameters) => {
    if (statement.name !== 'pix-step') return query(statement, parameters);
    steps += 1;
    if (steps > 1) return query(statement, parameters);
    const [now, claimedUntil] = [parameters['now'], parameters['claimedUntil']].map(
      (time) => new Date((time as Date).getTime() + 1),
    );
    await query(statement, { ...parameters, now, claimedUntil });
    throw new Error('Connection terminated unexpectedly');
  });
  const sent = await app.send(user, { ...body, lookup_id: found.body.lookup_id });
  assert.equal(payments.mock.callCount(), 0);
  assert.deepEqual([sent.status, sent.body.status], [200, 'PROCESSING']);
  assert.equal((await app.stored(sent.body.transaction_id)).phase, 'PAYING');
});

for (const isReadLost of [false, true]) {
  const read = isReadLost ? ', also where it could not be read then' : '';
  test(`a late PAYING that was called unknown since fails: nothing has left${read}`, (t) =>
    assertLatePayingFails(t, isReadLost));
}

async function assertLatePayingFails(t: TestContext, isReadLost: boolean): Promise<void> {
  const user = await givenCustomer(app);
  const payments = t.mock.method(app.context.provider, 'pay');
  let steps = 0;
  let reads = 0;
  mockQueries(t, app.context.db, () => async (statement, parameters) => {
    if (statement.name === 'pix-find') reads += 1;
    // The first look-up is that of the step, the second one that of the response.
    if (statement.name === 'pix-find' && isReadLost && reads === 2)
      throw new Error('Query read timeout');
    if (statement.name !== 'pix-step') return query(statement, parameters);
    steps += 1;
    if (steps === 1) throw new Error('Query read timeout');
    // The first one is carried out only now, and the sweep finds it before the second one comes.
    if (steps === 2) {
      await query({ ...statement, name: 'late-step' }, parameters);
      await moveTransaction({ ...app.context, db: unmocked }, String(parameters['id']), {
        from: ['PAYING'],
        to: 'UNKNOWN',
        status: 'PROCESSING',
        outcome: 'unknown',
        timeline: [{ phase: 'UNKNOWN', note: 'process_died' }],
      });
    }
    return query(statement, parameters);
  });
  const sent = await app.send(user, body);
  assert.equal(sent.headers.get('pix-outcome'), 'unknown');
  await app.clock.advance(10_000);
  const isFailed = async () => {
    const [send] = await app.rows<{ outcome: string }>(
      'select outcome from pix_transactions where user_id = $1',
      [user.id],
    );
    return send?.outcome === 'not_sent';
  };
  await eventually(isFailed, 'the end of the payment');
  assert.equal(payments.mock.callCount(), 0);
}

interface LateStep {
  readonly key: string;
  /** The mock of the provider's method. */
  readonly payments: { readonly mock: { callCount(): number } };
  /** The database executes the step after its time-out. */
  readonly executeStep: () => Promise<unknown>;
}

/** Sends a payment of which no step to PAYING is executed in time. */
async function sendWithLateStep(t: TestContext): Promise<LateStep> {
  const user = await givenCustomer(app);
  const payments = t.mock.method(app.context.provider, 'pay');
  let step: Parameters<RunAny> | undefined;
  mockQueries(t, app.context.db, () => async (statement, parameters) => {
    if (statement.name !== 'pix-step') return query(statement, parameters);
    step ??= [statement, parameters];
    throw new Error('Query read timeout');
  });
  const key = randomUUID();
  const sent = await app.send(user, body, { key });
  assert.equal(sent.headers.get('pix-outcome'), 'unknown');
  return { key, payments, executeStep: () => query(...(step ?? assert.fail('no step'))) };
}

/** Waits until the send has failed because nothing was sent. */
async function assertNotSent(key: string): Promise<void> {
  const isFailed = async () => {
    const rows = await app.rows<{ status: string; outcome: string }>(
      'select status, outcome from pix_transactions where idempotency_key = $1',
      [key],
    );
    return rows[0]?.status === 'FAILED' && rows[0].outcome === 'not_sent';
  };
  await eventually(isFailed, 'the end of the payment');
}

test('a send that reached PAYING late fails although the wall clock has jumped ahead', async (t) => {
  const { key, payments, executeStep } = await sendWithLateStep(t);
  const now = app.clock.now.bind(app.clock);
  t.mock.method(app.clock, 'now', () => new Date(now().getTime() + 60_000));
  await app.clock.advance(5_000);
  await executeStep();
  await app.clock.advance(10_000);
  await assertNotSent(key);
  assert.equal(payments.mock.callCount(), 0);
});

test('a send that reached PAYING a minute late fails', async (t) => {
  const { key, payments, executeStep } = await sendWithLateStep(t);
  for (let seconds = 0; seconds < 60; seconds += 10) await app.clock.advance(10_000);
  await executeStep();
  await app.clock.advance(10_000);
  await assertNotSent(key);
  assert.equal(payments.mock.callCount(), 0);
});

test('a send that reached PAYING late fails although its account was blocked meanwhile', async (t) => {
  const user = await givenCustomer(app);
  const payments = t.mock.method(app.context.provider, 'pay');
  const setStatus = (status: string) =>
    app.rows('update accounts set status = $2 where user_id = $1', [user.id, status]);
  const steps: Parameters<RunAny>[] = [];
  mockQueries(t, app.context.db, () => async (statement, parameters) => {
    if (statement.name !== 'pix-step') return query(statement, parameters);
    if (steps.push([statement, parameters]) === 1) throw new Error('Query read timeout');
    await setStatus('BLOCKED');
    const rows = await query(statement, parameters);
    await setStatus('ACTIVE');
    return rows;
  });
  const key = randomUUID();
  assert.equal((await app.send(user, body, { key })).status, 503);
  assert.equal(steps.length, 2);
  await query(...(steps[0] ?? assert.fail('no step')));
  await app.clock.advance(10_000);
  await assertNotSent(key);
  assert.equal(payments.mock.callCount(), 0);
});

test('a step that a failover has lost together with its send is not waited for', async (t) => {
  await sendWithLateStep(t);
  assert.equal(app.context.outcomes.size, 1);
  t.mock.restoreAll();
  mockQueries(
    t,
    app.context.db,
    () => async (statement, parameters) =>
      statement.name === 'pix-find' ? [] : query(statement, parameters),
  );
  await app.clock.advance(10_000);
  await eventually(() => app.context.outcomes.size === 0, 'the end of the wait');
});

test('a payment that was not sent, and that an operator has called paid, is an anomaly', async (t) => {
  const { key, payments, executeStep } = await sendWithLateStep(t);
  await executeStep();
  const [send] = await app.rows<{ id: string }>(
    'select id from pix_transactions where idempotency_key = $1',
    [key],
  );
  const id = send?.id ?? assert.fail('the send is stored');
  await moveTransaction(app.context, id, {
    from: ['PAYING'],
    to: 'SETTLED',
    status: 'COMPLETED',
    outcome: 'accepted',
    timeline: [{ phase: 'SETTLED', note: 'ticket 7' }],
  });
  await app.clock.advance(10_000);
  const isNoted = async () => (await app.timeline(id)).at(-1) === 'ANOMALY contradicted_by_FAILED';
  await eventually(isNoted, 'the anomaly');
  assert.equal((await app.stored(id)).status, 'COMPLETED');
  assert.equal(payments.mock.callCount(), 0);
});

/** Another process has taken the send to PAYING, after a failover that lost the first step. */
async function giveOtherEndToEnd(endToEnd: string): Promise<string> {
  const other = newEndToEndId('11165756', app.clock.now());
  await app.rows('update pix_transactions set end_to_end = $2 where end_to_end = $1', [
    endToEnd,
    other,
  ]);
  return other;
}

test('a payment that was not sent fails no send that a failover has given another end-to-end id', async (t) => {
  const user = await givenCustomer(app);
  let other = '';
  t.mock.method(app.context.provider, 'pay', async ({ order }: PayRequest) => {
    other = await giveOtherEndToEnd(order.endToEnd);
    throw new ProviderError({
      outcome: 'not_sent',
      code: 'PROVIDER_UNAVAILABLE',
      statusClass: 'stopped',
    });
  });
  const sent = await app.send(user, body);
  assert.deepEqual([sent.status, sent.body.status], [200, 'PROCESSING']);
  const stored = await app.stored(sent.body.transaction_id);
  assert.deepEqual([stored.phase, stored.end_to_end], ['PAYING', other]);
  assert.deepEqual(await app.timeline(stored.id), ['RESERVED', 'RESOLVED', 'PAYING 1']);
});

test('a key whose rows were lost between two attempts is claimed by the third one', async (t) => {
  const user = await givenCustomer(app);
  let lookUps = 0;
  mockQueries(t, app.context.db, () => async (statement, parameters) => {
    const isLook = statement.name === 'pix-reserve-send';
    lookUps += Number(isLook);
    if (!isLook || lookUps > 2) return query(statement, parameters);
    // As a look answers that has run into a row which it does not see.
    const other = { ...parameters, id: randomUUID(), idempotencyKey: randomUUID() };
    const rows = await query(statement, other);
    const unseen = { id: null, phase: null, status: null, reserved: null };
    return rows.map((row) => Object.assign(row, unseen));
  });
  const sent = await app.send(user, { ...body, pix_key: 'bruno@example.com' }, { key: 'taken' });
  assert.equal(lookUps, 3);
  assert.equal(sent.status, 200);
});
