/**
 * Keeps a few connections of a pool open and prepared. The pool closes a connection that has been
 * idle for half a minute, and the first statement on a new one takes 30 to 60 ms longer: it
 * connects, reads the catalogues and plans.
 *
 * Each round takes the connections that were used last, the ones that the pool hands out next, and
 * gives them back in that order. It checks each, which restarts its idle time, and prepares the
 * statements on a new one, before a request gets it. A connection that does not respond, or whose
 * server has become read-only as after a failover, is closed, and another one is opened. The pool
 * closes all further ones as before.
 */
import type pg from 'pg';
import type { Clock } from '../clock.ts';
import type { BatchedStatement } from './batcher.ts';
import { prepareStatement } from './prepared-query.ts';
import { isDatabaseUnavailable } from './unavailable.ts';

export interface WarmConnectionsOptions {
  readonly pool: pg.Pool;
  /** How many connections are kept. */
  readonly count: number;
  /** Prepared on each of them. */
  readonly statements: readonly BatchedStatement[];
  readonly clock: Clock;
  /** How long the server may take to respond to a check, in ms of real time, not of the clock. */
  readonly deadlineMs?: number;
}

/** Well below the idle time after which the pool closes a connection. */
const roundMs = 10_000;

/** The warm connections of one pool. */
export class WarmConnections {
  readonly #options: WarmConnectionsOptions;
  readonly #prepared = new WeakSet<pg.PoolClient>();
  #isStopped = false;
  #cancelRound: () => void = () => undefined;

  constructor(options: WarmConnectionsOptions) {
    this.#options = options;
    // The pool closes no more, and sets no timer for each use of one.
    options.pool.options.min = options.count;
  }

  /**
   * Runs the first round, and then one every ten seconds until `stop`. It never rejects: while the
   * server is away, a round keeps nothing.
   */
  async start(): Promise<void> {
    await this.#round();
    if (this.#isStopped) return;
    this.#cancelRound = this.#options.clock.after(roundMs, () => void this.start());
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelRound();
  }

  async #round(): Promise<void> {
    const { pool, count } = this.#options;
    const busy = pool.totalCount - pool.idleCount;
    // Under such a load no connection is idle, and requests need the others.
    if (pool.ending || busy + count > pool.options.max) return;
    // At once, so that each gets a connection of its own.
    const taken = await Promise.allSettled(Array.from({ length: count }, () => pool.connect()));
    const clients = taken.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const refreshed = clients.map((client) => ({
      client,
      isNew: !this.#prepared.has(client),
      isGood: this.#refresh(client).then(
        () => true,
        () => false,
      ),
    }));
    // The pool hands out first what it gets back last. Requests do not wait for the new ones.
    const inOrder = refreshed
      .toReversed()
      .toSorted((one, other) => Number(one.isNew) - Number(other.isNew));
    for (const { client, isGood } of inOrder) client.release(!(await isGood));
  }

  async #refresh(client: pg.PoolClient): Promise<void> {
    const { statements, deadlineMs = 3_000 } = this.#options;
    if (this.#prepared.has(client)) return check(client, deadlineMs);
    await prepare(client, statements, deadlineMs);
    this.#prepared.add(client);
  }
}

/** @throws Error when the server does not respond in time, or has become read-only. */
async function check(client: pg.PoolClient, deadlineMs: number): Promise<void> {
  const { rows } = await client.query<{ transaction_read_only: string }>(
    limited('show transaction_read_only', deadlineMs),
  );
  if (rows[0]?.transaction_read_only !== 'off') throw new Error('the server is read-only');
}

/** A statement that fails when the server does not respond in time. */
function limited(text: string, deadlineMs: number): pg.QueryConfig {
  return { text, query_timeout: deadlineMs } as pg.QueryConfig;
}

/**
 * Plans each statement, and runs its batched form without calls in a transaction that is rolled
 * back. A statement that the server refuses, such as one of another version of the schema, ends the
 * preparation only.
 */
async function prepare(
  client: pg.PoolClient,
  statements: readonly BatchedStatement[],
  deadlineMs: number,
): Promise<void> {
  if (statements.length === 0) return;
  await client.query(limited('begin', deadlineMs));
  try {
    for (const statement of statements) await prepareStatement(client, statement);
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
  }
  await client.query(limited('rollback', deadlineMs));
}
