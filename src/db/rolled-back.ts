/** A transaction that changes nothing: what a statement reports in it, it would report for good. */
import type { OrdinalRow } from './batcher.ts';
import { batched, type Database, type Query, type Statement } from './database.ts';

/**
 * Runs `work` in a transaction that is rolled back. Its statements share round trips as outside
 * it, run one after the other, and one that fails undoes only itself.
 * @param work must wait for nothing but the database that it gets.
 * @returns the result of `work`.
 */
export async function rolledBack<Result>(
  db: Database,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const end: { result?: { readonly value: Result } } = {};
  try {
    return await db.transaction(async (query) => {
      const one = inSavepoints(query);
      const batch = ({ name, text }: Statement, columns: readonly unknown[]) =>
        one<OrdinalRow>({ name, text }, columns);
      const inBatches = batched(one, { batched: batch, single: batch });
      end.result = { value: await work({ ...db, query: inBatches }) };
      throw new Rollback();
    });
  } catch (error) {
    if (!(error instanceof Rollback) || !end.result) throw error;
    return end.result.value;
  }
}

/** Thrown to roll a transaction back after its work. */
class Rollback extends Error {}

function inSavepoints(query: Query): Query {
  let last: Promise<unknown> = Promise.resolve();
  return <Row>(...call: Parameters<Query>): Promise<Row[]> => {
    const result = last.then(async () => {
      await query(savepoint, []);
      try {
        return await query<Row>(...call);
      } catch (error) {
        await query(undo, []);
        throw error;
      }
    });
    last = result.catch(() => undefined);
    return result;
  };
}

/** Each replaces the one before it, whose statement has succeeded. */
const savepoint = { name: '', text: 'savepoint statement' };
const undo = { name: '', text: 'rollback to savepoint statement' };
