/** Rules while a line that nothing accounts for is open: they fail no order, and close no key. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { newEndToEndId } from '../../../src/domain/pix.ts';
import { refused } from '../../../src/provider/sandbox/bank/response.ts';
import { sweepPixTransactions } from '../../../src/settlement/sweep.ts';
import type { TestResponse } from '../../support/app.ts';
import { givenCustomer, logIn, type TestUser } from '../../support/factories.ts';
import { startPixApp } from './pix-app.ts';
import { blockByPayment } from './pix-app-loss.ts';

const limits = { PIX_LIMIT_DAY: '1000', PIX_LIMIT_NIGHT: '1000', PIX_LIMIT_DAY_COMPANY: '5000' };
const app = await startPixApp({ environment: { JOBS: 'off', ...limits } });

/** Stores a line of R$ 12.50, which blocks sends of that amount. */
function openLine({ id: userId }: TestUser): Promise<void> {
  const endToEnd = newEndToEndId('11165756', app.clock.now());
  return blockByPayment(app.context, { userId, endToEnd });
}

function readOrders({ id }: TestUser) {
  return app.rows(
    `select phase, claimed_until as claimed from pix_transactions
      where user_id = $1 and operation = 'SEND'`,
    [id],
  );
}

const kept = [{ phase: 'RESERVED', claimed: null }];

function assertUnsure(response: TestResponse, status: number): void {
  assert.equal(response.status, status, JSON.stringify(response.body));
  const said = ['pix-outcome', 'pix-next'].map((name) => response.headers.get(name));
  assert.deepEqual(said, ['unknown', 'ask']);
}

for (const [what, order, status] of [
  ['a key that is missing', { pix_key: 'notfound@ponte.test', amount: 10 }, 503],
  ['a limit that the look-up shows', { pix_key: 'person@example.com', amount: 2_000 }, 422],
] as const) {
  test(`${what} refuses a send of another amount, and keeps its order`, async () => {
    const user = await givenCustomer(app);
    await openLine(user);
    assertUnsure(await app.send(user, order), status);
    assert.deepEqual(await readOrders(user), kept);
  });
}

/** A send that the bank has refused for its session, before it was looked up. */
async function givenReserved(t: TestContext, amount: number) {
  const user = await givenCustomer(app);
  const key = randomUUID();
  const body = { pix_key: 'ana@example.com', amount };
  const ended = t.mock.method(app.bank, 'lookUpKey', () =>
    refused({ kind: 'token', reason: 'InvalidToken' }),
  );
  assert.equal((await app.throughTime(app.send(user, body, { key }))).status, 401);
  ended.mock.restore();
  await openLine(user);
  return { user: { ...user, token: await logIn(app, user.email) }, key, body };
}

test('the sweep fails no order before PAYING, of whatever amount', async (t) => {
  const { user } = await givenReserved(t, 10);
  await app.clock.skip(10 * 60_000);
  await sweepPixTransactions(app.context, { requestId: 'test' });
  assert.deepEqual(await readOrders(user), kept);
});

test('a repeat for a blocked account keeps the order and no claim, and so does a cancellation', async (t) => {
  const { user, key, body } = await givenReserved(t, 12.5);
  await app.rows("update accounts set status = 'BLOCKED' where user_id = $1", [user.id]);
  const repeated = await app.send(user, body, { key });
  assert.deepEqual(Object.keys(repeated.body.errors), ['account']);
  assertUnsure(repeated, 422);
  assert.deepEqual(await readOrders(user), kept);
  const { token } = user;
  assertUnsure(await app.call('/pix/send/cancel', { method: 'POST', token, key }), 503);
  assert.deepEqual(await readOrders(user), kept);
});
