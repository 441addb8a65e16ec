/**
 * The processes of compose.yaml, each in the image that the Containerfile builds: customers pay,
 * two of the processes get SIGTERM in the middle, and nothing is lost.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { Cluster, serverPrograms } from '../chaos/cluster.ts';
import { deployFolder, readComposeFile } from '../support/compose-file.ts';
import { freePort } from '../support/free-port.ts';
import { Image, missingTool, Store, type ContainerOptions } from './container.ts';
import { ServiceProcess, type Environment, type ServiceResponse } from './service-process.ts';

const run = promisify(execFile);

const payments = 60;
const atOnce = 10;
const answeredBeforeStop = 25;

const programs = serverPrograms();
const missing =
  missingTool() ??
  (programs === null ? "needs PostgreSQL's server programs on this machine" : null);
const skip = missing ?? false;

const person = { email: 'dev@ponte.test', password: 'a long password of maria' };
const createPerson =
  `echo '${person.password}' | ponte user create --name 'Maria da Silva' --email ${person.email} ` +
  `--document 111.444.777-35 --phone '(11) 98765-4321' --password-stdin`;

describe('the container image', { skip, timeout: 400_000 }, () => {
  let store: Store;
  let image: Image;

  before(async () => {
    store = new Store();
    await store.prepare();
    image = await Image.build(store);
  });

  after(() => store.remove());

  it('adds at most 160 MB to its base, and nothing that only a developer needs', () => {
    assert.ok(image.addedBytes < 160e6, `${image.addedBytes} bytes`);
    const packages = ['typescript', 'oxlint', 'ink', '@electric-sql', '@scalar'];
    const found = packages.filter((name) =>
      existsSync(join(image.files, 'app', 'node_modules', name)),
    );
    assert.deepEqual(found, []);
    assert.equal(existsSync(join(image.files, 'app', 'test')), false);
  });

  it('runs as a user with a number, and is stopped by SIGTERM', () => {
    assert.match(image.config.User, /^[1-9]\d*:[1-9]\d*$/);
    assert.equal(image.config.StopSignal, 'SIGTERM');
  });

  it('has the same files when it is built again', async () => {
    assert.deepEqual((await Image.build(store)).layers, image.layers);
  });

  it('loses no payment when processes of compose.yaml are stopped', async (t) => {
    assert.ok(programs);
    const deployment = await Deployment.create(image, programs);
    t.after(() => deployment.remove());
    const [first, second] = await deployment.startAll();
    const worker = deployment.processes['worker'];
    assert.ok(first && second && worker);
    await deployment.succeeds('server-1', {
      entrypoint: ['sh', '-c', createPerson],
      command: [],
    });
    await deployment.succeeds('server-1', deployment.healthCheck());

    const { body } = await first.call('/auth/login', { body: person });
    const token = body.access_token;
    assert.ok(token, JSON.stringify(body));
    const sent = new Map<string, string>();
    await inTurns(async (nth) => {
      const payment = { nth, token };
      const response =
        (nth % 2 === 0 ? await pay(second, payment) : null) ?? (await pay(first, payment));
      assert.equal(response?.status, 200, JSON.stringify(response?.body));
      sent.set(makeKey(nth), response?.body.transaction_id ?? '');
      if (sent.size !== answeredBeforeStop) return;
      second.signal('SIGTERM');
      worker.signal('SIGTERM');
    });
    for (const process of [second, worker]) assert.equal((await process.ended).code, 0);
    await deployment.start('worker');

    await inTurns(async (nth) => {
      assert.equal(await finalStatus(first, token, sent.get(makeKey(nth)) ?? ''), 'COMPLETED');
    });
    const { items } = (await first.call('/accounts/statement', { token })).body;
    const keys = Array.from({ length: payments }, (_, nth) => makeKey(nth)).toSorted();
    const paid = items.remote.map(({ clientRequestId }) => clientRequestId).toSorted();
    assert.deepEqual(paid, keys, 'the provider has executed each payment once');
    assert.equal(items.local.length, payments);
    await deployment.succeeds('server-1', { command: ['pix', 'audit'] });
  });
});

const makeKey = (nth: number): string => `payment-${nth}`;

/** Runs the work for each payment, some at a time. */
async function inTurns(work: (nth: number) => Promise<void>): Promise<void> {
  const waiting = Array.from({ length: payments }, (_, nth) => nth).values();
  const worker = async (): Promise<void> => {
    for (const nth of waiting) await work(nth);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** @returns null when the server has stopped or does not take the request. */
async function pay(
  server: ServiceProcess,
  { nth, token }: { readonly nth: number; readonly token: string },
): Promise<ServiceResponse | null> {
  const body = { pix_key: 'bruno@example.com', amount: (100 + nth) / 100 };
  const response = await server
    .call('/pix/send', { token, key: makeKey(nth), body })
    .catch(() => null);
  return response?.status === 503 ? null : response;
}

async function finalStatus(server: ServiceProcess, token: string, id: string): Promise<string> {
  for (;;) {
    const { body } = await server.call(`/pix/${id}`, { token, headers: { prefer: 'wait=20' } });
    if (body.status !== 'PROCESSING') return body.status;
  }
}

/** compose.yaml on this machine's network: other ports in place of other addresses. */
class Deployment {
  readonly processes: Record<string, ServiceProcess> = {};
  #sandbox: { kill(signal: 'SIGKILL'): boolean } | null = null;
  readonly #services = readComposeFile().services;
  readonly #image: Image;
  readonly #cluster: Cluster;
  readonly #secrets: string;
  readonly #ports: Readonly<Record<string, number>>;

  private constructor(of: {
    readonly image: Image;
    readonly cluster: Cluster;
    readonly secrets: string;
    readonly ports: Readonly<Record<string, number>>;
  }) {
    this.#image = of.image;
    this.#cluster = of.cluster;
    this.#secrets = of.secrets;
    this.#ports = of.ports;
  }

  /** Makes the secrets and the database, as the first start of the compose file does. */
  static async create(image: Image, serverFolder: string): Promise<Deployment> {
    const secrets = join(mkdtempSync(join(tmpdir(), 'ponte-deploy-')), 'secrets');
    await run('sh', [join(deployFolder, 'make-secrets.sh'), secrets]);
    const cluster = await Cluster.create(serverFolder);
    const ports = {
      'server-1': await freePort(),
      'server-2': await freePort(),
      sandbox: await freePort(),
      postgres: cluster.port,
    };
    const deployment = new Deployment({ image, cluster, secrets, ports });
    for (const name of ['service.url', 'migrator.url']) {
      const file = join(secrets, name);
      writeFileSync(file, deployment.#addressed(readFileSync(file, 'utf8')));
    }
    await deployment.#createDatabase(serverFolder);
    return deployment;
  }

  /** Runs what the image of PostgreSQL runs at its first start. */
  async #createDatabase(serverFolder: string): Promise<void> {
    const path = `${serverFolder}:${process.env['PATH'] ?? ''}`;
    const env = {
      PATH: path,
      PGHOST: '127.0.0.1',
      PGPORT: `${this.#cluster.port}`,
      POSTGRES_DB: 'ponte',
    };
    const psql = ['-v', 'ON_ERROR_STOP=1', '-U', 'postgres', '-d'];
    await run('psql', [...psql, 'postgres', '-c', 'create database ponte'], { env });
    await run('psql', [...psql, 'ponte', '-f', join(deployFolder, 'roles.sql')], { env });
    const mounted =
      'mount -t tmpfs tmpfs /run; mkdir /run/secrets; mount --bind "$1" /run/secrets; sh "$2"';
    const script = join(deployFolder, 'passwords.sh');
    await run('unshare', ['--mount', 'sh', '-euc', mounted, 'sh', this.#secrets, script], { env });
  }

  /** Starts all processes in the order of their dependencies. @returns the servers. */
  async startAll(): Promise<ServiceProcess[]> {
    this.#sandbox = this.#image.start(this.#options('sandbox'));
    await this.succeeds('migrate');
    return Promise.all(['server-1', 'server-2', 'worker'].map((name) => this.start(name)));
  }

  async start(name: string): Promise<ServiceProcess> {
    const child = this.#image.start(this.#options(name));
    const process = new ServiceProcess({}, 'serve', () => child);
    this.processes[name] = process;
    await process.ready();
    return process;
  }

  /** Runs a command with the settings of a service. */
  async succeeds(name: string, options: Partial<ContainerOptions> = {}): Promise<void> {
    const { code, output } = await this.#image.run({ ...this.#options(name), ...options });
    assert.equal(code, 0, output);
  }

  /** The health check of the image. */
  healthCheck(): Partial<ContainerOptions> {
    const [, ...command] = this.#image.config.Healthcheck.Test;
    const port = `${this.#ports['server-1']}`;
    return { entrypoint: [], command: command.map((part) => part.replace('3000', port)) };
  }

  async remove(): Promise<void> {
    this.#sandbox?.kill('SIGKILL');
    for (const process of Object.values(this.processes)) await process.kill();
    await this.#cluster.close();
    rmSync(join(this.#secrets, '..'), { recursive: true, force: true });
  }

  #options(name: string): ContainerOptions {
    const service = this.#services[name];
    assert.ok(service, name);
    const { environment = {}, command } = service;
    const addressed = Object.entries(environment).map(([key, value]) => [
      key,
      this.#addressed(value),
    ]);
    const local = { HOST: '127.0.0.1', PORT: `${this.#ports[name] ?? 0}`, METRICS_PORT: '0' };
    return {
      command: command.map((part) =>
        this.#addressed(part).replace('--port=9090', `--port=${this.#ports['sandbox']}`),
      ),
      environment: { ...(Object.fromEntries(addressed) as Environment), ...local },
      secrets: this.#secrets,
      // A platform may choose any user.
      ...(name === 'server-2' && { user: '4242:4242' }),
    };
  }

  /** Replaces the addresses of the services. */
  #addressed(text: string): string {
    return text.replaceAll(
      /\b(server-\d|sandbox|postgres):(\d+)/g,
      (_, name: string) => `127.0.0.1:${this.#ports[name]}`,
    );
  }
}
