/** The client for apps on the real service: losses, restarts, second taps, and other customers. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { PayResult } from '../../../contract/client/index.ts';
import { password } from '../../support/factories.ts';
import { passUntil, unhurriedTimeoutMs } from '../../support/passing-time.ts';
import { Chance } from '../../simulation/chance.ts';
import {
  givenPayer,
  losing,
  Memory,
  newClient,
  older,
  refuse,
  responding,
  type Fetch,
} from './paying-client.ts';
import { startPixApp } from './pix-app.ts';
import { withReturns } from './return-app.ts';

const app = withReturns(
  await startPixApp({
    environment: { STUB_SETTLE_MS: '1500', PROVIDER_TIMEOUT_MS: String(unhurriedTimeoutMs) },
  }),
);
const rent = { pix_key: 'bruno@example.com', amount: 150.5 };

test('pays, waits for the end, and knows the result after a restart', async () => {
  const storage = new Memory();
  const { client, user, email } = await givenPayer(app, { storage });
  const paid = await passUntil(app.clock, client.pay(rent));
  assert.equal(paid.result, 'paid');
  const restarted = newClient(app, { storage });
  await restarted.logIn({ email, password });
  assert.deepEqual(await restarted.pay(rent), paid);
  await restarted.forget(paid.key);
  assert.deepEqual(await restarted.payments(), []);
  assert.equal((await app.executed(user)).length, 1);
});

test('a send whose responses are lost is repeated with its key, and is paid once', async () => {
  let losses = 3;
  const { client, user } = await givenPayer(app, { fetch: losing(() => (losses -= 1) >= 0) });
  const { result } = await passUntil(app.clock, client.pay(rent));
  assert.equal(result, 'paid');
  assert.equal((await app.executed(user)).length, 1);
});

test('a return whose responses are lost is repeated with its key, and is made once', async () => {
  let losses = 3;
  const storage = new Memory();
  const fetch = losing(() => (losses -= 1) >= 0);
  const { client, user, email } = await givenPayer(app, { storage, fetch });
  const received = await app.givenReceived(user);
  const part = { amount: 8, reason: 'WRONG_AMOUNT' } as const;
  const made = await passUntil(app.clock, client.refund(received.id, part));
  assert.equal(made.result, 'paid');
  const restarted = newClient(app, { storage });
  await restarted.logIn({ email, password });
  assert.deepEqual(await restarted.refund(received.id, { ...part, reason: 'OTHER' }), made);
  assert.deepEqual(
    app.returned(received.endToEnd).map(([, amount]) => amount),
    [8],
  );
  const other = await app.givenReceived(user);
  const second = await passUntil(app.clock, restarted.refund(other.id, part));
  assert.equal(second.result, 'paid', 'another Pix, although the amount is the same');
});

test('a return of a Pix that the customer has not received is not made', async () => {
  const { client } = await givenPayer(app);
  const unknown = randomUUID();
  const made = await passUntil(app.clock, client.refund(unknown, { amount: 1, reason: 'OTHER' }));
  assert.equal(made.result, 'not_paid');
});

test('an app that dies after the first byte goes on with the key at the next tap', async () => {
  const storage = new Memory();
  const dying: Fetch = async (url, init) => {
    const response = await fetch(url, init);
    return url.endsWith('/pix/send') ? new Promise(() => undefined) : response;
  };
  const { client, user, email } = await givenPayer(app, { storage, fetch: dying });
  void client.pay(rent);
  await passUntil(
    app.clock,
    (async () => {
      while ((await app.executed(user)).length === 0) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    })(),
  );
  const restarted = newClient(app, { storage });
  await restarted.logIn({ email, password });
  const [left] = await restarted.payments();
  const paid = await passUntil(app.clock, restarted.pay({ ...rent, description: 'Rent' }));
  assert.deepEqual([paid.result, paid.key], ['paid', left?.key]);
  assert.equal((await app.executed(user)).length, 1);
});

test('a second tap joins the first one', async () => {
  const { client, user } = await givenPayer(app);
  const [one, two] = await passUntil(app.clock, Promise.all([client.pay(rent), client.pay(rent)]));
  assert.deepEqual(one, two);
  assert.equal((await app.executed(user)).length, 1);
});

test('a customer who types the e-mail and the key otherwise does not pay twice', async () => {
  const storage = new Memory();
  const { client, user, email } = await givenPayer(app, { storage });
  const paid = await passUntil(app.clock, client.pay(rent));
  const restarted = newClient(app, { storage });
  await restarted.logIn({ email: `\u200b${email.toUpperCase()} `, password });
  const typed = { ...rent, pix_key: ' Bruno\u200b@Example.com' };
  assert.deepEqual(await passUntil(app.clock, restarted.pay(typed)), paid);
  // An app that has kept the token may have kept the e-mail as it was typed.
  restarted.session = { email: email.toUpperCase(), accessToken: user.token };
  assert.deepEqual(await passUntil(app.clock, restarted.pay(typed)), paid);
  assert.equal((await app.executed(user)).length, 1);
});

test('a payment that is stored with the typed e-mail is not made twice', async () => {
  const storage = new Memory();
  const { client, user, email } = await givenPayer(app, { storage });
  const paid = await passUntil(app.clock, client.pay(rent));
  const [left] = await client.payments();
  const open = { ...left, payer: email.toUpperCase(), transactionId: null, result: null };
  storage.text = JSON.stringify([open]);
  const restarted = newClient(app, { storage });
  restarted.session = { email: email.toUpperCase(), accessToken: user.token };
  assert.equal((await restarted.payments()).length, 1);
  assert.deepEqual(await passUntil(app.clock, restarted.pay(rent)), paid);
  assert.equal((await app.executed(user)).length, 1);
});

test('another equal payment is paid when the customer wants it', async () => {
  const { client, user } = await givenPayer(app);
  await passUntil(app.clock, client.pay(rent));
  const { result } = await passUntil(app.clock, client.pay(rent, { another: true }));
  assert.equal(result, 'paid');
  assert.equal((await app.executed(user)).length, 2);
});

test('a refused payment says why, and the next tap is a new payment', async () => {
  const { client } = await givenPayer(app, { language: 'pt-BR' });
  const missing = { pix_key: 'notfound@ponte.test', amount: 10 };
  const { key, ...refused } = await passUntil(app.clock, client.pay(missing));
  const message = 'Nenhuma conta foi encontrada para esta chave Pix.';
  const failure = { code: 'PIX_KEY_NOT_FOUND', message };
  assert.equal(refused.result, 'not_paid');
  const { transactionId, ...reasons } = refused as PayResult & { readonly result: 'not_paid' };
  assert.deepEqual(reasons, { result: 'not_paid', refusal: failure, failure });
  assert.equal((await app.stored(transactionId ?? '')).status, 'FAILED');
  assert.notEqual((await passUntil(app.clock, client.pay(missing))).key, key);
});

test('a payment that fails later has its failure', async () => {
  const { client } = await givenPayer(app);
  const later = { pix_key: 'fail@ponte.test', amount: 10 };
  const { result, ...failed } = await passUntil(app.clock, client.pay(later));
  assert.equal(result, 'not_paid');
  const { failure } = failed as { readonly failure: { readonly message: string } | null };
  assert.match(failure?.message ?? '', /bank|account|payment/);
});

test('an expired session is renewed, and the payment goes on with its key', async () => {
  const askToLogIn = async () => ({ email: payer.email, password });
  const payer = await givenPayer(app, { askToLogIn });
  payer.client.session = { email: payer.email, accessToken: 'expired' };
  const { result } = await passUntil(app.clock, payer.client.pay(rent));
  assert.equal(result, 'paid');
  assert.equal((await app.executed(payer.user)).length, 1);
});

test('without a login the payment is blocked, and a new tap pays it under its key', async () => {
  const { client, email, user } = await givenPayer(app);
  client.session = { email, accessToken: 'expired' };
  const blocked = await passUntil(app.clock, client.pay(rent));
  assert.deepEqual(blocked, {
    key: blocked.key,
    result: 'blocked',
    reason: 'log_in',
    refusal: { message: 'Your session is invalid or has expired. Log in again.' },
  });
  await client.logIn({ email, password });
  const paid = await passUntil(app.clock, client.pay(rent));
  assert.deepEqual([paid.result, paid.key], ['paid', blocked.key]);
  assert.equal((await app.executed(user)).length, 1);
});

for (const [name, askToLogIn] of [
  ['fails', () => Promise.reject(new Error('dismissed'))],
  ['throws', () => assert.fail('dismissed')],
  ['is left open', () => new Promise<never>(() => {})],
] as const) {
  test(`a login that ${name} blocks the payment`, async () => {
    const { client, email } = await givenPayer(app, { askToLogIn });
    client.session = { email, accessToken: 'expired' };
    const { result } = await passUntil(app.clock, client.pay(rent));
    assert.equal(result, 'blocked');
  });
}

test("a payment never goes on with another customer's login", async () => {
  const storage = new Memory();
  const other = await givenPayer(app, { storage });
  const askToLogIn = async () => ({ email: other.email, password });
  const { client, email } = await givenPayer(app, { storage, askToLogIn });
  client.session = { email, accessToken: 'expired' };
  const { result, key } = await passUntil(app.clock, client.pay(rent));
  assert.equal(result, 'blocked');
  assert.deepEqual(await other.client.payments(), []);
  await assert.rejects(other.client.resume(key), /no payment with this key/);
  assert.deepEqual(await app.executed(other.user), []);
});

for (const isLost of [true, false]) {
  const fate = isLost ? 'was lost' : 'has paid';
  test(`a payment does not go on as another customer's when its first request ${fate}`, async () => {
    const other = await givenPayer(app);
    const sends = Promise.withResolvers<void>();
    const cut: Fetch = async (url, init) => {
      if (!url.endsWith('/pix/send')) return fetch(url, init);
      if (!isLost) await fetch(url, init);
      sends.resolve();
      throw new TypeError('connection reset');
    };
    const { client, email, user } = await givenPayer(app, { fetch: cut });
    const paying = client.pay(rent);
    await sends.promise;
    await client.logIn({ email: other.email, password });
    const { result, key } = await passUntil(app.clock, paying);
    assert.equal(result, 'pending');
    await client.logIn({ email, password });
    const found = await passUntil(app.clock, client.resume(key));
    assert.equal(found.result, isLost ? 'not_paid' : 'paid');
    assert.deepEqual(await app.executed(other.user), []);
    assert.equal((await app.executed(user)).length, isLost ? 0 : 1);
  });
}

test('a login that comes after the patience replaces no other customer', async () => {
  const other = await givenPayer(app);
  const gate = Promise.withResolvers<void>();
  let isSlow = false;
  const slow: Fetch = async (url, init) => {
    const response = await fetch(url, init);
    if (isSlow && url.endsWith('/auth/login')) await gate.promise;
    return response;
  };
  const askToLogIn = async () => ({ email: payer.email, password });
  const payer = await givenPayer(app, { fetch: slow, askToLogIn });
  const { client, email } = payer;
  client.session = { email, accessToken: 'expired' };
  isSlow = true;
  const paying = client.pay(rent, { patienceMs: 20_000 });
  assert.equal((await passUntil(app.clock, paying)).result, 'blocked');
  isSlow = false;
  await client.logIn({ email: other.email, password });
  gate.resolve();
  for (let turns = 0; turns < 50; turns += 1) await new Promise((go) => setImmediate(go));
  assert.equal(client.session.email, other.email);
});

test('an older service: "nothing was sent" is not believed while a request may arrive', async () => {
  let isFirst = true;
  const { client } = await givenPayer(app, {
    fetch: older(() => {
      if (!isFirst) return refuse(422, 'not_sent');
      isFirst = false;
      throw new TypeError('connection reset');
    }),
  });
  const pending = await passUntil(app.clock, client.pay(rent));
  assert.equal(pending.result, 'pending');
  await assert.rejects(client.forget(pending.key), /no final result/);
  await app.clock.skip(10 * 60_000);
  assert.equal((await passUntil(app.clock, client.resume(pending.key))).result, 'pending');
  assert.equal((await passUntil(app.clock, client.pay(rent))).result, 'not_paid');
});

test('a refusal that proves nothing blocks the payment until the customer has decided', async () => {
  const errors = { amount: ['Over the limit.'] };
  const { client } = await givenPayer(app, {
    fetch: responding(() => refuse(422, 'unknown', errors)),
  });
  const { key, ...blocked } = await passUntil(app.clock, client.pay(rent));
  const refusal = { message: 'No.', errors };
  assert.deepEqual(blocked, { result: 'blocked', reason: 'refused', refusal });
  await client.forget(key, { force: true });
  assert.deepEqual(await client.payments(), []);
});

test('the responses of a proxy prove nothing: the payment stays pending', async () => {
  const html = (): Response => new Response('<h1>Bad gateway</h1>', { status: 502 });
  const { client } = await givenPayer(app, { fetch: responding(html, /\/pix\//) });
  const { key, ...pending } = await passUntil(app.clock, client.pay(rent));
  assert.deepEqual(pending, { result: 'pending', transactionId: null });
  await assert.rejects(client.forget(key), /no final result/);
});

/** A network, and an app, that fail at the times that a seed draws. */
function failing(chance: Chance): Fetch {
  return async (url, init) => {
    const isSend = url.endsWith('/pix/send');
    if (isSend && chance.happens(0.2)) throw new TypeError('the request is lost');
    if (isSend && chance.happens(0.1)) return new Response('busy', { status: 502 });
    const response = await fetch(url, init);
    if (isSend && chance.happens(0.3)) throw new TypeError('the response is lost');
    if (isSend && chance.happens(0.1)) return new Response('late', { status: 504 });
    return isSend && chance.happens(0.2) ? new Promise(() => undefined) : response;
  };
}

