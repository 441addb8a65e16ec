/** A transaction that changes nothing: what a statement reports in it, it would report for good. */
import { batched, type Database, type Query, type Run } from './database.ts';

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
    return await db.transaction(async (transaction) => {
      const one = inSavepoints(transaction.query);
      const query = batched(one, { batched: one, single: one });
      const inside: Database = { ...transaction, query, transaction: (inner) => inner(inside) };
      end.result = { value: await work(inside) };
      throw new Rollback();
    });
  } catch (error) {
    if (!(error instanceof Rollback) || !end.result) throw error;
    return end.result.value;
  }
}

/** Thrown to roll a transaction back after its work. */
class Rollback extends Error {}

function inSavepoints(query: Query): Run {
  let last: Promise<unknown> = Promise.resolve();
  return <Row>(...[{ name, text, names = [] }, values]: Parameters<Run>): Promise<Row[]> => {
    const result = last.then(async () => {
      await query(savepoint, []);
      try {
        return await query<Row>({ name, text, names }, values);
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
