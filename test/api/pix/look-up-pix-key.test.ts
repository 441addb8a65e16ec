/** The payee before the payment: who has a key, and payments that use the look-up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { startPixApp } from './pix-app.ts';

const app = await startPixApp();

const minuteMs = 60_000;
const phone = '+5511987654321';

const lookUp = ({ token }: Pick<TestUser, 'token'>, pixKey: unknown = '(11) 98765-4321') =>
  app.call('/pix/lookup', { token, body: { pix_key: pixKey } });

test('a look-up says who has the key, with a masked document, and until when it pays', async () => {
  const { status, body } = await lookUp(await givenCustomer(app));
  assert.equal(status, 200);
  const { lookup_id: lookupId, ...shown } = body;
  assert.deepEqual(shown, {
    pix_key: phone,
    pix_key_type: 'CELULAR',
    name: 'Recebedor de Teste',
    document: '***.456.789-**',
    institution: '11165756',
    expires_at: new Date(app.clock.now().getTime() + 5 * minuteMs).toISOString(),
  });
  assert.match(lookupId, /^[\w-]{80,}$/);
});

test('a payment with a look-up pays by its end-to-end id, and asks the directory no more', async (t) => {
  const user = await givenCustomer(app);
  const { body: found } = await lookUp(user);
  const lookUps = t.mock.method(app.bank, 'lookUpKey');
  const sent = await app.send(user, { pix_key: phone, amount: 7, lookup_id: found.lookup_id });
  assert.equal(sent.status, 200);
  assert.equal(sent.headers.get('pix-outcome'), 'accepted');
  assert.equal(lookUps.mock.callCount(), 0);
  assert.deepEqual(await app.executed(user), [sent.body.end_to_end]);
  assert.deepEqual((await app.timeline(sent.body.transaction_id)).slice(0, 3), [
    'RESERVED',
    'RESOLVED',
    'PAYING 1',
  ]);
  const receipt = await app.call(`/pix/${sent.body.transaction_id}/receipt`, user);
  const { name, document, institution: ispb } = found;
  assert.deepEqual(receipt.body.payee, { name, document, institution: { ispb }, key: phone });
});

test('a repeat of a payment is the same with its look-up, without it, and with a later one', async () => {
  const user = await givenCustomer(app);
  const body = { pix_key: phone, amount: 7 };
  const first = { ...body, lookup_id: (await lookUp(user)).body.lookup_id };
  const sent = await app.send(user, first, { key: 'rent' });
  const later = { ...body, lookup_id: (await lookUp(user)).body.lookup_id };
  for (const repeated of [first, body, later]) {
    const again = await app.send(user, repeated, { key: 'rent' });
    assert.equal(again.body.transaction_id, sent.body.transaction_id);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
  }
  assert.equal((await app.executed(user)).length, 1);
});

test('a look-up pays once: another key is refused, and its payment is FAILED and not sent', async () => {
  const user = await givenCustomer(app);
  const body = { pix_key: phone, amount: 7, lookup_id: (await lookUp(user)).body.lookup_id };
  const [one, other] = await Promise.all([app.send(user, body), app.send(user, body)]);
  const [paid, refused] = one.status === 200 ? [one, other] : [other, one];
  assert.deepEqual([paid.status, refused.status], [200, 422]);
  assert.match(refused.body.errors.lookup_id[0], /belongs to another payment/);
  assert.equal(refused.headers.get('pix-outcome'), 'not_sent');
  const third = await app.send(user, body, { key: 'third' });
  assert.equal(third.status, 422);
  const replayed = await app.send(user, body, { key: 'third' });
  assert.deepEqual([replayed.status, replayed.body.status], [200, 'FAILED']);
  assert.deepEqual(await app.executed(user), [paid.body.end_to_end]);
});

test('a look-up that is old, of another user or key, or invented, is made again', async (t) => {
  const user = await givenCustomer(app);
  const foreign = (await lookUp(await givenCustomer(app))).body.lookup_id;
  const ofOtherKey = (await lookUp(user, 'ana@example.com')).body.lookup_id;
  const lookUps = t.mock.method(app.bank, 'lookUpKey');
  const stale = (await lookUp(user)).body.lookup_id;
  await app.clock.advance(5 * minuteMs);
  for (const lookupId of [foreign, ofOtherKey, stale, 'x', '', `${stale.slice(0, -2)}AA`]) {
    const before = lookUps.mock.callCount();
    const sent = await app.send(user, { pix_key: phone, amount: 1, lookup_id: lookupId });
    assert.equal(sent.status, 200);
    assert.equal(lookUps.mock.callCount(), before + 1);
  }
});

test('a key that no one has is not looked up again for five minutes by that user', async (t) => {
  const user = await givenCustomer(app);
  const other = await givenCustomer(app);
  const lookUps = t.mock.method(app.bank, 'lookUpKey');
  for (const calls of [1, 1]) {
    const { status, body } = await lookUp(user, 'notfound@ponte.test');
    assert.deepEqual([status, body.code], [502, 'PIX_KEY_NOT_FOUND']);
    assert.equal(lookUps.mock.callCount(), calls);
  }
  assert.equal((await lookUp(user)).status, 200);
  await lookUp(other, 'notfound@ponte.test');
  assert.equal(lookUps.mock.callCount(), 3);
  await app.clock.advance(5 * minuteMs);
  await lookUp(user, 'notfound@ponte.test');
  assert.equal(lookUps.mock.callCount(), 4);
});

test('a user has a hundred look-ups, of which a missing key takes twenty', async (t) => {
  const user = await givenCustomer(app);
  t.mock.method(app.bank, 'lookUpKey', async () => {
    return { outcome: 'refused', refusal: { kind: 'not_found', reason: 'NotFound' } } as const;
  });
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    assert.equal((await lookUp(user, `${name}@example.com`)).status, 502);
  }
  t.mock.restoreAll();
  const refused = await lookUp(user);
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get('retry-after'), String(50 * 60));
  assert.equal((await lookUp(await givenCustomer(app))).status, 200);
  await app.clock.advance(50 * minuteMs);
  assert.equal((await lookUp(user)).status, 200);
});

test('a look-up refuses a missing key, and an account that cannot pay', async () => {
  const user = await givenCustomer(app);
  assert.deepEqual(Object.keys((await lookUp(user, '')).body.errors), ['pix_key']);
  const blocked = await givenCustomer(app);
  await app.rows("update accounts set status = 'BLOCKED' where user_id = $1", [blocked.id]);
  assert.deepEqual(Object.keys((await lookUp(blocked)).body.errors), ['account']);
  assert.equal((await app.call('/pix/lookup', { body: { pix_key: phone } })).status, 401);
});

test('a text that has the format of no key is refused, without a request to the directory', async (t) => {
  const user = await givenCustomer(app);
  const lookUps = t.mock.method(app.bank, 'lookUpKey');
  for (const key of ['nobody', '123', '💰', 'x'.repeat(78)]) {
    const { status, body } = await lookUp(user, key);
    assert.equal(status, 422, key);
    assert.match(body.errors.pix_key[0], /^This is not a Pix key\. Enter a CPF/);
  }
  assert.equal(lookUps.mock.callCount(), 0);
});
