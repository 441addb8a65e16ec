/** The service starts, refuses to start, and stops, as an operator sees it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { startDatabaseProxy } from '../support/database-proxy.ts';
import { createTestDatabase, serverUrl, withDatabase, type TestDatabase } from '../support/db.ts';
import { settingsFor, ServiceProcess, startService, type Environment } from './service-process.ts';

/** The limit for a warm start: far more than it needs, and still an acceptable wait. */
const warmStartSeconds = 5;

/** The time limit on a busy machine for an event that normally follows at once. */
const patienceMs = 25_000;

let database: TestDatabase;
let environment: Environment;
/** The service that most tests share; the last of them stops it. */
let service: ServiceProcess;

before(async () => {
  database = await createTestDatabase();
  environment = settingsFor(database);
  service = new ServiceProcess(environment);
});

after(async () => {
  await service.kill();
  await database.drop();
});

/** Starts a service on its own database, until the end of the test. */
async function startApart(t: TestContext, changes: Environment): Promise<ServiceProcess> {
  const own = await createTestDatabase();
  const apart = new ServiceProcess({ ...settingsFor(own), ...changes });
  t.after(async () => {
    await apart.kill();
    await own.drop();
  });
  return apart;
}

describe('a start', () => {
  it('tells what runs and where, and how to log in', async () => {
    const url = await service.ready();
    const tookSeconds = await processorSeconds(url);
    const placeOfData = serverUrl
      ? `PostgreSQL at ${new URL(serverUrl).host}`
      : `embedded, in ${database.dataDir}`;
    assert.deepEqual(service.stdout.split('\n').slice(0, 8), [
      'Ponte runs (local)',
      `  API        ${url}/api/v1`,
      `  contract   ${url}/openapi.yaml`,
      `  pages      ${url}/dev and ${url}/docs`,
      '  provider   simulated bank',
      `  database   ${placeOfData}`,
      '  login      dev@ponte.test / ponte-dev-password',
      '  stop       Ctrl-C',
    ]);
    assert.ok(tookSeconds < warmStartSeconds, `a warm start took ${tookSeconds} s`);
    const { status, body } = await service.call('/accounts/me', { token: await service.logIn() });
    assert.equal(status, 200);
    assert.equal(body.user.email, 'dev@ponte.test');
  });

  it("tells the provider's address when the provider is not simulated", async (t) => {
    const provider = { PROVIDER_STUB: 'false', PROVIDER_BASE_URL: 'https://bank.example/api/' };
    const other = await startApart(t, provider);
    await other.ready();
    assert.match(other.stdout, /^ {2}provider +https:\/\/bank\.example\/api$/m);
  });
});

describe('a first start on the embedded database', { skip: serverUrl !== undefined }, () => {
  it('says what takes time before it does it', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'ponte-first-start-'));
    t.after(() => rm(folder, { recursive: true }));
    const first = startService(t, { ...environment, DATA_DIR: folder });
    await first.ready();
    assert.match(
      first.stdout,
      /^Creating the database…\nApplying \d+ migrations…\nPonte runs \(local\)\n/,
    );
  });
});

