/** The payee before the payment: who has a key, and payments that use the look-up. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { notSent } from '../../../src/provider/errors.ts';
import type { LookUpKeyRequest } from '../../../src/provider/provider.ts';
import type { TestResponse } from '../../support/app.ts';
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
    key_type: 'CELULAR',
    pix_key_type: 'CELULAR',
    name: 'Recebedor de Teste',
    document: '***.456.789-**',
    bank: { ispb: '11165756', name: 'GLOBAL SCM LTDA' },
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
  const { name, document, bank, institution: ispb } = found;
  const shown = { name, document, bank, institution: { ispb }, key: phone };
  assert.deepEqual(receipt.body.payee, shown);
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
  assert.match(refused.body.errors.lookup_id[0], /belongs to another payment.*a new key/);
  assert.equal(refused.headers.get('pix-outcome'), 'not_sent');
  const third = await app.send(user, body, { key: 'third' });
  assert.equal(third.status, 422);
  const replayed = await app.send(user, body, { key: 'third' });
  assert.deepEqual([replayed.status, replayed.body.status], [200, 'FAILED']);
  assert.equal(replayed.body.failure.code, 'LOOK_UP_UNUSABLE');
  assert.deepEqual(await app.executed(user), [paid.body.end_to_end]);
});

/** The provider cannot be reached. */
async function sendInVain(t: TestContext, user: TestUser, body: unknown): Promise<TestResponse> {
  const { mock } = t.mock.method(app.context.provider, 'pay', () =>
    Promise.reject(notSent('connect')),
  );
  const unsent = await app.send(user, body);
  mock.restore();
  assert.deepEqual([unsent.status, unsent.headers.get('pix-outcome')], [502, 'not_sent']);
  return unsent;
}

test('a look-up whose payment never left pays with another key, under an end-to-end id of its own', async (t) => {
  const user = await givenCustomer(app);
  const body = { pix_key: phone, amount: 7, lookup_id: (await lookUp(user)).body.lookup_id };
  const unsent = await sendInVain(t, user, body);
  const sent = await app.send(user, body);
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  const failed = await app.stored(unsent.body.transaction_id);
  assert.notEqual(sent.body.end_to_end, failed.end_to_end);
  assert.deepEqual(await app.executed(user), [sent.body.end_to_end]);
});

test('the payee of a payment that never left is shown only to a payer who has confirmed it', async (t) => {
  const user = await givenCustomer(app);
  await sendInVain(t, user, { pix_key: phone, amount: 7 });
  const confirmed = { pix_key: phone, amount: 8, lookup_id: (await lookUp(user)).body.lookup_id };
  await sendInVain(t, user, confirmed);
  const paid = await app.send(user, { pix_key: phone, amount: 9 });
  assert.equal(paid.status, 200);
  const { items } = (await app.call('/pix', { token: user.token })).body;
  const shown = items.map((item: { amount: number; payee: { name?: string } }) => [
    item.amount,
    item.payee.name !== undefined,
  ]);
  assert.deepEqual(shown, [
    [9, true],
    [8, true],
    [7, false],
  ]);
});

test('a look-up whose payment never left is compared anew with the owner of its key', async (t) => {
  const user = await givenCustomer(app);
  const body = { pix_key: phone, amount: 7, lookup_id: (await lookUp(user)).body.lookup_id };
  await sendInVain(t, user, body);
  ownedBy(t, { document: '39053344705' });
  const refused = await app.send(user, body);
  assert.equal(refused.status, 422);
  assert.match(refused.body.errors.lookup_id[0], /may have changed/);
  assert.deepEqual(await app.executed(user), []);
});

type KeyOwner = Readonly<Record<'name' | 'document' | 'ispb', string | null>>;

/** The directory knows the owners of a key, one after the other; the last one stays. */
function ownedBy(t: TestContext, first: Partial<KeyOwner>, ...later: Partial<KeyOwner>[]) {
  const { provider } = app.context;
  const { lookUpKey } = provider;
  const owners = [first, ...later];
  return t.mock.method(provider, 'lookUpKey', async (request: LookUpKeyRequest) => {
    const owner = owners.length > 1 ? owners.shift() : owners[0];
    return { ...(await lookUpKey.call(provider, request)), ...owner };
  });
}