for (const seed of [1, 2, 3]) {
  test(`ten customers pay once each, whatever is lost and however often they tap: ${seed}`, async () => {
    const chance = new Chance(seed);
    const payOnce = async (): Promise<void> => {
      const storage = new Memory();
      const { email, user } = await givenPayer(app, { storage });
      const keys = new Set<string>();
      let result = 'pending';
      while (result !== 'paid') {
        // The app restarts, and may die at any time.
        const client = newClient(app, { storage, fetch: failing(chance) });
        await client.logIn({ email, password });
        const taps = Array.from({ length: chance.between(1, 3) }, () => client.pay(rent));
        const death = new Promise<null>((resolve) => {
          app.clock.after(chance.between(500, 100_000), () => resolve(null));
        });
        const payment = await Promise.race([Promise.all(taps), death]);
        for (const one of payment ?? []) {
          keys.add(one.key);
          result = one.result;
        }
      }
      assert.equal(keys.size, 1);
      assert.equal((await app.executed(user)).length, 1);
    };
    await passUntil(app.clock, Promise.all(Array.from({ length: 10 }, payOnce)));
  });
}

test('nothing is sent while the storage cannot keep the key', async () => {
  const storage = { getItem: () => null, setItem: () => Promise.reject(new Error('disk full')) };
  const { client, user } = await givenPayer(app, { storage });
  await assert.rejects(client.pay(rent), /disk full/);
  assert.deepEqual(await app.executed(user), []);
});

