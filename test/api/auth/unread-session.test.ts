/** The provider refuses a token while the database is too slow to say whether it was renewed. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { startTestApp } from '../../support/app.ts';
import { givenCustomer, logIn, readSessions } from '../../support/factories.ts';

const app = await startTestApp({ environment: { JOBS: 'off', PROVIDER_RETRIES: '0' } });

/** What the driver reports for a pool without a free connection, and PostgreSQL for a long wait. */
const slowDatabase: readonly Error[] = [
  new Error('timeout exceeded when trying to connect'),
  Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' }),
  Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' }),
];

const requests = [
  { method: 'GET', path: '/accounts/balance' },
  { method: 'GET', path: '/accounts/statement' },
  { method: 'POST', path: '/pix/send', body: { pix_key: 'ana@example.com', amount: 1 } },
  { method: 'POST', path: '/pix/charge', body: { type: 'static', amount: 1 } },
  { method: 'GET', path: '/pix/keys' },
];

/** Fails each read of a banking session's token. */
function failTokenReads(t: TestContext, error: Error): void {
  const { db } = app.context;
  const query = db.query.bind(db);
  t.mock.method(db, 'query', (...[statement, parameters]: Parameters<typeof query>) =>
    statement.name === 'sealed-token' ? Promise.reject(error) : query(statement, parameters),
  );
}

for (const error of slowDatabase) {
  for (const { path, ...request } of requests) {
    test(`${request.method} ${path} answers 503 after "${error.message}"`, async (t) => {
      const { id, email, token } = await givenCustomer(app);
      app.bank.expireCustomerTokens(email);
      failTokenReads(t, error);
      const response = await app.call(path, { ...request, token, key: randomUUID() });
      assert.equal(response.status, 503, JSON.stringify(response.body));
      assert.match(response.headers.get('retry-after') ?? '', /^\d+$/);
      // The send stays open, and the same key goes on with it.
      if (path === '/pix/send') {
        assert.equal(response.headers.get('pix-outcome'), 'unknown');
        assert.equal(response.headers.get('pix-next'), 'repeat');
      }
      t.mock.restoreAll();
      assert.equal((await readSessions(app, id))[0]?.status, 'ACTIVE');
      await logIn(app, email);
      assert.equal((await app.call('/accounts/balance', { token })).status, 200);
    });
  }
}
