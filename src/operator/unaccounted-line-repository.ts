/** The lines of statements that block payments of their amount, for operators. */
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { sql, statement } from '../db/statement.ts';
import { isBlocking } from '../ledger/pause-repository.ts';

const columns = columnsOf('pix_unaccounted_lines', 'endToEnd, userId, amount, foundAt');

/** A line of a statement that no stored send has, after a loss of commits. */
export type UnaccountedLine = RowOf<typeof columns>;

const find = statement({
  name: 'ops-unaccounted-lines',
  parameters: { limit: 'int' },
  text: ({ limit }) => sql<UnaccountedLine>`
    select ${columns.select()} from pix_unaccounted_lines line where ${isBlocking}
     order by found_at, end_to_end limit ${limit}`,
});

/** @returns the lines that block payments, the oldest first. */
export function findUnaccounted(
  { db }: Pick<LocalContext, 'db'>,
  limit: number,
): Promise<UnaccountedLine[]> {
  return db.query(find, { limit });
}

const account = statement({
  name: 'ops-account-for-line',
  parameters: { endToEnd: 'text', now: 'timestamptz' },
  text: ({ endToEnd, now }) => sql`
    update pix_unaccounted_lines set accounted_at = ${now}
     where end_to_end = ${endToEnd} and accounted_at is null
    returning end_to_end`,
});

/** @returns whether the line was open. */
export async function accountForLine(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  endToEnd: string,
): Promise<boolean> {
  return (await db.query(account, { endToEnd, now: clock.now() })).length > 0;
}
