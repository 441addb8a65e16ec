/** The lines of statements that block payments of their amount, for operators. */
import type { LocalContext } from '../context/context.ts';
import type { Statement } from '../db/database.ts';
import { isBlocking } from '../pix/pause-repository.ts';

/** A line of a statement that no stored send has, after a loss of commits. */
export interface UnaccountedLine {
  readonly endToEnd: string;
  readonly userId: number;
  /** In reais, as a decimal. */
  readonly amount: string;
  readonly foundAt: Date;
}

/** Parameters: limit. */
const find: Statement = {
  name: 'ops-unaccounted-lines',
  text: `
    select end_to_end as "endToEnd", user_id as "userId", amount, found_at as "foundAt"
      from pix_unaccounted_lines line where ${isBlocking}
     order by found_at, end_to_end limit $1`,
};

/** @returns the lines that block payments, the oldest first. */
export function findUnaccounted(
  { db }: Pick<LocalContext, 'db'>,
  limit: number,
): Promise<UnaccountedLine[]> {
  return db.query<UnaccountedLine>(find, [limit]);
}

/** Parameters: end-to-end id, now. */
const account: Statement = {
  name: 'ops-account-for-line',
  text: `
    update pix_unaccounted_lines set accounted_at = $2
     where end_to_end = $1 and accounted_at is null
    returning end_to_end`,
};

/** @returns whether the line was open. */
export async function accountForLine(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  endToEnd: string,
): Promise<boolean> {
  return (await db.query(account, [endToEnd, clock.now()])).length > 0;
}