const maria: KeyOwner = { name: 'Maria Souza', document: '12345678909', ispb: '11165756' };

const unusable = {
  'another user': async () => (await lookUp(await givenCustomer(app))).body.lookup_id,
  'another key': async (user: TestUser) => (await lookUp(user, 'ana@example.com')).body.lookup_id,
  nobody: async () => 'x',
  'no text': async () => '',
  'a changed text': async (user: TestUser) => {
    const { body } = await lookUp(user);
    return `${body.lookup_id.slice(0, -2)}${body.lookup_id.endsWith('AA') ? 'BB' : 'AA'}`;
  },
};

for (const [whose, find] of Object.entries(unusable)) {
  test(`a look-up of ${whose} is refused and closes the key, and a right one pays with a new key`, async (t) => {
    const user = await givenCustomer(app);
    const lookupId: unknown = await find(user);
    const lookUps = t.mock.method(app.bank, 'lookUpKey');
    const body = { pix_key: phone, amount: 1 };
    const refused = await app.send(user, { ...body, lookup_id: lookupId }, { key: 'rent' });
    assert.equal(refused.status, 422);
    assert.deepEqual(Object.keys(refused.body.errors), ['lookup_id']);
    assert.equal(refused.headers.get('pix-outcome'), 'not_sent');
    assert.equal(lookUps.mock.callCount(), 0);
    assert.equal(refused.headers.get('pix-next'), 'new-key');
    assert.equal(await app.countRows(user), 1);
    const { lookup_id: right } = (await lookUp(user)).body;
    const sent = await app.send(user, { ...body, lookup_id: right }, { key: 'rent-again' });
    assert.deepEqual([sent.status, sent.headers.get('pix-outcome')], [200, 'accepted']);
  });
}

test('a repeat with a look-up that cannot be read any more replays its payment', async () => {
  const user = await givenCustomer(app);
  const body = { pix_key: phone, amount: 7 };
  const sent = await app.send(user, body, { key: 'rent' });
  const again = await app.send(user, { ...body, lookup_id: 'x' }, { key: 'rent' });
  assert.deepEqual([again.status, again.body.transaction_id], [200, sent.body.transaction_id]);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  const changed = { ...body, amount: 8, lookup_id: 'x' };
  const other = await app.send(user, changed, { key: 'rent' });
  assert.deepEqual([other.status, Object.keys(other.body.errors)], [422, ['Idempotency-Key']]);
  assert.equal(other.headers.get('pix-outcome'), 'accepted');
});

test('a look-up that is not fresh is made again, and pays the same owner by the new id', async (t) => {
  const user = await givenCustomer(app);
  const lookUps = ownedBy(t, maria, {
    ...maria,
    name: 'Maria Souza Lima',
    document: '123.456.789-09',
  });
  const stale = (await lookUp(user)).body.lookup_id;
  await app.clock.skip(5 * minuteMs);
  const sent = await app.send(user, { pix_key: phone, amount: 1, lookup_id: stale });
  assert.deepEqual([sent.status, sent.headers.get('pix-outcome')], [200, 'accepted']);
  assert.equal(lookUps.mock.callCount(), 2);
  assert.deepEqual(await app.executed(user), [sent.body.end_to_end]);
});

const masked = { ...maria, document: '***.456.789-**' };

const others: Readonly<Record<string, readonly [Partial<KeyOwner>, Partial<KeyOwner>]>> = {
  'another document': [maria, { ...maria, document: '52998224725' }],
  'another institution': [maria, { ...maria, ispb: '00000000' }],
  'no document any more': [maria, { ...maria, document: null }],
  'no institution any more': [maria, { ...maria, ispb: null }],
  'never a document': [
    { ...maria, document: null },
    { ...maria, document: null },
  ],
  'never an institution': [
    { ...maria, ispb: null },
    { ...maria, ispb: null },
  ],
  'a document that is masked since': [maria, masked],
  'a document in another mask': [masked, { ...maria, document: '***.456.789-09' }],
  'a masked document and another name': [masked, { ...masked, name: 'Mario Souza' }],
  'a document without a digit': [
    { ...maria, document: '***.***.***-**' },
    { ...maria, document: '***.***.***-**' },
  ],
  'a text in place of a document': [
    { ...maria, document: 'unknown' },
    { ...maria, document: 'unknown' },
  ],
};

