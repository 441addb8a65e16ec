import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCpf } from '../../../../../src/domain/tax-id.ts';
import {
  assertAllRefused,
  failure,
  logIn,
  openBank,
  orderFor,
  sessionWith,
  tokenRefused,
} from './open-bank.ts';

const emails = Array.from({ length: 200 }, (_, nth) => `customer-${nth}@ponte.test`);

test('every login answers a complete account with a valid CPF, always the same', async () => {
  const { provider } = openBank();
  const again = openBank().provider;
  const numbers = new Set<string | null>();
  for (const email of emails) {
    const { account, expiresAt } = await provider.login({ email, password: 'any' });
    assert.equal(expiresAt, null);
    assert.equal(account.agency, '0001');
    assert.match(account.accountNumber ?? '', /^\d{9}$/);
    assert.ok(isCpf(account.document ?? ''));
    assert.match(account.companyId ?? '', /^\d+$/);
    assert.match(account.clientToken ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-/);
    assert.deepEqual((await again.login({ email, password: 'other' })).account, account);
    numbers.add(account.accountNumber);
  }
  assert.equal(numbers.size, emails.length);
});

test('the development customer has the documented CPF, however the e-mail is written', async () => {
  const { provider } = openBank();
  const first = await provider.login({ email: 'dev@ponte.test', password: '' });
  const second = await provider.login({ email: ' DEV@Ponte.test', password: '' });
  assert.equal(first.account.document, '11144477735');
  assert.deepEqual(second.account, first.account);
});

test('each login gives a token of its own, and all of them are good', async () => {
  const { provider } = openBank();
  const first = await logIn(provider);
  const second = await logIn(provider);
  assert.notEqual(first.token, second.token);
  assert.equal(
    (await provider.balance({ session: first })).cents,
    (await provider.balance({ session: second })).cents,
  );
});

test('one token can be expired', async () => {
  const { provider, bank } = openBank();
  const first = await logIn(provider);
  const second = await logIn(provider);
  bank.expireToken(first.token);
  assert.deepEqual(await failure(provider.balance({ session: first })), tokenRefused);
  await provider.balance({ session: second });
});

test("all tokens of a customer can be expired; a new login and the others' are good", async () => {
  const { provider, bank } = openBank();
  const other = await logIn(provider, 'other@ponte.test');
  const session = await logIn(provider);
  const order = await orderFor(provider, session);
  bank.expireCustomerTokens('Dev@ponte.test');
  assertAllRefused([await failure(provider.pay({ session, order }))]);
  await provider.pay({ session: await logIn(provider), order });
  await provider.balance({ session: other });
});

test('a token from before a restart is good, one that was expired then is not', async () => {
  const before = openBank();
  const expired = await logIn(before.provider);
  before.bank.expireCustomerTokens('dev@ponte.test');
  const good = await logIn(before.provider);
  const after = openBank();
  await after.provider.balance({ session: good });
  assert.deepEqual(await failure(after.provider.balance({ session: expired })), tokenRefused);
});

test('what is no token of this bank is refused', async () => {
  const { provider } = openBank();
  const { token } = await logIn(provider);
  const email = Buffer.from('dev@ponte.test').toString('base64url');
  const wrong = [
    '',
    'stub',
    `other${token.slice(4)}`,
    `${token}.more`,
    `stub.${email}.x.aaaa`,
    `stub.${email}.-1.aaaa`,
    `stub.${email}.0.`,
    'stub..0.aaaa',
  ];
  for (const bad of wrong) {
    assert.deepEqual(await failure(provider.balance({ session: sessionWith(bad) })), tokenRefused);
  }
});
