/** The statement is SQL, because the pages must not wait for MikroORM to load. */
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';

const lastSettledStatement = statement({
  name: 'page-last-settled',
  parameters: {},
  text: () => sql<{ at: Date | null }>`select max(settled_at) as at from pix_transactions`,
});

/** @returns a text that changes when a transaction ends. */
export async function lastSettled({ db }: Pick<LocalContext, 'db'>): Promise<string> {
  const [row] = await db.query(lastSettledStatement, {});
  return row?.at?.toISOString() ?? 'none';
}
