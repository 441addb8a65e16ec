/** Statements of a database whose types a test does not know. */
import type { TestContext } from 'node:test';
import type { CallParameters } from '../../src/db/batcher.ts';
import type { Database, Query, Statement } from '../../src/db/database.ts';

type Row = Record<string, unknown>;

/** Runs any statement. */
export type RunAny = (statement: Statement, parameters: CallParameters) => Promise<Row[]>;

/**
 * @param intercept gets what runs the statements of the database, also in transactions, and returns
 *   what runs them instead.
 */
export function intercepted(db: Database, intercept: (run: RunAny) => RunAny): Database {
  return {
    ...db,
    query: intercept(db.query as unknown as RunAny) as unknown as Query,
    transaction: (work) => db.transaction((inner) => work(intercepted(inner, intercept))),
  };
}

/** Runs any statement of a database. */
export function runAny(
  { query }: Pick<Database, 'query'>,
  statement: Statement,
  parameters: unknown,
): Promise<Row[]> {
  return (query as unknown as RunAny)(statement, parameters as CallParameters);
}

/** @returns the parameters of a statement from their values in the order of its declaration. */
export function named({ names }: Statement, values: readonly unknown[]): CallParameters {
  if (!names) return values as unknown as CallParameters;
  return Object.fromEntries(names.map((name, place) => [name, values[place]]));
}

/** As {@link intercepted}, in the database itself, until the end of the test. */
export function mockQueries(
  t: { readonly mock: Pick<TestContext['mock'], 'method'> },
  db: Database,
  intercept: (run: RunAny) => RunAny,
): void {
  t.mock.method(db, 'query', intercepted(db, intercept).query);
}

/** Loses the acknowledgement of the first commit of a statement. */
export function loseAcknowledgement(
  t: { readonly mock: Pick<TestContext['mock'], 'method'> },
  db: Database,
  name: string,
): void {
  let isLost = false;
  mockQueries(t, db, (run) => async (statement, parameters) => {
    const rows = await run(statement, parameters);
    if (statement.name !== name || isLost) return rows;
    isLost = true;
    throw Object.assign(new Error('the connection is lost'), { code: 'ECONNRESET' });
  });
}
