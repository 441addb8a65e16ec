/**
 * Whether each connection has a session of the database to itself. A pooler that shares sessions,
 * as PgBouncer does with `pool_mode = transaction` or `statement`, gives the next transaction of a
 * connection to another session: prepared statements, settings and LISTEN are missing there.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { connectionAddress } from './tls.ts';

/** Under load a pooler may by chance give a client the session that it had before. */
const rounds = 5;

/** What an operator reads after `DATABASE_URL`. */
export const sharedSessions =
  'leads to a pooler that shares sessions, such as PgBouncer with pool_mode=transaction: set ' +
  'pool_mode=session there, or name PostgreSQL itself';

/**
 * Asks with two connections: while one is in a transaction, the other must keep its session and
 * what it has set there. Neither needs the other one's session, so no load changes the result.
 * @param url a PostgreSQL address.
 * @throws Error when the database cannot be reached.
 */
export async function hasOwnSessions(url: string): Promise<boolean> {
  const [client, other] = [openClient(url), openClient(url)];
  try {
    await Promise.all([client.connect(), other.connect()]);
    for (let round = 0; round < rounds; round += 1) {
      if (!(await keepsSession(client, other))) return false;
    }
    return true;
  } catch (error) {
    // PgBouncer with `pool_mode = statement` refuses transactions.
    if (error instanceof Error && error.message.includes('statement pooling')) return false;
    throw error;
  } finally {
    await Promise.allSettled([client.end(), other.end()]);
  }
}

function openClient(url: string): pg.Client {
  const client = new pg.Client({
    ...connectionAddress(url),
    application_name: 'ponte',
    connectionTimeoutMillis: 5_000,
    query_timeout: 5_000,
  });
  client.on('error', () => undefined);
  return client;
}

async function keepsSession(client: pg.Client, other: pg.Client): Promise<boolean> {
  const value = randomUUID();
  await client.query(`select set_config('ponte.session', $1, false)`, [value]);
  const before = await readSession(client);
  await other.query('begin');
  try {
    const held = await readSession(other);
    if (held.pid === before.pid) return false;
    const after = await readSession(client);
    return before.value === value && after.pid === before.pid && after.value === value;
  } finally {
    await other.query('rollback');
  }
}

interface Session {
  /** The process of the server. */
  readonly pid: number;
  readonly value: string | null;
}

async function readSession(client: pg.Client): Promise<Partial<Session>> {
  const text = `select pg_backend_pid() as pid, current_setting('ponte.session', true) as value`;
  const { rows } = await client.query<Session>(text);
  return rows[0] ?? {};
}