for (const room of [0, 1]) {
  test(`an error of pay leaves no payment that a restart would make, with room for ${room}`, async () => {
    const storage = Object.assign(new Memory(), { room });
    const { client, user } = await givenPayer(app, { storage });
    const shown = await passUntil(
      app.clock,
      client.pay(rent).catch(() => null),
    );
    const left = await client.payments();
    assert.deepEqual([shown === null, left.length], room === 0 ? [true, 0] : [false, 1]);
    assert.equal((await app.executed(user)).length, room);
  });
}

test('a storage that fails after the first request keeps the key of the payment', async () => {
  let losses = 1;
  const storage = Object.assign(new Memory(), { room: 1 });
  const { client, user } = await givenPayer(app, {
    storage,
    fetch: losing(() => (losses -= 1) >= 0),
  });
  const paid = await passUntil(app.clock, client.pay(rent));
  assert.equal(paid.result, 'paid');
  storage.room = Infinity;
  const again = await passUntil(app.clock, client.pay(rent));
  assert.deepEqual([again.result, again.key], ['paid', paid.key]);
  assert.equal((await app.executed(user)).length, 1);
});

test('the app does not show "nothing was sent" while the storage cannot keep it', async () => {
  const storage = Object.assign(new Memory(), { room: 1 });
  const { client } = await givenPayer(app, {
    storage,
    fetch: older(() => refuse(422, 'not_sent')),
  });
  assert.equal((await passUntil(app.clock, client.pay(rent))).result, 'pending');
  assert.equal((await client.payments()).length, 1);
});

