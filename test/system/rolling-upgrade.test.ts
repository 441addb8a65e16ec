/**
 * A rolling upgrade: an instance of the previous release runs beside one of the current code, on
 * the schema of the current code. Every request succeeds, and the audit finds no violation.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { checkInvariants } from './audit.ts';
import { ServiceProcess, settingsFor, startService } from './service-process.ts';
import { createTestDatabase, onServer, serverUrl, type TestDatabase } from '../support/db.ts';
import { eventually } from '../support/eventually.ts';
import { checkOutRelease, missingRelease } from './previous-release.ts';

/** The number of payments, each sent at one instance and repeated at the other. */
const payments = 100;

/** The number of concurrent payments: enough to share batched statements and to wait for locks. */
const atOnce = 16;

const skip = serverUrl ? missingRelease() : 'runs on PostgreSQL; set DATABASE_URL';

test('the previous release runs beside the current code', { skip }, async (t) => {
  const database = await createTestDatabase();
  t.after(() => database.drop());
  const instances = await startBoth(t, database);
  const [previous, current] = instances;
  const customers = await Promise.all(instances.map((instance) => instance.logIn()));
  // A session that one instance has opened is valid at the other.
  const token = customers[0] ?? assert.fail('no customer has logged in');
  let begun = 0;
  const lane = async (): Promise<void> => {
    while (begun < payments) {
      begun += 1;
      await (begun % 2 === 0 ? pay(previous, current, token) : pay(current, previous, token));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  await eventually(() => isSettled(database), 'the end of all payments and jobs');
  const { transactions } = await checkInvariants(settingsFor(database));
  assert.equal(transactions, 2 * payments);
});

test('the previous release leaves the returns of the current code open', { skip }, async (t) => {
  const database = await createTestDatabase();
  t.after(() => database.drop());
  // The bank accepts a return, and reports no end.
  const environment = { ...settingsFor(database), STUB_SETTLE_MS: '0' };
  const current = startService(t, environment);
  await current.ready();
  const token = await current.logIn();
  const received = await receive(current, token);
  const returns = await Promise.all(
    // The bank answers the second one with 500: its outcome is unknown.
    [5, 0.94].map(async (amount) => {
      const body = { amount, reason: 'OTHER' };
      const made = await ask(current, `/pix/${received}/refund`, {
        token,
        key: randomUUID(),
        body,
      });
      assert.equal(made.body.status, 'PROCESSING');
      return made.body.transaction_id;
    }),
  );
  await current.kill();
  // Older than every wait of the sweep, which the start of a process runs once it is due.
  await query(
    database,
    `do $$ begin
       perform set_config('session_replication_role', 'replica', true);
       update pix_transactions
          set created_at = created_at - interval '1 day',
              updated_at = updated_at - interval '1 day';
       update jobs set run_at = now() - interval '1 day' where kind = 'sweep-pix';
     end $$`,
  );
  const stored = (): Promise<unknown[]> =>
    query(database, 'select * from pix_transactions order by id');
  const before = await stored();
  const folder = await checkOutRelease(t);
  const previous = new ServiceProcess(environment, 'serve', folder);
  t.after(() => previous.kill());
  await previous.ready();
  const swept =
    "select from jobs where kind = 'sweep-pix' and status = 'queued' and run_at > now()";
  await eventually(async () => (await query(database, swept)).length === 1, 'the sweep');
  for (const id of [received, ...returns]) {
    await ask(previous, `/pix/${id}`, { token });
    await ask(previous, `/pix/${id}/receipt`, { token });
  }
  for (const path of ['/pix', '/accounts/statement']) await ask(previous, path, { token });
  assert.deepEqual(await stored(), before);
});

/** Receives a Pix of R$ 20. @returns its transaction. */
async function receive(service: ServiceProcess, token: string): Promise<string> {
  const url = `${await service.ready()}/dev/bank/receive?email=dev@ponte.test&amount=20`;
  await fetch(url, { method: 'POST', headers: { 'x-ponte-bank': 'test' } });
  return eventually(async () => {
    const { body } = await ask(service, '/pix?type=PIX_RECEIVED', { token });
    const [item] = body.items as unknown as { readonly transaction_id: string }[];
    return item?.transaction_id;
  }, 'the Pix');
}

type Both = readonly [previous: ServiceProcess, current: ServiceProcess];

async function startBoth(t: TestContext, database: TestDatabase): Promise<Both> {
  const environment = settingsFor(database);
  const folder = await checkOutRelease(t);
  const previous = new ServiceProcess(environment, 'serve', folder);
  t.after(() => previous.kill());
  const current = new ServiceProcess(environment);
  t.after(() => current.kill());
  await Promise.all([previous.ready(), current.ready()]);
  return [previous, current];
}

/** A payment and a charge, with all requests that an app makes for them. */
async function pay(one: ServiceProcess, other: ServiceProcess, token: string): Promise<void> {
  const key = randomUUID();
  const body = { pix_key: 'maria@example.com', amount: 1.25, description: key };
  const sent = await ask(one, '/pix/send', { token, key, body });
  const repeated = await ask(other, '/pix/send', { token, key, body });
  assert.equal(repeated.headers.get('idempotency-replayed'), 'true');
  assert.equal(repeated.body.transaction_id, sent.body.transaction_id);
  const headers = { prefer: 'wait=30' };
  const seen = await ask(other, `/pix/${sent.body.transaction_id}`, { token, headers });
  assert.equal(seen.body.status, 'COMPLETED');

  const order = { key: randomUUID(), body: { type: 'dynamic', amount: 2.5 } };
  const charge = await ask(one, '/pix/charge', { token, ...order });
  const again = await ask(other, '/pix/charge', { token, ...order });
  assert.equal(again.body.transaction_id, charge.body.transaction_id);
  await ask(other, '/webhooks/provider', { body: { type: 'pix', endToEndId: `E${key}` } });
  for (const path of ['/accounts/me', '/accounts/balance', '/accounts/statement']) {
    await ask(one, path, { token });
    await ask(other, path, { token });
  }
}

/** Sends a request, which must succeed. */
async function ask(
  service: ServiceProcess,
  path: string,
  request: Parameters<ServiceProcess['call']>[1],
): ReturnType<ServiceProcess['call']> {
  const response = await service.call(path, request);
  assert.equal(response.status, 200, `${path}: ${JSON.stringify(response.body)}`);
  return response;
}

async function isSettled(database: TestDatabase): Promise<boolean> {
  const open = await query(
    database,
    `select from pix_transactions where operation = 'SEND' and status = 'PROCESSING'
      union all
     select from jobs where kind = 'settle-webhook' and status in ('queued', 'running')
      union all
     select from webhook_queue q join webhook_events e on e.id = q.event_id
      where e.status = 'received'`,
  );
  return open.length === 0;
}

function query({ ownerUrl = '' }: TestDatabase, text: string): Promise<unknown[]> {
  return onServer(ownerUrl, text);
}
