/**
 * The keys that are stored of an account, to find the payee of a received PIX: a response of the
 * provider may be stored long after it was given, in any order.
 */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  addPixKeys,
  findKeysVersion,
  keepPixKeys,
} from '../../../src/accounts/pix-key-repository.ts';
import { brokenRule, done, refused } from '../../../src/provider/sandbox/bank/response.ts';
import { startTestApp } from '../../support/app.ts';
import { givenCustomer, logIn, type TestUser } from '../../support/factories.ts';

const app = await startTestApp();
const { context } = app;

const list = ({ token }: TestUser) => app.call('/pix/keys', { token });

async function storedAccount({ id }: TestUser) {
  const [account] = await app.rows<{ id: number; keys: string[] }>(
    `select id, coalesce(pix_keys, '{}') as keys from accounts where user_id = $1`,
    [id],
  );
  assert.ok(account);
  return account;
}

async function storedKeys(user: TestUser): Promise<string[]> {
  return (await storedAccount(user)).keys;
}

async function keep(user: TestUser, keys: string[], seen?: string): Promise<void> {
  const { id: accountId } = await storedAccount(user);
  await keepPixKeys(context, { accountId, keys, seen: seen ?? (await findKeysVersion(context)) });
}

async function givenKey(): Promise<{ user: TestUser; key: string }> {
  const user = await givenCustomer(app);
  const { body } = await app.call('/pix/keys', { token: user.token, body: { key_type: 'E_MAIL' } });
  return { user, key: body.data.key };
}

const remove = ({ token }: TestUser, key: string) =>
  app.call('/pix/keys', { method: 'DELETE', token, body: { key } });

/** Lets something happen after the provider has made its next response and before it arrives. */
function beforeResponse(
  t: TestContext,
  method: 'listKeys' | 'deleteKey',
  happens: () => Promise<unknown>,
): void {
  const { [method]: original } = app.bank;
  const { mock } = t.mock.method(app.bank, method, async (...call: unknown[]) => {
    mock.restore();
    const response: unknown = await Reflect.apply(original, app.bank, call);
    await happens();
    return response;
  });
}

test('a newer list replaces an older one, and takes its keys from other accounts', async () => {
  const [ana, bia] = [await givenCustomer(app), await givenCustomer(app)];
  await keep(ana, ['first@example.com', 'second@example.com']);
  await keep(bia, ['second@example.com']);
  assert.deepEqual(await storedKeys(ana), ['first@example.com']);
  assert.deepEqual(await storedKeys(bia), ['second@example.com']);
  await keep(ana, []);
  assert.deepEqual(await storedKeys(ana), []);
});

test('a list that is stored after a newer one adds no key to it', async () => {
  const user = await givenCustomer(app);
  const seen = await findKeysVersion(context);
  await keep(user, ['kept@example.com']);
  await keep(user, ['kept@example.com', 'carried@example.com'], seen);
  assert.deepEqual(await storedKeys(user), ['kept@example.com']);
});

test('a key that a late list and a newer one of another account name is stored for neither', async () => {
  const [ana, bia] = [await givenCustomer(app), await givenCustomer(app)];
  const seen = await findKeysVersion(context);
  await keep(bia, ['carried@example.com', 'own@example.com']);
  await keep(ana, ['carried@example.com', 'hers@example.com'], seen);
  assert.deepEqual(await storedKeys(ana), ['hers@example.com']);
  assert.deepEqual(await storedKeys(bia), ['own@example.com']);
});

test('a late list takes no key from an account that has listed it since a newer list', async () => {
  const [ana, bia] = [await givenCustomer(app), await givenCustomer(app)];
  const seen = await findKeysVersion(context);
  await keep(ana, ['moving@example.com']);
  await keep(bia, ['moving@example.com']);
  await keep(ana, ['moving@example.com'], seen);
  assert.deepEqual([await storedKeys(ana), await storedKeys(bia)], [[], ['moving@example.com']]);
});

test('a late list takes a key from an account that has had it before', async () => {
  const [ana, bia] = [await givenCustomer(app), await givenCustomer(app)];
  await keep(bia, ['moving@example.com']);
  const seen = await findKeysVersion(context);
  await keep(ana, []);
  await keep(ana, ['moving@example.com'], seen);
  assert.deepEqual([await storedKeys(ana), await storedKeys(bia)], [[], []]);
});

test('a created key is stored beside the others, and for one account', async () => {
  const [ana, bia] = [await givenCustomer(app), await givenCustomer(app)];
  await keep(ana, ['moved@example.com']);
  await keep(bia, ['hers@example.com']);
  const { id: accountId } = await storedAccount(bia);
  const seen = await findKeysVersion(context);
  await addPixKeys(context, { accountId, keys: ['moved@example.com'], seen });
  assert.deepEqual(await storedKeys(ana), []);
  assert.deepEqual(await storedKeys(bia), ['hers@example.com', 'moved@example.com']);
  await keep(ana, ['moved@example.com']);
  await addPixKeys(context, { accountId, keys: ['moved@example.com', 'late@example.com'], seen });
  assert.deepEqual(await storedKeys(ana), ['moved@example.com']);
  assert.deepEqual(await storedKeys(bia), ['hers@example.com']);
});