test('a tab does not hide the result that another tab has found', async () => {
  const storage = new Memory();
  const gate = Promise.withResolvers<void>();
  const slow: Fetch = async (url, init) => {
    if (url.includes('/auth/')) return fetch(url, init);
    if (!url.endsWith('/pix/send')) throw new TypeError('connection reset');
    const response = await fetch(url, init);
    await gate.promise;
    return response;
  };
  const { client, email, user } = await givenPayer(app, { storage, fetch: slow });
  const first = client.pay(rent);
  const other = newClient(app, { storage });
  await other.logIn({ email, password });
  const paid = await passUntil(app.clock, other.pay(rent));
  assert.equal(paid.result, 'paid');
  gate.resolve();
  assert.deepEqual(await passUntil(app.clock, first), paid);
  assert.equal((await other.payments())[0]?.result?.result, 'paid');
  assert.equal((await app.executed(user)).length, 1);
});

test('a payment that another tab has forgotten is not sent again', async () => {
  const storage = new Memory();
  let sends = 0;
  const counting: Fetch = (url, init) => {
    if (!url.endsWith('/pix/send')) return fetch(url, init);
    sends += 1;
    return Promise.reject(new TypeError('connection reset'));
  };
  const { client, email } = await givenPayer(app, { storage, fetch: counting });
  const paying = client.pay(rent);
  while (sends === 0) await new Promise((resolve) => setImmediate(resolve));
  const other = newClient(app, { storage });
  await other.logIn({ email, password });
  const [left] = await other.payments();
  await other.forget(left?.key ?? '', { force: true });
  assert.equal((await passUntil(app.clock, paying)).result, 'not_paid');
  assert.equal(sends, 1);
});

test('a payment without a login is refused', async () => {
  await assert.rejects(newClient(app).pay(rent), /Log in first/);
});
