/** A run: processes, customers, the faults of a seed, a pause without faults, and the verdict. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { systemClock } from '../../src/clock.ts';
import type { PixAudit } from '../../src/operator/pix-audit.ts';
import { openSandbox } from '../../src/provider/sandbox/open.ts';
import type { LedgerView } from '../../src/provider/sandbox/ledger.ts';
import { serverEnvironment, type Environment } from '../bench/settings.ts';
import { storeCustomers } from '../bench/target.ts';
import { Chance } from '../simulation/chance.ts';
import { typePonte } from '../support/command-line.ts';
import { startDatabaseProxy } from '../support/database-proxy.ts';
import { Cluster } from './cluster.ts';
import { Customer } from './customers.ts';
import { faultNames, faults, type Victims } from './faults.ts';
import { Processes } from './processes.ts';
import { startPgBouncer } from './pgbouncer.ts';
import { verdict, type StoredSend } from './verdict.ts';

export interface ChaosOptions {
  /** The folder of PostgreSQL's server programs. */
  readonly programs: string;
  readonly seed: number;
  readonly minutes: number;
  readonly print: (line: string) => void;
}

const customerCount = 8;

const webhookSecret = 'chaos-webhook-secret-of-32-characters';

/** The faults of the provider during the whole run; its ledger stays correct. */
const providerFaults = [
  'payments:5xx-after@0.05',
  'payments:reset-after@0.04',
  'payments:hang@0.02',
  'payments:5xx-before@0.05',
  'payments:html@0.02',
  'keys/dict:latency=50ms..500ms@0.2',
  'keys/dict:5xx-before@0.03',
  '*:401@0.003',
].join(', ');

/** Two minutes until a dead process's payment becomes UNKNOWN, and two sweeps. */
const calmMs = 270_000;

/** @returns the violations. */
export async function chaos(options: ChaosOptions): Promise<string[]> {
  const { programs, seed, minutes, print } = options;
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'ponte-chaos-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const cluster = await Cluster.create(programs);
  parts.defer(() => cluster.close());
  const proxy = await startDatabaseProxy(cluster.url);
  parts.defer(() => proxy.cut());
  const processes = new Processes();
  await processes.open();
  parts.defer(() => processes.close());
  const sandbox = await openBank(processes.url, seed);
  parts.defer(() => sandbox.close());

  const environment: Environment = {
    ...serverEnvironment(),
    DATABASE_URL: proxy.url,
    DATA_DIR: folder,
    LOG_LEVEL: 'fatal',
    PROVIDER_STUB: 'false',
    PROVIDER_BASE_URL: sandbox.url,
    WEBHOOK_SECRET: webhookSecret,
    PROVIDER_TIMEOUT_MS: '1000',
    PROVIDER_RETRIES: '1',
    JOB_LEASE_SECONDS: '3',
  };
  const database = new Database(cluster.url);
  await ponte(environment, 'migrate up');
  await database.store();
  const pooler = await startPgBouncer(proxy.url);
  parts.defer(() => pooler?.close());
  await processes.start(environment, pooler?.url ?? proxy.url);
  const before = pooler ? 'one of them behind PgBouncer' : 'without PgBouncer, which is not here';
  print(`three servers and a worker run, ${before}`);

  let isOver = false;
  const customers = Array.from({ length: customerCount }, (_, nth) => {
    return new Customer(() => processes.url, `customer${nth + 1}@example.com`);
  });
  const paying = customers.map((customer) => customer.payUntil(() => isOver));
  const maxMs = Math.min(60_000, minutes * 10_000);
  const victims = { processes, cluster, proxy, chance: new Chance(seed), maxMs };
  await breakUntil(Date.now() + minutes * 60_000, victims, print);
  await processes.ready();
  isOver = true;
  await Promise.all(paying);
  print('no more faults');
  const ledger = (): Promise<LedgerView> => view(sandbox.url);
  await database.settles(ledger, Date.now() + calmMs);

  const [stored, { payments: executed }] = [await database.sends(), await ledger()];
  const reported = customers.flatMap((customer) => customer.reported);
  const open = stored.filter(({ status }) => status === 'PROCESSING').length;
  print(
    `${reported.length} payments reported, ${stored.length} stored, ${executed.length} executed`,
  );
  if (open > 0) print(`${open} never reached the provider, and wait for an operator`);
  const audit = JSON.parse(await ponte(environment, 'pix audit --json')) as PixAudit;
  const deadJobs = await database.deadJobs();
  const surprises = customers.flatMap((customer) => customer.surprises);
  return [...surprises, ...verdict({ executed, stored, reported, audit, deadJobs })];
}

function openBank(url: string, seed: number) {
  return openSandbox({
    clock: systemClock,
    ispb: '11165756',
    host: '127.0.0.1',
    port: 0,
    settleMs: 200,
    openingBalanceCents: 1e12,
    seed: String(seed),
    faults: providerFaults,
    webhook: { url: `${url}/api/v1/webhooks/provider`, secret: webhookSecret },
  });
}

async function breakUntil(
  endMs: number,
  victims: Victims,
  print: ChaosOptions['print'],
): Promise<void> {
  const { chance } = victims;
  // Each fault once, as far as there is time; then random ones.
  const order = chance.shuffled(faultNames);
  while (Date.now() < endMs) {
    await pause(chance.between(500, 2_500));
    const name = order.pop() ?? chance.pick(faultNames);
    const start = Date.now();
    await faults[name](victims);
    print(`${name}, ${((Date.now() - start) / 1_000).toFixed(1)} s`);
  }
}

async function view(sandboxUrl: string): Promise<LedgerView> {
  const response = await fetch(`${sandboxUrl}/sandbox/ledger`);
  return (await response.json()) as LedgerView;
}

async function ponte(environment: Environment, line: string): Promise<string> {
  const { stdout, stderr, code } = await typePonte(line.split(' '), { environment });
  if (stdout === '' && code !== 0) throw new Error(`ponte ${line}: ${stderr}`);
  return stdout;
}

/** Reads the database beside the service, on a connection without faults. */
class Database {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  store(): Promise<void> {
    return this.#with(storeCustomers);
  }

  sends(): Promise<StoredSend[]> {
    return this.#with(async (client) => {
      const { rows } = await client.query<StoredSend>(
        `select id, idempotency_key, status, phase from pix_transactions where operation = 'SEND'`,
      );
      return rows;
    });
  }

  deadJobs(): Promise<number> {
    return this.#with(async (client) => {
      const { rowCount } = await client.query(`select from jobs where status = 'dead'`);
      return rowCount ?? 0;
    });
  }

  /** Waits until only payments that never reached the provider are open, or until `endMs`. */
  async settles(ledger: () => Promise<LedgerView>, endMs: number): Promise<void> {
    for (;;) {
      const stored = await this.sends();
      const { payments } = await ledger();
      const executed = new Set(payments.map(({ clientRequestId }) => clientRequestId));
      const isOpen = stored.some(({ status, phase, idempotency_key: key }) => {
        return status === 'PROCESSING' && (phase !== 'UNKNOWN' || executed.has(key));
      });
      if (!isOpen || Date.now() > endMs) return;
      await pause(1_000);
    }
  }

  async #with<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: this.#url });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }
}