for (const [what, [before, after]] of Object.entries(others)) {
  test(`a look-up that is not fresh does not pay ${what}`, async (t) => {
    const user = await givenCustomer(app);
    ownedBy(t, before, after);
    const payments = t.mock.method(app.bank, 'pay');
    const stale = (await lookUp(user)).body.lookup_id;
    await app.clock.skip(5 * minuteMs);
    const body = { pix_key: phone, amount: 1, lookup_id: stale };
    const refused = await app.send(user, body, { key: 'rent' });
    assert.equal(refused.status, 422);
    assert.match(refused.body.errors.lookup_id[0], /pay with a new key/);
    assert.equal(refused.headers.get('pix-outcome'), 'not_sent');
    assert.equal(payments.mock.callCount(), 0);
    const repeated = await app.send(user, body, { key: 'rent' });
    assert.deepEqual([repeated.status, repeated.body.status], [200, 'FAILED']);
    assert.equal(repeated.headers.get('pix-outcome'), 'not_sent');
    const { transaction_id: id } = repeated.body;
    assert.deepEqual(await app.timeline(id), ['RESERVED', 'SETTLED payee_changed']);
    const receipt = await app.call(`/pix/${id}/receipt`, user);
    assert.equal(receipt.body.failure.code, 'PAYEE_CHANGED');
  });
}

test('a look-up with a masked document that is not fresh pays the same masked owner', async (t) => {
  const user = await givenCustomer(app);
  ownedBy(t, masked);
  const stale = (await lookUp(user)).body.lookup_id;
  await app.clock.skip(5 * minuteMs);
  const sent = await app.send(user, { pix_key: phone, amount: 1, lookup_id: stale });
  assert.deepEqual([sent.status, sent.headers.get('pix-outcome')], [200, 'accepted']);
});

test('a look-up that is not fresh and cannot be made again is that failure of the look-up', async (t) => {
  const user = await givenCustomer(app);
  const stale = (await lookUp(user)).body.lookup_id;
  await app.clock.skip(5 * minuteMs);
  t.mock.method(app.bank, 'lookUpKey', async () => {
    return { outcome: 'refused', refusal: { kind: 'not_found', reason: 'NotFound' } } as const;
  });
  const sent = await app.send(user, { pix_key: phone, amount: 1, lookup_id: stale });
  assert.deepEqual([sent.status, sent.body.code], [502, 'PIX_KEY_NOT_FOUND']);
  assert.equal(sent.headers.get('pix-outcome'), 'not_sent');
});

test('the id of a look-up shows nothing of the owner', async () => {
  const { lookup_id: lookupId } = (await lookUp(await givenCustomer(app))).body;
  const bytes = Buffer.from(lookupId, 'base64url').toString('latin1');
  assert.doesNotMatch(bytes, /12345678909|456|Recebedor/);
});

test('eleven digits that are a CPF and a mobile number are ambiguous until they say which', async () => {
  const user = await givenCustomer(app);
  const { body: bare } = await lookUp(user, '11987654374');
  assert.deepEqual([bare.pix_key, bare.key_type, bare.ambiguous], ['11987654374', 'CPF', true]);
  for (const [typed, type] of [
    ['119.876.543-74', 'CPF'],
    ['+5511987654374', 'CELULAR'],
    ['(11) 98765-4374', 'CELULAR'],
    ['12345678909', 'CPF'],
    ['ana@example.com', 'E_MAIL'],
  ] as const) {
    const { body } = await lookUp(user, typed);
    assert.deepEqual([body.key_type, body.ambiguous], [type, undefined], typed);
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
  await app.clock.skip(5 * minuteMs);
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
  assert.equal(refused.headers.get('retry-after'), String(11 * 30), 'ten are kept');
  assert.equal((await lookUp(await givenCustomer(app))).status, 200);
  await app.clock.skip(50 * minuteMs);
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
