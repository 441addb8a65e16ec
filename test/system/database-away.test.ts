/** Real processes without a database: they wait at the start, keep running, stop on a signal. */
import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import pg from 'pg';
import { startDatabaseProxy, type DatabaseProxy } from '../support/database-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../support/db.ts';
import { eventually } from '../support/eventually.ts';
import { onlyOnServer } from '../support/open-database.ts';
import {
  settingsFor,
  startService,
  type ServiceCommand,
  type ServiceProcess,
} from './service-process.ts';

/** Far below the time-outs of statements, and more than a busy machine needs. */
const stopsWithinMs = 10_000;

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
});

after(() => database.drop());

describe('a worker', onlyOnServer, () => {
  it('outlives the end of its connections and the loss of its network', async (t) => {
    const { proxy, environment } = await behindProxy(t, database.databaseUrl ?? '');
    const administrator = await connected(t);
    const worker = startService(t, environment, 'worker');
    await worker.ready();

    await administrator.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`,
    );
    await runsJobs(worker, administrator);
    for (let round = 0; round < 2; round += 1) {
      await proxy.cut();
      await eventually(async () => (await listening(administrator)) === 0, 'the cut');
      await proxy.mend();
      await runsJobs(worker, administrator);
    }
    await stopsWell(worker);
  });

  it('stops in time while the database is away, and while the network is silent', async (t) => {
    for (const trouble of ['cut', 'hold'] as const) {
      const { proxy, environment } = await behindProxy(t, database.databaseUrl ?? '');
      const worker = startService(t, environment, 'worker');
      await worker.ready();
      await proxy[trouble]();
      await stopsWell(worker);
    }
  });
});

describe('a start while the database is away', () => {
  for (const command of ['serve', 'worker'] as const) {
    it(`of ${command} waits and says so, until it is there`, onlyOnServer, (t) =>
      startsLate(t, command),
    );
    it(`of ${command} ends well on a signal`, (t) => endsUnstarted(t, command));
  }
});

async function startsLate(t: TestContext, command: ServiceCommand): Promise<void> {
  const { proxy, environment } = await behindProxy(t, database.databaseUrl ?? '');
  proxy.refuse('53300');
  const service = startService(t, environment, command);
  await Promise.race([isWaiting(service), endedEarly(service)]);
  await proxy.mend();
  await service.ready();
  await stopsWell(service);
}

async function endsUnstarted(t: TestContext, command: ServiceCommand): Promise<void> {
  const { proxy, environment } = await behindProxy(t, 'postgres://ponte@127.0.0.1:1/ponte');
  proxy.refuse('57P03');
  const service = startService(t, environment, command);
  await Promise.race([isWaiting(service), endedEarly(service)]);
  service.signal('SIGTERM');
  const { code, stderr } = await service.ended;
  assert.equal(stderr, 'ponte: the database is not ready yet (57P03)\n');
  assert.equal(code, 0);
}

function isWaiting(service: ServiceProcess): Promise<boolean> {
  const isSaid = () => service.stdout.includes('the start waits for the database');
  return eventually(isSaid, 'the word of the wait');
}

async function behindProxy(
  t: TestContext,
  databaseUrl: string,
): Promise<{ proxy: DatabaseProxy; environment: Record<string, string> }> {
  const proxy = await startDatabaseProxy(databaseUrl);
  t.after(() => proxy.cut());
  const settings = { ...settingsFor(database), JOB_LEASE_SECONDS: '3' };
  // A worker refuses the simulated bank; nothing here calls the provider.
  const provider = { PROVIDER_STUB: 'false', PROVIDER_BASE_URL: 'http://127.0.0.1:1' };
  return { proxy, environment: { ...settings, ...provider, DATABASE_URL: proxy.url } };
}

async function connected(t: TestContext): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.databaseUrl });
  await client.connect();
  t.after(() => client.end());
  return client;
}

/** @returns the number of connections that listen for notifications. */
async function listening(administrator: pg.Client): Promise<number> {
  const { rowCount } = await administrator.query(
    `select 1 from pg_stat_activity
      where datname = current_database() and application_name = 'ponte-listen'`,
  );
  return rowCount ?? 0;
}

/** Waits until the worker listens again and has done a job that is due now. */
async function runsJobs(worker: ServiceProcess, administrator: pg.Client): Promise<void> {
  const wait = async () => {
    await eventually(async () => (await listening(administrator)) === 1, 'the reconnection');
    await administrator.query(`update jobs set run_at = now() where kind = 'purge-throttle'`);
    await administrator.query('notify ponte_jobs');
    await eventually(async () => {
      const { rowCount } = await administrator.query(
        `select 1 from jobs
          where kind = 'purge-throttle' and status = 'queued' and run_at > now()`,
      );
      return rowCount === 1;
    }, 'the job');
  };
  await Promise.race([wait(), endedEarly(worker)]);
}

function endedEarly(service: ServiceProcess): Promise<never> {
  return service.ended.then((end) => assert.fail(JSON.stringify(end)));
}

async function stopsWell(service: ServiceProcess): Promise<void> {
  const askedAt = performance.now();
  service.signal('SIGTERM');
  const { code, stderr } = await service.ended;
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  const tookMs = performance.now() - askedAt;
  assert.ok(tookMs < stopsWithinMs, `the stop took ${Math.round(tookMs)} ms`);
}
