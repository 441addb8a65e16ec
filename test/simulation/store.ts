/**
 * The database of all simulations in a run, opened once, with three customers. Between two seeds
 * everything is taken out of it that a seed has put in.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { loadConfig, type Config } from '../../src/config/config.ts';
import { openDatabase, type Database } from '../../src/db/database.ts';
import { migrateUp } from '../../src/db/migrate.ts';
import { indexedSettings } from '../../src/db/pool.ts';
import { createLog, type Log } from '../../src/log.ts';
import { createMetrics, type Metrics } from '../../src/metrics.ts';
import { bothEngines, embeddedEngine, memoryEngine, type EngineName } from './engines.ts';
import { readCatalog, type Catalog, type RunQuery as Ask } from './memory/catalog.ts';
import type { Snapshot } from './memory/database.ts';
import type { AccountRef } from '../../src/provider/provider.ts';
import { createSealer, type Sealer } from '../../src/security/sealing.ts';
import { listedKeyOf } from './bank/listed-key.ts';

/** A customer as the store keeps it, for all seeds. */
export interface StoredCustomer {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly passwordHash: string;
  readonly account: AccountRef;
}

/** Who is told of what the database notifies and of what the service logs. */
export interface Watch {
  notified(channel: string, payload: string): void;
  /** @param line JSON. */
  logged(line: string): void;
}

export interface Store {
  readonly config: Config;
  readonly db: Database;
  /** Errors only. */
  readonly log: Log;
  readonly metrics: Metrics;
  readonly sealer: Sealer;
  readonly customers: readonly StoredCustomer[];
  readonly time: HistoryTime;
  /** Runs a statement of the simulation's own. */
  rows<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** Takes out what the last seed has put in; from now on the next one is told. */
  reset(next: Watch): Promise<void>;
  /** What all tables hold now: a commit that one can go back to. */
  snapshot(): Snapshot;
  /** Goes back to a snapshot: whatever was committed since is lost. */
  restore(snapshot: Snapshot): Promise<void>;
  /** Where the database in memory differs from PostgreSQL, if both run; each is told once. */
  differences(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/**
 * Nothing here has to survive; otherwise the statements are planned as the service has them planned
 * on a server, where they take the rows of a batch in the order of its calls.
 */
const tuning = [...indexedSettings, 'synchronous_commit=off'].map((one) => `set ${one}`);

export interface StoreOptions {
  /** Without one, the rows are kept in memory alone. */
  readonly engine?: EngineName;
  /** A folder with a migrated database in it; without one, a new one is made. */
  readonly folder?: string;
  /** A migrated server in place of the embedded database. */
  readonly databaseUrl?: string | undefined;
  /** What another process has prepared: then the rows are kept in memory. */
  readonly prepared?: Prepared;
}

/** The schema with the customers in it. */
export interface Prepared {
  readonly catalog: Catalog;
  readonly customers: readonly StoredCustomer[];
}

const realEngines = { embedded: embeddedEngine, both: bothEngines } as const;

/** Migrates a database, and tells what is in it then. */
export async function prepareStore(): Promise<Prepared> {
  const { prepared, close } = await openReal({});
  await close();
  return prepared;
}

/** PostgreSQL, migrated, with the customers in it. */
async function openReal({ folder, databaseUrl }: StoreOptions) {
  const dataDir = folder ?? (await mkdtemp(join(tmpdir(), 'ponte-simulation-')));
  const real = await openDatabase({ databaseUrl, dataDir, clock: systemClock, appEvents: true });
  await migrateUp(real);
  const ask: Ask = (text, parameters = []) => real.query({ name: '', text }, parameters);
  for (const setting of databaseUrl ? [] : tuning) await ask(setting);
  const customers = await insertCustomers(ask);
  return {
    real,
    prepared: { catalog: await readCatalog(ask), customers },
    async close(): Promise<void> {
      await real.close();
      if (folder === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Opens the database. */
export async function openStore(options: StoreOptions = {}): Promise<Store> {
  const { engine: name = 'memory' } = options;
  const opened = options.prepared ? null : await openReal(options);
  const prepared = options.prepared ?? opened?.prepared;
  if (!prepared) throw new Error('no database was opened');
  const { catalog, customers } = prepared;
  let watch: Watch = { notified: () => undefined, logged: () => undefined };
  const notified = (channel: string, payload: string): void => watch.notified(channel, payload);
  const isInMemory = name === 'memory' || !opened;
  if (isInMemory) await opened?.close();
  const engine = isInMemory
    ? await memoryEngine({ catalog, notified })
    : await realEngines[name]({ real: opened.real, catalog, notified });
  const config = loadConfig({ APP_ENV: 'test', DATA_DIR: tmpdir() });
  const time = new HistoryTime();
  return {
    config,
    db: engine.db,
    log: createLog({
      level: 'error',
      pretty: false,
      destination: { write: (line: string) => watch.logged(line) },
    }),
    metrics: createMetrics(),
    sealer: createSealer([randomBytes(32)]),
    customers,
    time,
    rows: (text, parameters = []) => engine.db.query({ name: '', text }, parameters),
    snapshot: () => engine.snapshot(),
    restore: (snapshot) => engine.restore(snapshot),
    differences: () => engine.differences(),
    async reset(next) {
      watch = next;
      await engine.reset();
    },
    async close() {
      time.close();
      if (!isInMemory) await opened.close();
    },
  };
}

/**
 * Lets `Date.now` tell the time of the histories, one after the other, for what does not ask our
 * clock: the breaker, and the embedded database, whose own timers must never see it jump back.
 */
class HistoryTime {
  readonly #real = Date.now;

  begin(elapsedMs: () => number): void {
    const beganMs = Date.now();
    Date.now = () => beganMs + elapsedMs();
  }

  /** Time stands still until the next history begins. */
  end(): void {
    const endedMs = Date.now();
    Date.now = () => endedMs;
  }

  close(): void {
    Date.now = this.#real;
  }
}

/** Each with a CPF. */
const people = [
  ['ana', '52998224725'],
  ['bia', '11144477735'],
  ['caio', '12345678909'],
] as const;

async function insertCustomers(rows: Ask): Promise<StoredCustomer[]> {
  const customers: StoredCustomer[] = [];
  const passwordHash = 'none';
  for (const [name, document] of people) {
    const email = `${name}@simulation.test`;
    const account = { agency: '0001', accountNumber: `10${customers.length}7`, document };
    const { agency, accountNumber } = account;
    const [user] = await rows<{ id: number }>(
      `with made as (
         insert into users (name, email, document, password_hash, created_at, updated_at)
         values ($1, $2, $3, $6, now(), now()) returning id
       )
       insert into accounts
              (user_id, provider, agency, account_number, document, pix_keys, status, created_at,
               updated_at)
       select id, 'provider', $4, $5, $3, array[$7], 'ACTIVE', now(), now() from made
       returning user_id as id`,
      [name, email, document, agency, accountNumber, passwordHash, listedKeyOf({ name })],
    );
    if (!user) throw new Error('a customer was not stored');
    customers.push({ id: user.id, name, email, passwordHash, account });
  }
  return customers;
}
