/** The one kind of transaction: its statements and its entities share a connection and a commit. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type pg from 'pg';
import type { Database, Query } from './database.ts';
import { run, runTransaction } from './pool.ts';
import { bindSingle } from './statement.ts';

/** The connections of transactions. */
export interface Units {
  readonly pool: pg.Pool;
  /** Awaited before each use of a connection. */
  readonly onReserve?: () => Promise<void>;
  /** Called for each statement. */
  readonly onQuery: () => void;
}

/** See {@link Database.transaction}. */
export async function transactionOn<Result>(
  { pool, onReserve, onQuery }: Units,
  database: Database,
  work: (transaction: Database) => Promise<Result>,
): Promise<Result> {
  await onReserve?.();
  return runTransaction(pool, async (client) => {
    const connection = inTurn(client);
    const query: Query = (statement, parameters) => {
      onQuery();
      return run(connection, statement, bindSingle(statement, parameters));
    };
    let unit = null as Promise<EntityManager> | null;
    const transaction: Database = {
      ...database,
      isTransaction: true,
      query,
      em: () => (unit ??= unitOn(database, connection)),
      transaction: (inner) => inner(transaction),
    };
    const result = await work(transaction);
    await (await unit)?.flush();
    return result;
  });
}

/** One connection, as the statements of a transaction see it. */
export type TransactionConnection = Pick<pg.Pool, 'query'>;

/** Statements that are called at once run one after the other. */
function inTurn(client: pg.PoolClient): TransactionConnection {
  let last: Promise<unknown> = Promise.resolve();
  const query = (...call: Parameters<pg.PoolClient['query']>): Promise<unknown> => {
    const answer = last.then(() => client.query(...call));
    last = answer.catch(() => undefined);
    return answer;
  };
  return { query: query as unknown as pg.Pool['query'] };
}

async function unitOn(
  database: Database,
  connection: TransactionConnection,
): Promise<EntityManager> {
  const [orm, { unitOfTransaction }] = await Promise.all([database.orm(), import('./orm.ts')]);
  return unitOfTransaction(orm, connection);
}
