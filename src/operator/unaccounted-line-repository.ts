/** The lines of statements that block payments of their amount, for operators. */
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';
import { isBlocking } from '../ledger/pause-repository.ts';

/** A line of a statement that no stored send has, after a loss of commits. */
export interface UnaccountedLine {
  readonly endToEnd: string;
  readonly userId: number;
  /** In reais, as a decimal. */
  readonly amount: string;
  readonly foundAt: Date;
}

const find = statement({
  name: 'ops-unaccounted-lines',
  parameters: { limit: 'int' },
  text: ({ limit }) => sql<UnaccountedLine>`
    select end_to_end as "endToEnd", user_id as "userId", amount, found_at as "foundAt"
      from pix_unaccounted_lines line where ${isBlocking}
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
