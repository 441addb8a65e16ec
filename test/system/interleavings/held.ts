/**
 * Operations on real connections of a PostgreSQL server, each of which can be held before it
 * commits, while another one runs.
 */
import type pg from 'pg';
import { nextTurn } from '../../../src/clock.ts';
import type { Database, Query, Statement } from '../../../src/db/database.ts';
import { indexedPool, openPool, postgresConnection, run, runInTurn } from '../../../src/db/pool.ts';
import { bind } from '../../../src/db/statement.ts';
import { databaseOn, transactionOn } from '../../postgres-model/engines.ts';

/** What one process does. */
export interface Operation {
  readonly name: string;
  /** Differs from that of another operation with the name. */
  readonly key: string;
  /** The same about another order or refund of the same rows, with a key and ids of its own. */
  readonly twin?: Operation;
  readonly run: (db: Database) => Promise<unknown>;
}

/** A transaction that is rolled back where it was held. */
export const undone = new Error('the transaction was rolled back');

/** Deadlocks are found at once, and commits need not survive a crash. */
const settings = 'set deadlock_timeout = 20; set synchronous_commit = off; set lock_timeout = 0';

type Client = pg.PoolClient & { readonly processID: number };

/** A process of the service, as the server sees it: two connections, of which it uses one. */
export class Session {
  #progress: 'running' | 'held' | 'ended' = 'ended';
  #paused = Promise.withResolvers<void>();
  readonly pids: readonly number[];
  readonly #plain: Client;
  readonly #indexed: Client;
  #isHolding = false;
  /** How many of its transactions have committed. */
  commits = 0;
  #gate = Promise.withResolvers<void>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(plain: Client, indexed: Client) {
    this.#plain = plain;
    this.#indexed = indexed;
    this.pids = [plain.processID, indexed.processID];
  }

  get progress(): 'running' | 'held' | 'ended' {
    return this.#progress;
  }

  /** Resolves when the operation is held or has ended. */
  get paused(): Promise<void> {
    return this.#paused.promise;
  }

  /**
   * Starts an operation.
   * @param isHolding whether each of its transactions that has written something is held.
   * @returns its answer, or the error that it throws.
   */
  async start(operation: Operation, isHolding: boolean): Promise<unknown> {
    this.#goOn();
    this.commits = 0;
    this.#isHolding = isHolding;
    try {
      return await operation.run(this.database());
    } catch (error) {
      return error;
    } finally {
      this.#pause('ended');
    }
  }

  /** Lets the held transaction commit; @param error with one it rolls back. */
  release(error?: Error): void {
    this.#goOn();
    if (error) this.#gate.reject(error);
    else this.#gate.resolve();
  }

  #goOn(): void {
    this.#progress = 'running';
    this.#paused = Promise.withResolvers();
  }

  #pause(progress: 'held' | 'ended'): void {
    this.#progress = progress;
    this.#paused.resolve();
  }

  /** The database as the operation sees it. */
  database(): Database {
    const query: Query = (statement, parameters) => {
      const isIndexed = statement.indexed ?? statement.batching !== undefined;
      const client = isIndexed ? this.#indexed : this.#plain;
      return this.#inTurn(client, () => runOn(client, statement, parameters));
    };
    return databaseOn(query, (work) => this.#inTurn(this.#plain, () => work(this.#transaction())));
  }

  #transaction(): Database {
    const connection = runInTurn(this.#plain);
    return transactionOn((statement, parameters) => runOn(connection, statement, parameters));
  }

  /** One transaction after the other: the process awaits each. */
  #inTurn<Result>(client: Client, work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(() => this.#transact(client, work));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #transact<Result>(client: Client, work: () => Promise<Result>): Promise<Result> {
    await client.query('begin');
    try {
      const result = await work();
      if (this.#isHolding && (await hasWritten(client))) await this.#hold();
      await client.query('commit');
      this.commits += 1;
      return result;
    } catch (error) {
      await client.query('rollback');
      throw error;
    }
  }

  #hold(): Promise<void> {
    this.#gate = Promise.withResolvers();
    this.#pause('held');
    return this.#gate.promise;
  }
}

function runOn<Row, Parameters>(
  connection: Pick<pg.Pool, 'query'>,
  statement: Statement<Row, Parameters>,
  parameters: Parameters,
): Promise<Row[]> {
  return run<Row>(connection, statement.alone ?? statement, bind(statement, parameters));
}

/** Whether the transaction has written or locked a row. */
async function hasWritten(client: pg.PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ xid: string | null }>(
    'select pg_current_xact_id_if_assigned()::text as xid',
  );
  return rows[0]?.xid !== null;
}

/** A database with some sessions. */
export class HeldDatabase {
  readonly sessions: readonly Session[];
  readonly #owner: pg.PoolClient;
  readonly #close: () => Promise<void>;

  private constructor(
    sessions: readonly Session[],
    owner: pg.PoolClient,
    close: () => Promise<void>,
  ) {
    this.sessions = sessions;
    this.#owner = owner;
    this.#close = close;
  }

  static async open(url: string, count: number): Promise<HeldDatabase> {
    const config = { ...postgresConnection(url, { appEvents: true }), max: count + 1 };
    const plain = openPool(config);
    const indexed = indexedPool(plain, { appEvents: true });
    const connect = async (pool: pg.Pool): Promise<Client> => {
      const client = await pool.connect();
      await client.query(settings);
      return client as Client;
    };
    const sessions: Session[] = [];
    while (sessions.length < count) {
      sessions.push(new Session(await connect(plain), await connect(indexed)));
    }
    const owner = await connect(plain);
    return new HeldDatabase(sessions, owner, async () => {
      for (const pool of [plain, indexed]) void pool.end();
    });
  }

  async rows<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return run<Row>(this.#owner, { name: '', text }, values);
  }

  /** Waits until each session is held, has ended, or waits for a lock. */
  async quiet(): Promise<void> {
    for (;;) {
      await nextTurn();
      const running = this.sessions.filter(({ progress }) => progress === 'running');
      if (running.length === 0) return;
      const waiting = await run<{ pid: number }>(this.#owner, findWaiting, [
        running.flatMap(({ pids }) => pids),
      ]);
      const pids = new Set(waiting.map(({ pid }) => pid));
      const isWaiting = (one: Session): boolean =>
        one.progress === 'running' && one.pids.some((pid) => pids.has(pid));
      if (running.every(isWaiting)) return;
    }
  }

  close(): Promise<void> {
    return this.#close();
  }
}

/** A lock is granted at the commit that releases it; what a session shows of its wait may lag. */
const findWaiting = {
  name: 'waiting',
  text: 'select distinct pid from pg_locks where not granted and pid = any($1)',
};
