/** Waits for a transaction without notifications, or without a database: they poll. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDatabaseProxy } from '../../support/database-proxy.ts';
import { createTestDatabase } from '../../support/db.ts';
import { eventually } from '../../support/eventually.ts';
import { givenCustomer } from '../../support/factories.ts';
import { onlyOnServer } from '../../support/open-database.ts';
import { passUntil } from '../../support/passing-time.ts';
import { startPixApp } from './pix-app.ts';
import { afterFile } from '../../support/suite.ts';

const pollMs = 1_500;

/** Nothing else waits so long. */
const waitMs = 29_000;

async function behindProxy() {
  const database = await createTestDatabase();
  const proxy = await startDatabaseProxy(database.databaseUrl ?? '');
  const app = await startPixApp({ database: { ...database, databaseUrl: proxy.url } });
  afterFile(async () => {
    await proxy.cut();
    await database.drop();
  });
  const user = await givenCustomer(app);
  const sent = await app.send(user, { pix_key: 'slow@ponte.test', amount: 10 });
  const { transaction_id: id, end_to_end: endToEnd } = sent.body as Record<string, string>;
  assert.ok(id && endToEnd);
  const follow = () => app.view(user, id, { prefer: `wait=${waitMs / 1_000}` });
  /** What `GET /health/ready` says of notifications; the service is ready all the same. */
  const notifications = async (): Promise<boolean> => {
    const response = await fetch(`${app.url}/health/ready`);
    assert.equal(response.status, 200);
    const { checks } = (await response.json()) as { checks: { notifications: boolean } };
    return checks.notifications;
  };
  return { app, proxy, id, endToEnd, follow, notifications };
}

test('a wait polls while notifications do not arrive', onlyOnServer, async () => {
  const { app, proxy, id, endToEnd, follow, notifications } = await behindProxy();
  assert.equal(await notifications(), true);
  const following = follow();
  await app.waiting(waitMs);

  proxy.hold({ application: 'ponte-listen' });
  await app.clock.advance(3_000);
  await app.waiting(pollMs);
  assert.equal(await notifications(), false);
  const metrics = await (await fetch(`${app.url}/metrics`)).text();
  assert.match(metrics, /^ponte_database_notifications_up 0$/m);
  assert.ok(app.logLines.some((line) => line.includes('notifications of the database do not')));

  await app.bank.settle(endToEnd);
  await app.settled(id);
  await app.clock.advance(pollMs);
  const { status, body } = await following;
  assert.deepEqual([status, body.status], [200, 'COMPLETED']);

  await proxy.mend();
  await eventually(async () => {
    await app.clock.advance(1_000);
    return notifications();
  }, 'the reconnection');
});

test('a wait survives an unavailable database', onlyOnServer, async () => {
  const { app, proxy, endToEnd, follow } = await behindProxy();
  const following = follow();
  await app.waiting(waitMs);
  await proxy.cut();
  await app.waiting(pollMs);
  await app.clock.advance(pollMs);
  await app.waiting(pollMs);
  await proxy.mend();
  await app.bank.settle(endToEnd);
  const { status, body } = await passUntil(app.clock, following);
  assert.deepEqual([status, body.status], [200, 'COMPLETED']);
});

test('a wait that ends while the database is unavailable is 503', onlyOnServer, async () => {
  const { app, proxy, follow } = await behindProxy();
  const following = follow();
  await app.waiting(waitMs);
  await proxy.cut();
  await app.waiting(pollMs);
  await app.clock.advance(waitMs);
  assert.equal((await following).status, 503);
});
