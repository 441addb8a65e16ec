/**
 * Each released version leaves a database with payments, charges and events. The current code
 * migrates it to the schema that it makes on an empty one, and serves what is stored.
 */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { catalogue, type Rows } from '../support/catalogue.ts';
import { onServer, serverUrl, withDatabase } from '../support/db.ts';
import { eventually } from '../support/eventually.ts';
import { openTestDatabase } from '../support/open-database.ts';
import { checkInvariants } from './audit.ts';
import { checkOutRelease, missingRelease, releases, type Release } from './previous-release.ts';
import { ServiceProcess, settingsFor, startService, type Environment } from './service-process.ts';

const fresh = serverUrl ? await openTestDatabase() : null;

for (const release of releases) {
  const { version } = release;
  const skip = serverUrl ? missingRelease(release) : 'runs on PostgreSQL; set DATABASE_URL';
  test(`a database of ${version} with data is migrated, and served on`, { skip }, async (t) => {
    const upgraded = await emptyDatabase(t);
    const { environment, rows } = upgraded;
    const left = await fillByRelease(t, upgraded, release);
    // 1.0.0 has written it in a form that is no longer read, as the changelog of 1.3.0 says.
    await rm(join(environment['DATA_DIR'] ?? '', 'simulated-bank.jsonl'), { force: true });

    const current = startService(t, environment);
    await current.ready();
    assert(fresh);
    assert.deepEqual(await catalogue(rows), await catalogue(fresh.rows));
    await servesWhatIsStored(current, left);
    assert.deepEqual(await rows(openOnOneSideOnly, []), []);
    assert.deepEqual(
      await rows('select attention from webhook_events where status = $1', ['parked']),
      [{ attention: 'parked' }],
    );
    const { transactions } = await checkInvariants(environment);
    assert.equal(transactions, left.length + 1);
  });
}

/** The transactions that are open by their status or by `pix_open`, and not by both. */
const openOnOneSideOnly = `
  select coalesce(t.id, o.transaction_id) as id
    from (select id from pix_transactions
           where status = 'PROCESSING' and (qr_code is null or expires_at is not null)) t
    full join pix_open o on o.transaction_id = t.id
   where t.id is null or o.transaction_id is null`;

/** What a release has answered. */
interface Left {
  readonly path: '/pix/send' | '/pix/charge';
  readonly key: string;
  readonly body: object;
  readonly id: string;
  readonly status: string;
}

const orders: readonly Pick<Left, 'path' | 'body'>[] = [
  { path: '/pix/send', body: { pix_key: 'maria@example.com', amount: 1.25 } },
  { path: '/pix/send', body: { pix_key: 'maria@example.com', amount: 2.5, description: 'lunch' } },
  { path: '/pix/charge', body: { type: 'dynamic', amount: 5 } },
  { path: '/pix/charge', body: { type: 'static', amount: 7 } },
];

/** Runs a release on an empty database, and kills it. @returns the transactions it has made. */
async function fillByRelease(
  t: TestContext,
  { environment, rows }: Upgraded,
  release: Release,
): Promise<Left[]> {
  const service = new ServiceProcess(environment, 'serve', await checkOutRelease(t, release));
  t.after(() => service.kill());
  await service.ready();
  const token = await service.logIn();
  const left: Left[] = [];
  for (const order of orders) {
    const key = randomUUID();
    const made = await service.call(order.path, { token, key, body: order.body });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    const id = made.body.transaction_id;
    const isSend = order.path === '/pix/send';
    const status = isSend ? await endOf(service, { token, id }) : made.body.status;
    left.push({ ...order, key, id, status });
  }
  // No transaction has its id: it is parked until one comes.
  const event = {
    type: 'pix',
    endToEndId: 'E00000000202605241200aaaaaaaaaaa',
    status: 'CONFIRMED',
  };
  assert.equal((await service.call('/webhooks/provider', { body: event })).status, 200);
  const read = 'select from webhook_events where status = $1';
  await eventually(async () => (await rows(read, ['parked'])).length === 1, 'the parked event');
  await service.kill();
  return left;
}

/** Waits for the end of a payment. @returns its status. */
async function endOf(
  service: ServiceProcess,
  { token, id }: { readonly token: string; readonly id: string },
): Promise<string> {
  return eventually(async () => {
    const { body } = await service.call(`/pix/${id}`, { token });
    return body.status === 'PROCESSING' ? undefined : body.status;
  }, 'the end of the payment');
}

/** Shows and repeats each transaction, and makes a new payment. */
async function servesWhatIsStored(current: ServiceProcess, left: readonly Left[]): Promise<void> {
  const token = await current.logIn();
  for (const { path, key, body, id, status } of left) {
    const shown = await current.call(`/pix/${id}`, { token });
    assert.deepEqual([shown.status, shown.body.status], [200, status]);
    const repeated = await current.call(path, { token, key, body });
    assert.equal(repeated.headers.get('idempotency-replayed'), 'true');
    assert.equal(repeated.body.transaction_id, id);
  }
  const body = { pix_key: 'maria@example.com', amount: 1.25 };
  const sent = await current.call('/pix/send', { token, key: randomUUID(), body });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  assert.equal(await endOf(current, { token, id: sent.body.transaction_id }), 'COMPLETED');
}

/** A database and its data folder. */
interface Upgraded {
  /** The settings of a process that owns both. */
  readonly environment: Environment;
  readonly rows: Rows;
}

/** A database without a schema, and an empty data folder. */
async function emptyDatabase(t: TestContext): Promise<Upgraded> {
  const server = serverUrl ?? assert.fail('no server');
  const name = `ponte_test_${randomBytes(6).toString('hex')}`;
  const dataDir = await mkdtemp(join(tmpdir(), 'ponte-upgrade-'));
  await onServer(server, `create database ${name}`);
  t.after(async () => {
    await onServer(server, `drop database if exists ${name} with (force)`);
    await rm(dataDir, { recursive: true, force: true });
  });
  const databaseUrl = withDatabase(server, name);
  return {
    environment: settingsFor({ databaseUrl, dataDir }),
    rows: (text, parameters) => onServer(databaseUrl, text, parameters),
  };
}
