/** A payment that was refused or given up is not paid without a new tap. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { password } from '../../support/factories.ts';
import { passUntil, unhurriedTimeoutMs } from '../../support/passing-time.ts';
import { givenPayer, Memory, newClient, older, refuse, type Fetch } from './paying-client.ts';
import { startPixApp } from './pix-app.ts';

const app = await startPixApp({
  environment: {
    STUB_SETTLE_MS: '1500',
    PROVIDER_TIMEOUT_MS: String(unhurriedTimeoutMs),
    PIX_LIMIT_DAY: '1000',
    PIX_LIMIT_NIGHT: '1000',
  },
});
const rent = { pix_key: 'bruno@example.com', amount: 300 };
const tooMuch = { pix_key: 'bruno@example.com', amount: 1_000.5 };

/** Loses every request but a login, and counts the sends. */
function away() {
  const network = { isAway: true, sends: 0 };
  const passes: Fetch = async (url, init) => {
    if (url.includes('/auth/')) return fetch(url, init);
    network.sends += url.endsWith('/pix/send') ? 1 : 0;
    if (network.isAway) throw new TypeError('no network');
    return fetch(url, init);
  };
  return { network, fetch: passes };
}

/** Waits until the client has stored a payment and sent it. */
async function sent(network: { readonly sends: number }): Promise<void> {
  while (network.sends === 0) await new Promise((resolve) => setImmediate(resolve));
}

test('after two minutes a payment is given up, and its key is closed', async () => {
  const { network, fetch: passes } = away();
  const { client, user } = await givenPayer(app, { fetch: passes });
  const paying = client.pay(rent);
  await sent(network);
  app.clock.after(115_000, () => (network.isAway = false));
  const startedMs = app.clock.now().getTime();
  // The last pause ends after the two minutes, so that nothing is sent any more.
  const given = await passUntil(app.clock, paying);
  const tookMs = app.clock.now().getTime() - startedMs;
  assert.equal(given.result, 'not_paid');
  assert.ok(given.result === 'not_paid' && given.transactionId !== null);
  assert.equal(given.failure?.code, 'CANCELLED');
  assert.ok(tookMs <= 125_000, `${tookMs} ms`);
  assert.deepEqual(await app.executed(user), []);
});

test('a start of the app gives up what an earlier run has sent, and pays nothing', async () => {
  const storage = new Memory();
  const { network, fetch: passes } = away();
  const { client, email, user } = await givenPayer(app, { storage, fetch: passes });
  // The app dies here.
  void client.pay(rent);
  await sent(network);
  const restarted = newClient(app, { storage });
  await restarted.logIn({ email, password });
  const [left] = await restarted.payments();
  const given = await passUntil(app.clock, restarted.resume(left?.key ?? ''));
  assert.equal(given.result, 'not_paid');
  network.isAway = false;
  assert.deepEqual(await app.executed(user), []);
  const paid = await passUntil(app.clock, restarted.pay(rent));
  assert.deepEqual([paid.result, paid.key === given.key], ['paid', false]);
  assert.equal((await app.executed(user)).length, 1);
});

test('a tap while a start gives the payment up is a new payment', async () => {
  const storage = new Memory();
  const { network, fetch: passes } = away();
  const { client, email, user } = await givenPayer(app, { storage, fetch: passes });
  void client.pay(rent);
  await sent(network);
  const restarted = newClient(app, { storage });
  await restarted.logIn({ email, password });
  const [left] = await restarted.payments();
  const resumed = restarted.resume(left?.key ?? '');
  const paid = await passUntil(app.clock, restarted.pay(rent));
  assert.equal((await resumed).result, 'not_paid');
  assert.deepEqual([paid.result, paid.key === left?.key], ['paid', false]);
  assert.equal((await app.executed(user)).length, 1);
});

test('what a limit has refused is not paid by a start of the app', async () => {
  const storage = new Memory();
  const { client, email, user } = await givenPayer(app, { storage });
  const refused = await passUntil(app.clock, client.pay(tooMuch));
  assert.equal(refused.result, 'not_paid');
  assert.ok(refused.result === 'not_paid' && refused.transactionId !== null);
  assert.ok(refused.refusal?.errors?.['amount']);
  assert.notEqual(refused.failure, null);
  const restarted = newClient(app, { storage });
  await restarted.logIn({ email, password });
  for (const { key } of await restarted.payments()) {
    assert.equal((await passUntil(app.clock, restarted.resume(key))).result, 'not_paid');
  }
  assert.deepEqual(await app.executed(user), []);
});

test('an order that the service cannot read is given up, with what is wrong', async () => {
  const { client } = await givenPayer(app);
  const wrong = await passUntil(app.clock, client.pay({ pix_key: 'no key', amount: 1 }));
  assert.equal(wrong.result, 'not_paid');
  assert.ok(wrong.result === 'not_paid' && wrong.refusal?.errors?.['pix_key']);
});

test('an older service: what it has refused is not sent again without a tap', async () => {
  const storage = new Memory();
  let sends = 0;
  const refusing = older(() => {
    sends += 1;
    return refuse(422, 'unknown', { amount: ['Over the limit.'] });
  });
  const { client, email, user } = await givenPayer(app, { storage, fetch: refusing });
  const { key, result } = await passUntil(app.clock, client.pay(rent));
  assert.equal(result, 'blocked');
  const restarted = newClient(app, { storage, fetch: refusing });
  await restarted.logIn({ email, password });
  assert.equal((await passUntil(app.clock, restarted.resume(key))).result, 'pending');
  assert.equal(sends, 1);
  await passUntil(app.clock, restarted.pay(rent));
  assert.equal(sends, 2, 'a tap, under the same key');
  assert.deepEqual(await app.executed(user), []);
});
