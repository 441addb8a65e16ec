/** The statement is SQL, because the pages must not wait for MikroORM to load. */
import type { LocalContext } from '../context/context.ts';
import type { Statement } from '../db/database.ts';

const lastSettledStatement: Statement = {
  name: 'page-last-settled',
  text: 'select max(settled_at) as at from pix_transactions',
};

/** @returns a text that changes when a transaction ends. */
export async function lastSettled({ db }: Pick<LocalContext, 'db'>): Promise<string> {
  const [row] = await db.query<{ at: Date | null }>(lastSettledStatement, []);
  return row?.at?.toISOString() ?? 'none';
}
