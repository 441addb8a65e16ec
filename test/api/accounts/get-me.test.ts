/** The caller's user and account, as stored, without a call to the provider. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { startTestApp } from '../../support/app.ts';
import { givenApplication, givenCustomer, givenUser, logIn } from '../../support/factories.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });

test('me answers the user and the account that the login has stored', async () => {
  const { id, email, token } = await givenCustomer(app, { document: '52998224725' });
  const [stored] = await app.rows('select * from accounts where user_id = $1', [id]);
  assert.ok(stored);
  const response = await app.call('/accounts/me', { token });
  assert.equal(response.status, 200);
  assert.deepEqual(response.body, {
    user: { id, name: 'Maria da Silva', email, document: '52998224725', person_type: 'PF' },
    account: {
      id: stored['id'],
      provider: 'provider',
      agency: '0001',
      account_number: stored['account_number'],
      status: 'ACTIVE',
      bank: { ispb: '11165756', name: 'GLOBAL SCM LTDA' },
      provider_company_id: stored['provider_company_id'],
      provider_client_token: null,
    },
  });
});

test("a user without a document of their own is shown with the account's", async () => {
  const { id, token } = await givenCustomer(app, { document: null });
  const [stored] = await app.rows('select document from accounts where user_id = $1', [id]);
  const { body } = await app.call('/accounts/me', { token });
  assert.match(body.user.document, /^\d{11}$/);
  assert.equal(body.user.document, stored?.['document']);
});

test('what is not known of a user is null', async () => {
  const { id, email } = await givenUser(app, { document: null, personType: null, phone: null });
  await givenApplication(app, id, 'IN_PROGRESS');
  const { status, body } = await app.call('/accounts/me', { token: await logIn(app, email) });
  assert.equal(status, 200);
  assert.deepEqual(body, {
    user: { id, name: 'Maria da Silva', email, document: null, person_type: null },
    account: null,
  });
});

test('what is not known of an account is null', async () => {
  const { id, token } = await givenCustomer(app);
  await app.rows(
    `update accounts set agency = null, account_number = null, status = 'PENDING',
            provider_company_id = null, provider_client_token = null where user_id = $1`,
    [id],
  );
  const { body } = await app.call('/accounts/me', { token });
  const { id: accountId, ...account } = body.account;
  assert.equal(Number.isInteger(accountId), true);
  assert.deepEqual(account, {
    provider: 'provider',
    agency: null,
    account_number: null,
    status: 'PENDING',
    bank: { ispb: '11165756', name: 'GLOBAL SCM LTDA' },
    provider_company_id: null,
    provider_client_token: null,
  });
});

test('everybody sees themselves', async () => {
  const [one, other] = [await givenCustomer(app), await givenCustomer(app)];
  for (const { id, email, token } of [one, other]) {
    const { body } = await app.call('/accounts/me', { token });
    assert.deepEqual([body.user.id, body.user.email], [id, email]);
  }
});

test('a provider that is offline does not keep anybody from seeing themselves', async () => {
  const { token } = await givenCustomer(app, { email: 'offline@ponte.test' });
  assert.equal((await app.call('/accounts/me', { token })).status, 200);
});

test('401 without a token', async () => {
  const response = await app.call('/accounts/me');
  assert.equal(response.status, 401);
  assert.deepEqual(Object.keys(response.body), ['message']);
});

test('401 after a logout', async () => {
  const { token } = await givenCustomer(app);
  await app.call('/auth/logout', { method: 'POST', token });
  assert.equal((await app.call('/accounts/me', { token })).status, 401);
});

test('the institution is shown as configured, on the account and on receipts', async () => {
  const environment = {
    JOBS: 'off',
    PROVIDER_INSTITUTION_NAME: 'Banco Exemplo S.A.',
    PROVIDER_INSTITUTION_DOCUMENT: '11.165.756/0001-07',
  };
  const named = await startTestApp({ environment });
  const { token } = await givenCustomer(named);
  const bank = { ispb: '11165756', name: 'Banco Exemplo S.A.', document: '11165756000107' };
  const me = await named.call('/accounts/me', { token });
  assert.deepEqual(me.body.account.bank, bank);
  const body = { pix_key: 'ana@example.com', amount: 1 };
  const sent = await named.call('/pix/send', { token, key: randomUUID(), body });
  const receipt = await named.call(`/pix/${sent.body.transaction_id}/receipt`, { token });
  assert.deepEqual(receipt.body.payer.bank, bank);
  // The simulated bank keeps the payee's account as well.
  assert.deepEqual(receipt.body.payee.bank, bank);
});
