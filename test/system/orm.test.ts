/** MikroORM is loaded after the start, or when a unit of work first needs it. */
import assert from 'node:assert/strict';
import { registerHooks } from 'node:module';
import { test } from 'node:test';

const loaded = new Set<string>();
let isBroken = false;

registerHooks({
  load(url, context, next) {
    if (isBroken && url.endsWith('/src/db/orm.ts')) throw new Error('EMFILE: too many open files');
    const [, name] = /\/node_modules\/(@mikro-orm\/[^/]+)\//.exec(url) ?? [];
    if (name !== undefined) loaded.add(name);
    return next(url, context);
  },
});

// Imported dynamically: static imports are loaded before the hook is registered.
const { givenCustomer } = await import('../support/factories.ts');
const { newPerson } = await import('../api/onboarding/applicants.ts');
const { manualClock } = await import('../support/clock.ts');
const { createTestDatabase } = await import('../support/db.ts');
const { openDatabase } = await import('../../src/db/database.ts');
const { startPixApp } = await import('../api/pix/pix-app.ts');
const { openTestDatabase } = await import('../support/open-database.ts');

test('a database closes, also when it could not be loaded', async (t) => {
  isBroken = true;
  t.after(() => (isBroken = false));
  const own = await createTestDatabase();
  t.after(() => own.drop());
  const { databaseUrl, dataDir } = own;
  const db = await openDatabase({ databaseUrl, dataDir, clock: manualClock() });
  await assert.rejects(db.em(), /EMFILE/);
  await db.close();
});

test('a start, payments and webhooks do without it; a server preloads it, if need be again', async () => {
  const app = await startPixApp();
  const user = await givenCustomer(app);
  const sent = await app.send(user, { pix_key: 'ana@example.com', amount: 10 });
  await app.bank.settle(sent.body.end_to_end, 'COMPLETED');
  assert.equal((await app.settled(sent.body.transaction_id)).status, 'COMPLETED');
  assert.equal((await app.call('/accounts/balance', { token: user.token })).status, 200);
  assert.equal((await app.call('/accounts/statement', { token: user.token })).status, 200);
  assert.deepEqual([...loaded], []);

  isBroken = true;
  assert.equal((await app.call('/onboarding/pf', { body: newPerson() })).status, 500);
  await app.preload();
  assert.deepEqual([...loaded], [], 'the service goes on without it');
  isBroken = false;
  await app.preload();
  assert.ok(loaded.has('@mikro-orm/postgresql'));
  assert.equal((await app.call('/onboarding/pf', { body: newPerson() })).status, 201);
});

test('concurrent calls open it once', async () => {
  const { db } = await openTestDatabase();
  const [one, other] = await Promise.all([db.orm(), db.orm()]);
  assert.equal(one, other);
  const [unit, another] = await Promise.all([db.em(), db.em()]);
  assert.notEqual(unit, another, 'units of work are never shared');
});