test('a response that is no list of keys leaves those that are stored', async (t) => {
  const user = await givenCustomer(app);
  await keep(user, ['kept@example.com']);
  const failures = [
    { keys: [], success: false },
    { data: { keys: [] }, status: 'ERROR' },
  ];
  for (const other of [{}, { message: 'none' }, { keys: null }, ...failures]) {
    const { mock } = t.mock.method(app.bank, 'listKeys', async () => done(other));
    const response = await list(user);
    mock.restore();
    const expected = failures.some((one) => one === other) ? [502, undefined] : [200, other];
    assert.deepEqual([response.status, response.body.data], expected);
    assert.deepEqual(await storedKeys(user), ['kept@example.com'], JSON.stringify(other));
  }
});

test('a key that the response to its creation does not confirm is not stored', async (t) => {
  const user = await givenCustomer(app);
  const failures = [{ success: false }, { data: { success: 'false' } }];
  for (const other of [...failures, { status: 'PENDING' }]) {
    const { mock } = t.mock.method(app.bank, 'createKey', () => done(other));
    const body = { key_type: 'E_MAIL' };
    const response = await app.call('/pix/keys', { token: user.token, body });
    mock.restore();
    const expected = 'status' in other ? [201, other] : [502, undefined];
    assert.deepEqual([response.status, response.body.data], expected);
    assert.deepEqual(await storedKeys(user), [], JSON.stringify(other));
  }
});

test('a list that the provider made before a deletion does not bring the key back', async (t) => {
  const { user, key } = await givenKey();
  assert.deepEqual(await storedKeys(user), [key]);
  beforeResponse(t, 'listKeys', () => remove(user, key));
  assert.equal((await list(user)).status, 200);
  assert.deepEqual(await storedKeys(user), []);
});

test('a list that is stored while a key is deleted does not keep the key', async (t) => {
  const { user, key } = await givenKey();
  beforeResponse(t, 'deleteKey', () => keep(user, [key]));
  assert.equal((await remove(user, key)).status, 200);
  assert.deepEqual(await storedKeys(user), []);
});

test('a list of the account before does not give its keys to the one after', async () => {
  const user = await givenCustomer(app);
  const seen = await findKeysVersion(context);
  await app.rows(`update accounts set agency = '0099' where user_id = $1`, [user.id]);
  await logIn(app, user.email);
  await keep(user, ['former@example.com'], seen);
  assert.deepEqual(await storedKeys(user), []);
});

const refusal = brokenRule('Forbidden');

test('a key whose deletion the bank refuses stays stored', async (t) => {
  for (const response of [refusal, refused({ kind: 'rate_limited', reason: 'Later' })]) {
    const { user, key } = await givenKey();
    const { mock } = t.mock.method(app.bank, 'deleteKey', () => response);
    assert.equal((await remove(user, key)).status, 502);
    mock.restore();
    assert.deepEqual(await storedKeys(user), [key]);
  }
});

test('a key that was perhaps deleted, or that the bank does not find, is not stored', async (t) => {
  const missing = refused({ kind: 'not_found', reason: 'NotFound' });
  const faulty = { outcome: 'faulty', fault: 'garbled' } as const;
  for (const response of [missing, faulty]) {
    const { user, key } = await givenKey();
    const { mock } = t.mock.method(app.bank, 'deleteKey', () => response);
    assert.equal((await remove(user, key)).status, 502);
    mock.restore();
    assert.deepEqual(await storedKeys(user), []);
  }
});

test('a refused deletion stores no key that was not stored', async (t) => {
  const user = await givenCustomer(app);
  t.mock.method(app.bank, 'deleteKey', () => refusal);
  assert.equal((await remove(user, 'foreign@example.com')).status, 502);
  assert.deepEqual(await storedKeys(user), []);
});

test('a refused deletion brings no key back that has changed since', async (t) => {
  const other = await givenCustomer(app);
  const changes: [(user: TestUser, key: string) => Promise<void>, string[]][] = [
    [(user) => keep(user, ['newer@example.com']), ['newer@example.com']],
    [(_user, key) => keep(other, [key]), []],
  ];
  for (const [change, expected] of changes) {
    const { user, key } = await givenKey();
    const { mock } = t.mock.method(app.bank, 'deleteKey', async () => {
      await change(user, key);
      return refusal;
    });
    assert.equal((await remove(user, key)).status, 502);
    mock.restore();
    assert.deepEqual(await storedKeys(user), expected);
  }
});
