/**
 * The database of all simulations in a run, opened once, with three customers. Each seed begins
 * with its initial contents.
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
import { createLog, type Log } from '../../src/telemetry/log.ts';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts';
import {
  bothEngines,
  embeddedEngine,
  memoryEngine,
  type EngineName,
} from '../postgres-model/engines.ts';
import { readCatalog, type Catalog, type RunQuery } from '../postgres-model/catalog.ts';
import type { Snapshot } from '../postgres-model/database.ts';
import type { AccountRef } from '../../src/provider/provider.ts';
import { createSealer, type Sealer } from '../../src/security/sealing.ts';
import { toListedKey } from './bank/listed-key.ts';

/** A customer of all seeds. */
export interface StoredCustomer {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly passwordHash: string;
  readonly account: AccountRef;
}

/** Receives the notifications of the database and the log of the service. */
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
  /** Runs a statement of the simulation itself. */
  rows<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** Restores the initial contents; from now on `next` is notified. */
  reset(next: Watch): Promise<void>;
  /** The current contents of all tables, to be restored later. */
  snapshot(): Snapshot;
  /** Restores a snapshot: all later commits are lost. */
  restore(snapshot: Snapshot): Promise<void>;
  /** The differences between memory and PostgreSQL since the last call, if both run. */
  differences(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/**
 * No durability is needed; the planner settings are those of the service on a server, where a batch
 * reads its rows in the order of its calls.
 */
const tuning = [...indexedSettings, 'synchronous_commit=off'].map((one) => `set ${one}`);

export interface StoreOptions {
  /** Default: in memory only. */
  readonly engine?: EngineName;
  /** A folder with a migrated database; default: a new one. */
  readonly folder?: string;
  /** A migrated server instead of the embedded database. */
  readonly databaseUrl?: string | undefined;
  /** The result of `prepareStore` in another process: then the rows are in memory. */
  readonly prepared?: Prepared;
}

/** The schema and the customers. */
export interface Prepared {
  readonly catalog: Catalog;
  readonly customers: readonly StoredCustomer[];
}

const realEngines = { embedded: embeddedEngine, both: bothEngines } as const;

/** Migrates a database, and reads its schema and contents. */
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
  const ask: RunQuery = (text, parameters = []) => real.query({ name: '', text }, parameters);
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
 * Makes `Date.now` return the time of the histories, one after the other, for code that does not
 * use our clock: the circuit breaker, and the embedded database, for which it must never jump back.
 */
class HistoryTime {
  readonly #real = Date.now;

  begin(elapsedMs: () => number): void {
    const beganMs = Date.now();
    Date.now = () => beganMs + elapsedMs();
  }

  /** Stops the clock until the next history begins. */
  end(): void {
    const endedMs = Date.now();
    Date.now = () => endedMs;
  }

  close(): void {
    Date.now = this.#real;
  }
}

/** The customers, each with a CPF. */
const customersToInsert = [
  ['ana', '52998224725'],
  ['bia', '11144477735'],
  ['caio', '12345678909'],
] as const;

async function insertCustomers(rows: RunQuery): Promise<StoredCustomer[]> {
  const customers: StoredCustomer[] = [];
  const passwordHash = 'none';
  for (const [name, document] of customersToInsert) {
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
      [name, email, document, agency, accountNumber, passwordHash, toListedKey({ name })],
    );
    if (!user) throw new Error('a customer was not stored');
    customers.push({ id: user.id, name, email, passwordHash, account });
  }
  return customers;
}