describe('a start that is refused', () => {
  it('names every fault of the configuration at once, and exits 2', async (t) => {
    const faults = { APP_ENV: 'production', PORT: 'http', PROVIDER_STUB: 'true', DATABASE_URL: '' };
    const { code, stdout, stderr } = await startService(t, { ...environment, ...faults }).ended;
    assert.equal(code, 2);
    assert.equal(stdout, '');
    const [first, ...lines] = stderr.trimEnd().split('\n');
    assert.equal(first, 'ponte cannot start, because its configuration is not valid:');
    assert.deepEqual(
      lines.map((line) => /^ {2}([A-Z_]+) (?:must|is required)/.exec(line)?.[1]),
      [
        'PORT',
        'DATABASE_URL',
        'PROVIDER_STUB',
        'PROVIDER_BASE_URL',
        'PROVIDER_PAYMENT_RETRIES',
        'PROVIDER_DIALECTS',
        'WEBHOOK_SECRET',
        'JWT_PRIVATE_KEY',
        'JWT_PUBLIC_KEYS',
        'ENCRYPTION_KEY',
        'THROTTLE_LOGIN_PER_MINUTE',
        'THROTTLE_ADDRESS_PER_MINUTE',
        'TRUST_PROXY_HOPS',
      ],
    );
  });

  it('names APP_ENV where it is unset and others could reach the service, and exits 2', async (t) => {
    const open = { APP_ENV: '', HOST: '0.0.0.0' };
    const { code, stderr } = await startService(t, { ...environment, ...open }).ended;
    assert.equal(code, 2);
    assert.match(
      stderr,
      /^ {2}APP_ENV is required when .* HOST is not a loopback address: one of /m,
    );
  });

  it('says in one sentence that the port is taken, and exits 1', async (t) => {
    const other = createServer().listen(0, '127.0.0.1');
    t.after(() => other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { code, stdout, stderr } = await (await startApart(t, { PORT: String(port) })).ended;
    assert.equal(
      stderr,
      `ponte: another process already listens on 127.0.0.1:${port}: ` +
        `choose another port, such as PORT=${port + 1}\n`,
    );
    assert.equal(code, 1);
    // The service refuses the settings before it creates a database.
    assert.equal(stdout, '');
  });

  it(
    'says in one sentence that another process has the data folder, and exits 1',
    { skip: serverUrl !== undefined && 'only the embedded database serves one process at a time' },
    async (t) => {
      await service.ready();
      const { code, stderr } = await startService(t, environment).ended;
      const folder = database.dataDir;
      assert.equal(
        stderr,
        `ponte: the embedded database in ${folder} is in use by another process: ` +
          'stop the service, or wait for the command that uses it; or set DATA_DIR or DATABASE_URL\n',
      );
      assert.equal(code, 1);
      const token = await service.logIn();
      const { status } = await service.call('/accounts/me', { token });
      assert.equal(status, 200);
    },
  );

  it('says in one sentence that the database refused the password, and exits 1', async (t) => {
    const proxy = await startDatabaseProxy('postgres://ponte:not-shown@127.0.0.1:1/ponte');
    t.after(() => proxy.cut());
    proxy.refuse('28P01');
    const provider = { PROVIDER_STUB: 'false', PROVIDER_BASE_URL: 'http://127.0.0.1:1' };
    const refused = { ...environment, ...provider, DATABASE_URL: proxy.url };
    for (const command of ['serve', 'worker'] as const) {
      const { code, stdout, stderr } = await startService(t, refused, command).ended;
      assert.equal(
        stderr,
        'ponte: the database refused the user or the password of DATABASE_URL (28P01)\n',
      );
      assert.deepEqual([code, stdout], [1, '']);
    }
  });

  it(
    'says in one sentence that the database does not exist, and exits 1',
    { skip: serverUrl === undefined && 'needs a PostgreSQL server' },
    async (t) => {
      const unknown = { DATABASE_URL: withDatabase(serverUrl ?? '', 'ponte_does_not_exist') };
      const { code, stderr } = await startService(t, { ...environment, ...unknown }).ended;
      assert.equal(stderr, 'ponte: the database that DATABASE_URL names does not exist (3D000)\n');
      assert.equal(code, 1);
    },
  );
});

it('opens no inspector at SIGUSR1', async () => {
  await service.ready();
  service.signal('SIGUSR1');
  const { status } = await service.call('/accounts/me');
  assert.equal(status, 401);
  assert.doesNotMatch(service.stderr, /Debugger listening/);
});

describe('a stop', () => {
  it('answers a request that waits, and exits 0', async () => {
    await service.ready();
    const token = await service.logIn();
    const { body: sent } = await service.call('/pix/send', {
      token,
      key: 'waited-for',
      body: { pix_key: 'silent@ponte.test', amount: 1 },
    });
    const path = `/pix/${sent.transaction_id}`;
    const held = service.call(path, { token, headers: { prefer: 'wait=30' } });
    // This request uses a later connection: when it is answered, the first one has been read.
    await service.call(path, { token });
    const stoppedAt = performance.now();
    service.signal('SIGTERM');
    const { status, body, headers } = await held;
    assert.equal(status, 200);
    assert.equal(body.status, 'PROCESSING');
    assert.equal(headers.get('connection'), 'close');
    const { code, stdout, stderr } = await service.ended;
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.match(stdout, /\nstopped\n$/);
    assert.ok(performance.now() - stoppedAt < patienceMs, 'it waited for the whole thirty seconds');
  });

  it('is at once at the second signal, and exits 1', async (t) => {
    const other = await startApart(t, { PROVIDER_TIMEOUT_MS: '60000' });
    const url = await other.ready();
    const token = await other.logIn();
    const cut = assert.rejects(
      other.call('/pix/send', {
        token,
        key: 'never-answered',
        body: { pix_key: 'timeout@ponte.test', amount: 1 },
      }),
    );
    await until(async () => {
      const { body } = await other.call('/accounts/statement', { token });
      return body.items.remote.some(({ clientRequestId: id }) => id === 'never-answered');
    });
    other.signal('SIGTERM');
    await until(() => refusesConnections(url));
    other.signal('SIGINT');
    const { code, stderr } = await other.ended;
    assert.deepEqual({ code, stderr }, { code: 1, stderr: '' });
    await cut;
  });
});

/** @returns the CPU time of the process, which does not grow with other load on the machine. */
async function processorSeconds(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const [, seconds] = /^process_cpu_seconds_total (\S+)/m.exec(metrics) ?? [];
  return Number(seconds);
}

/** Polls until the condition holds. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, 'it never came to be');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function refusesConnections(url: string): Promise<boolean> {
  return fetch(`${url}/health/live`).then(
    () => false,
    () => true,
  );
}
