/**
 * The database of all simulations in a run: the embedded one, opened once, with three customers.
 * Between two seeds everything is taken out of it that a seed has put in.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { loadConfig, type Config } from '../../src/config.ts';
import { openDatabase, type Database } from '../../src/db/database.ts';
import { migrateUp } from '../../src/db/migrate.ts';
import { createLog, type Log } from '../../src/log.ts';
import { createMetrics, type Metrics } from '../../src/metrics.ts';
import type { AccountRef } from '../../src/provider/provider.ts';
import { createSealer, type Sealer } from '../../src/security/sealing.ts';
import { listedKeyOf } from './bank/identifiers.ts';

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
  close(): Promise<void>;
}

const channels = ['ponte_jobs', 'ponte_pix'] as const;

/** Nothing here has to survive, and every plan is for a few rows: that makes it twice as fast. */
const tuning = [
  'set synchronous_commit = off',
  'set jit = off',
  'set plan_cache_mode = force_generic_plan',
] as const;

/** The triggers that keep what is final would keep all of it; they are back on after the commit. */
const emptying = `
  do $$ begin
    set local session_replication_role = replica;
    delete from pix_timeline;
    delete from pix_transactions;
    delete from webhook_waits;
    delete from webhook_events;
    delete from jobs;
    delete from banking_sessions;
  end $$`;

/** After so many seeds the space of deleted rows is worth taking back. */
const seedsBetweenVacuums = 50;

/**
 * Opens the database.
 * @param folder a folder with a migrated database in it; without one, a new one is made.
 */
export async function openStore(folder?: string): Promise<Store> {
  const dataDir = folder ?? (await mkdtemp(join(tmpdir(), 'ponte-simulation-')));
  const config = loadConfig({ APP_ENV: 'test', DATA_DIR: dataDir });
  const db = await openDatabase({ databaseUrl: undefined, dataDir, clock: systemClock });
  await migrateUp(db);
  const rows: Store['rows'] = (text, parameters = []) => db.query({ name: '', text }, parameters);
  for (const setting of tuning) await rows(setting);
  const customers = await insertCustomers(rows);
  let watch: Watch = { notified: () => undefined, logged: () => undefined };
  const notified = (channel: string, payload: string): void => watch.notified(channel, payload);
  for (const channel of channels) {
    await db.listen(channel, (payload) => notified(channel, payload));
  }
  const time = new HistoryTime();
  let seeds = 0;
  return {
    config,
    db,
    log: createLog({
      level: 'error',
      pretty: false,
      destination: { write: (line: string) => watch.logged(line) },
    }),
    metrics: createMetrics(),
    sealer: createSealer(randomBytes(32)),
    customers,
    time,
    rows,
    async reset(next) {
      watch = next;
      await rows(emptying);
      seeds += 1;
      if (seeds % seedsBetweenVacuums === 0) await db.vacuum();
    },
    async close() {
      time.close();
      await db.close();
      if (folder === undefined) await rm(dataDir, { recursive: true, force: true });
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

async function insertCustomers(rows: Store['rows']): Promise<StoredCustomer[]> {
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
