/** One Idempotency-Key is one payment, however often and however fast it is repeated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { givenCustomer } from '../../support/factories.ts';
import { startPixApp } from './pix-app.ts';

const app = await startPixApp();

const body = { pix_key: 'ana@example.com', amount: 10 };

test('a repeat returns the same transaction with Idempotency-Replayed and calls no bank', async (t) => {
  const user = await givenCustomer(app);
  const first = await app.send(user, body, { key: 'once' });
  const lookUps = t.mock.method(app.bank, 'lookUpKey');
  const payments = t.mock.method(app.bank, 'pay');
  const again = await app.send(user, body, { key: 'once' });
  assert.equal(again.status, 200);
  assert.deepEqual(again.body, first.body);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  assert.equal(again.headers.get('pix-outcome'), 'accepted');
  assert.deepEqual([lookUps.mock.callCount(), payments.mock.callCount()], [0, 0]);
  assert.deepEqual(await app.executed(user), [first.body.end_to_end]);
});

test('a repeat after the end returns the current status, however late it is', async () => {
  const user = await givenCustomer(app);
  const first = await app.send(user, body, { key: 'late' });
  await app.rows('update pix_transactions set created_at = $1 where id = $2', [
    new Date('2020-01-01T00:00:00Z'),
    first.body.transaction_id,
  ]);
  await app.bank.settle(first.body.end_to_end);
  await app.settled(first.body.transaction_id);
  const again = await app.send(user, body, { key: 'late' });
  assert.deepEqual(again.body, { ...first.body, status: 'COMPLETED' });
  assert.equal((await app.executed(user)).length, 1);
});

test('10, 10.0, 10.00 and 1e1 are one request, and so are the ways to type a key', async () => {
  const user = await givenCustomer(app);
  const bodies = [
    '{"pix_key":"529.982.247-25","amount":10}',
    '{"amount":10.0,"pix_key":"52998224725"}',
    '{"pix_key":" 529982247-25 ","amount":10.00,"unknown":1}',
    '{"pix_key":"529.982.247-25","amount":1e1}',
  ];
  const ids = new Set<string>();
  for (const text of bodies) {
    const sent = await app.send(user, text, { key: 'same' });
    assert.equal(sent.status, 200, text);
    ids.add(sent.body.transaction_id);
  }
  assert.equal(ids.size, 1);
  assert.equal((await app.executed(user)).length, 1);
});

for (const [what, other] of [
  ['amount', { ...body, amount: 10.01 }],
  ['key', { ...body, pix_key: 'bia@example.com' }],
  ['description', { ...body, description: 'now with words' }],
] as const) {
  test(`422 naming Idempotency-Key when it is used again with another ${what}`, async (t) => {
    const user = await givenCustomer(app);
    await app.send(user, body, { key: 'reused' });
    const payments = t.mock.method(app.bank, 'pay');
    const sent = await app.send(user, other, { key: 'reused' });
    assert.equal(sent.status, 422);
    const text = 'This key belongs to another request. Check the outcome of that one first.';
    assert.deepEqual(sent.body.errors, { 'Idempotency-Key': [text] });
    assert.equal(sent.headers.get('pix-outcome'), 'accepted', 'of the payment that has the key');
    assert.equal(payments.mock.callCount(), 0);
    assert.equal(await app.countRows(user), 1);
  });
}

test('the refusal of a key used elsewhere speaks Portuguese', async () => {
  const user = await givenCustomer(app);
  await app.send(user, body, { key: 'reused' });
  const headers = { 'accept-language': 'pt-BR' };
  const sent = await app.send(user, { ...body, amount: 11 }, { key: 'reused', headers });
  const text = 'Esta chave pertence a outra requisição. Confira antes o resultado daquela.';
  assert.deepEqual(sent.body.errors, { 'Idempotency-Key': [text] });
});

test('a failed send is not sent again by its key: the repeat answers 200 FAILED', async (t) => {
  const user = await givenCustomer(app);
  const missing = { ...body, pix_key: 'notfound@ponte.test' };
  const sent = await app.send(user, missing, { key: 'failed' });
  assert.equal(sent.status, 502);
  const lookUps = t.mock.method(app.bank, 'lookUpKey');
  const again = await app.send(user, missing, { key: 'failed' });
  assert.deepEqual([again.status, again.body.status], [200, 'FAILED']);
  assert.equal(again.body.transaction_id, sent.body.transaction_id);
  const { code, message } = sent.body;
  assert.deepEqual(again.body.failure, { code, message });
  assert.equal(again.headers.get('pix-next'), 'new-key');
  assert.equal(again.headers.get('pix-outcome'), 'not_sent');
  assert.equal(lookUps.mock.callCount(), 0);
});

test('a key that was only refused with 422 is still free', async () => {
  const user = await givenCustomer(app);
  assert.equal((await app.send(user, { ...body, amount: 0 }, { key: 'free' })).status, 422);
  const sent = await app.send(user, body, { key: 'free' });
  assert.equal(sent.status, 200);
  assert.equal(sent.headers.get('idempotency-replayed'), null);
});

test('the same key on a send and on a charge are two operations', async () => {
  const user = await givenCustomer(app);
  const sent = await app.send(user, body, { key: 'shared' });
  const charged = await app.charge(user, { type: 'dynamic', amount: 10 }, { key: 'shared' });
  assert.deepEqual([sent.status, charged.status], [200, 200]);
  assert.notEqual(sent.body.transaction_id, charged.body.transaction_id);
  assert.equal(charged.headers.get('idempotency-replayed'), null);
});

test('the same key of two users are two payments', async () => {
  const users = [await givenCustomer(app), await givenCustomer(app)];
  const ids = new Set<string>();
  for (const user of users) {
    const sent = await app.send(user, body, { key: 'popular' });
    assert.equal(sent.headers.get('idempotency-replayed'), null);
    ids.add(sent.body.transaction_id);
    assert.deepEqual(await app.executed(user), [sent.body.end_to_end]);
  }
  assert.equal(ids.size, 2);
});

test('keys differ by case and by every character', async () => {
  const user = await givenCustomer(app);
  const ids = ['key', 'KEY', 'key.'];
  for (const key of ids) await app.send(user, body, { key });
  assert.equal((await app.executed(user)).length, ids.length);
});

test('20 identical sends at once: one row, one payment, all answer the same transaction', async (t) => {
  const user = await givenCustomer(app);
  const payments = t.mock.method(app.bank, 'pay');
  const responses = await Promise.all(
    Array.from({ length: 20 }, () => app.send(user, body, { key: 'stampede' })),
  );
  assert.deepEqual([...new Set(responses.map(({ status }) => status))], [200]);
  const ids = new Set(responses.map((response) => response.body.transaction_id));
  assert.equal(ids.size, 1);
  const replayed = responses.filter(
    ({ headers }) => headers.get('idempotency-replayed') === 'true',
  );
  assert.equal(replayed.length, 19);
  assert.ok(responses.every((response) => response.body.status === 'PROCESSING'));
  assert.equal(await app.countRows(user), 1);
  assert.equal(payments.mock.callCount(), 1);
  assert.equal((await app.executed(user)).length, 1);
  const [id] = ids;
  const phases = ['RESERVED', 'RESOLVED', 'PAYING 1', 'ACCEPTED 1 2xx'];
  assert.deepEqual(await app.timeline(String(id)), phases);
});

test('20 different sends at once: 20 rows, 20 payments', async () => {
  const user = await givenCustomer(app);
  const responses = await Promise.all(Array.from({ length: 20 }, () => app.send(user, body)));
  assert.deepEqual([...new Set(responses.map(({ status }) => status))], [200]);
  assert.equal(new Set(responses.map((response) => response.body.transaction_id)).size, 20);
  assert.equal(await app.countRows(user), 20);
  const paid = await app.executed(user);
  assert.equal(paid.length, 20);
  assert.deepEqual(new Set(paid), new Set(responses.map((response) => response.body.end_to_end)));
  const balance = await app.call('/accounts/balance', { token: user.token });
  assert.equal(balance.body.balance, 9_800);
});

test('of two bodies at once under one key, one is sent and the other refused', async () => {
  const user = await givenCustomer(app);
  const responses = await Promise.all(
    [10, 20].map((amount) => app.send(user, { ...body, amount }, { key: 'torn' })),
  );
  assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200, 422]));
  assert.equal(await app.countRows(user), 1);
  assert.equal((await app.executed(user)).length, 1);
});

test('a repeat while the first is at the bank answers 200 PROCESSING at once', async (t) => {
  const user = await givenCustomer(app);
  const atTheBank = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  t.after(() => released.resolve());
  const { pay } = app.context.provider;
  t.mock.method(app.context.provider, 'pay', async (...order: Parameters<typeof pay>) => {
    atTheBank.resolve();
    await released.promise;
    return pay(...order);
  });
  const first = app.send(user, body, { key: 'held' });
  await atTheBank.promise;
  const again = await app.send(user, body, { key: 'held' });
  assert.deepEqual([again.status, again.body.status], [200, 'PROCESSING']);
  assert.equal(again.headers.get('pix-outcome'), 'unknown');
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  released.resolve();
  assert.deepEqual((await first).body, again.body);
  assert.equal((await app.executed(user)).length, 1);
});
