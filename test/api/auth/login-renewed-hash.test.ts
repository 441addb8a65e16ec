/** A password whose hash has old parameters is hashed again by a successful login. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/errors.ts';
import { startTestApp } from '../../support/app.ts';
import { givenUser, logIn, password } from '../../support/factories.ts';

const app = await startTestApp({ environment: { JOBS: 'off' }, hashesInFull: true });

async function readHash(id: number): Promise<string> {
  const [user] = await app.rows<{ hash: string }>(
    'select password_hash as hash from users where id = $1',
    [id],
  );
  return user?.hash ?? assert.fail('no user');
}

const current = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/;

test('a login renews a hash with old parameters, once', async (t) => {
  const { id, email } = await givenUser(app);
  assert.doesNotMatch(await readHash(id), current);
  const { mock } = t.mock.method(app.context.passwords, 'hash');
  await logIn(app, email);
  const renewed = await readHash(id);
  assert.match(renewed, current);
  await logIn(app, email);
  assert.equal(await readHash(id), renewed);
  assert.equal(mock.callCount(), 1);
});

test('a wrong password renews nothing', async () => {
  const { id, email } = await givenUser(app);
  const before = await readHash(id);
  const body = { email, password: 'a wrong one' };
  assert.equal((await app.call('/auth/login', { body })).status, 422);
  assert.equal(await readHash(id), before);
});

test('logins at once all succeed while one of them renews the hash', async () => {
  const { id, email } = await givenUser(app);
  await Promise.all(Array.from({ length: 5 }, () => logIn(app, email)));
  assert.match(await readHash(id), current);
});

test('a login whose hash was renewed after it was checked succeeds', async (t) => {
  const { id, email } = await givenUser(app);
  const login = app.bank.login.bind(app.bank);
  t.mock.method(app.bank, 'login', async (...args: Parameters<typeof login>) => {
    const renewed = await app.context.passwords.hash(password);
    await app.rows('update users set password_hash = $2 where id = $1', [id, renewed]);
    return login(...args);
  });
  await logIn(app, email);
});

test('a full queue leaves the hash to the next login', async (t) => {
  const { id, email } = await givenUser(app);
  const before = await readHash(id);
  const { mock } = t.mock.method(app.context.passwords, 'hash', () =>
    Promise.reject(new AppError('BUSY')),
  );
  await logIn(app, email);
  assert.equal(await readHash(id), before);
  mock.restore();
  await logIn(app, email);
  assert.match(await readHash(id), current);
});
