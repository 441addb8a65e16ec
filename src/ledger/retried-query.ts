/** A statement that is run again when its connection is lost. */
import type { LocalContext } from '../context/context.ts';
import type { Statement } from '../db/statement.ts';
import { isDatabaseUnavailable } from '../db/unavailable.ts';

/**
 * Runs a statement that reads, or that finds its own row when it is run again: its connection may
 * be lost after the commit.
 */
export async function queryWithRetry<Row, Parameters>(
  { db }: Pick<LocalContext, 'db'>,
  statement: Statement<Row, Parameters>,
  parameters: NoInfer<Parameters>,
): Promise<Row[]> {
  try {
    return await db.query(statement, parameters);
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
    return db.query(statement, parameters);
  }
}
