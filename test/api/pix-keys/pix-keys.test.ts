/** The account's PIX keys at the bank: listed, created by every type, deleted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp } from '../../support/app.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';

const app = await startTestApp();

const evp = 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO';

const list = ({ token }: TestUser) => app.call('/pix/keys', { token });
const create = ({ token }: TestUser, body: unknown) => app.call('/pix/keys', { token, body });
const remove = ({ token }: TestUser, body: unknown) =>
  app.call('/pix/keys', { method: 'DELETE', token, body });

async function readAccount({ id }: TestUser) {
  const [account] = await app.rows<{ agency: string; account_number: string; document: string }>(
    'select agency, account_number, document from accounts where user_id = $1',
    [id],
  );
  assert.ok(account);
  return account;
}

async function readKeys(user: TestUser): Promise<string[]> {
  const listed = await list(user);
  assert.equal(listed.status, 200);
  return listed.body.data.keys.map(({ key }: { key: string }) => key);
}

test('a new account lists no keys, and says whose it is', async () => {
  const user = await givenCustomer(app);
  const { agency, account_number: accountNumber } = await readAccount(user);
  const listed = await list(user);
  assert.equal(listed.status, 200);
  assert.deepEqual(listed.body, {
    data: {
      account: { participant: '11165756', branch: agency, accountNumber, accountType: 'TRAN' },
      keys: [],
    },
  });
});

test('the list is requested with agency, account number and document', async (t) => {
  const user = await givenCustomer(app);
  const lists = t.mock.method(app.bank, 'listKeys');
  await list(user);
  const { agency, account_number: accountNumber, document } = await readAccount(user);
  assert.deepEqual(lists.mock.calls[0]?.arguments[1], { agency, accountNumber, document });
});

test('a CPF key is the account’s own document', async () => {
  const user = await givenCustomer(app);
  const { document } = await readAccount(user);
  const created = await create(user, { key_type: 'CPF' });
  assert.equal(created.status, 201);
  assert.deepEqual(Object.keys(created.body), ['data']);
  assert.equal(created.body.data.key, document);
  assert.equal(created.body.data.keyType, 'CPF');
  assert.deepEqual(await readKeys(user), [document]);
});

test('a CNPJ key is the account’s own document, letters and all', async () => {
  const user = await givenCustomer(app);
  await app.rows('update accounts set document = $1 where user_id = $2', [
    '12ABC34501DE35',
    user.id,
  ]);
  const created = await create(user, { key_type: 'CNPJ' });
  assert.deepEqual([created.status, created.body.data.key], [201, '12ABC34501DE35']);
});

test('a phone key is the user’s phone in E.164', async () => {
  const user = await givenCustomer(app, { phone: '(11) 98765-4321' });
  const created = await create(user, { key_type: 'CELULAR' });
  assert.deepEqual([created.status, created.body.data.key], [201, '+5511987654321']);
  assert.deepEqual(await readKeys(user), ['+5511987654321']);
});

test('an e-mail key is the user’s own e-mail by default', async () => {
  const user = await givenCustomer(app, { email: 'Dona.Maria@Example.com' });
  const created = await create(user, { key_type: 'E_MAIL' });
  assert.deepEqual([created.status, created.body.data.key], [201, 'dona.maria@example.com']);
});

test('an e-mail key is the requested e-mail, in lower case', async () => {
  const user = await givenCustomer(app);
  const created = await create(user, { key_type: 'E_MAIL', email: 'Loja.Da.Maria@Example.com' });
  assert.deepEqual([created.status, created.body.data.key], [201, 'loja.da.maria@example.com']);
  assert.equal(created.body.data.keyType, 'E_MAIL');
});

test('with PIX_KEY_OWN_EMAIL an e-mail key is the e-mail of the login only', async () => {
  const own = await startTestApp({ environment: { JOBS: 'off', PIX_KEY_OWN_EMAIL: 'true' } });
  const { token, email } = await givenCustomer(own);
  const ask = (typed: string) =>
    own.call('/pix/keys', { token, body: { key_type: 'E_MAIL', email: typed } });
  const refused = await ask('somebody.else@example.com');
  assert.equal(refused.status, 422);
  assert.deepEqual(Object.keys(refused.body.errors), ['email']);
  assert.equal((await ask(email.toUpperCase())).status, 201);
});

test('a random key is made by the directory, each time another', async (t) => {
  const user = await givenCustomer(app);
  const creations = t.mock.method(app.bank, 'createKey');
  const keys = [];
  for (let times = 0; times < 2; times += 1) {
    const created = await create(user, { key_type: evp });
    assert.equal(created.status, 201);
    assert.match(created.body.data.key, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f-]{17}$/);
    keys.push(created.body.data.key);
  }
  assert.equal(creations.mock.calls[0]?.arguments[1].key, null);
  assert.deepEqual(await readKeys(user), keys);
});

test('an e-mail is only read for an e-mail key', async () => {
  const user = await givenCustomer(app);
  const created = await create(user, { key_type: evp, email: 'ignored@example.com' });
  assert.equal(created.status, 201);
  assert.notEqual(created.body.data.key, 'ignored@example.com');
});

test('a deleted key is not in the list, however it was typed', async (t) => {
  const user = await givenCustomer(app);
  const { document } = await readAccount(user);
  await create(user, { key_type: 'CPF' });
  const kept = await create(user, { key_type: evp });
  const deletions = t.mock.method(app.bank, 'deleteKey');
  const typed = document.replace(/^(...)(...)(...)(..)$/, '$1.$2.$3-$4');
  const deleted = await remove(user, { key: typed });
  assert.equal(deleted.status, 200);
  assert.deepEqual(deleted.body, {
    data: { key: document, participant: '11165756', reason: 'USER_REQUESTED' },
  });
  assert.equal(deletions.mock.calls[0]?.arguments[1].key, document);
  assert.deepEqual(await readKeys(user), [kept.body.data.key]);
});

test('a random key is deleted in capitals too', async () => {
  const user = await givenCustomer(app);
  const created = await create(user, { key_type: evp });
  const deleted = await remove(user, { key: created.body.data.key.toUpperCase() });
  assert.equal(deleted.status, 200);
  assert.deepEqual(await readKeys(user), []);
});

test('one user’s keys are not another’s', async () => {
  const [owner, other] = [await givenCustomer(app), await givenCustomer(app)];
  const created = await create(owner, { key_type: evp });
  assert.deepEqual(await readKeys(other), []);
  const deleted = await remove(other, { key: created.body.data.key });
  assert.deepEqual([deleted.status, deleted.body.code], [502, 'PIX_KEY_NOT_FOUND']);
  assert.deepEqual(await readKeys(owner), [created.body.data.key]);
});
