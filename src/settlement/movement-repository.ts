/** The stored transactions that the lines of a statement may be about. */
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { sql, statement } from '../db/statement.ts';
import { originalEndToEnd } from '../ledger/pix-transaction-repository.ts';

const ofMovement = columnsOf(
  'pix_transactions',
  `id, userId, operation, idempotencyKey, status, phase, amount, endToEnd,
   transactionIdentification, providerTxid`,
);

/** A stored transaction that a line may be about. */
export interface StoredMovement extends RowOf<typeof ofMovement> {
  readonly amount: string;
  /** Of a refund: the end-to-end id of what it refunds. */
  readonly originalEndToEnd: string | null;
  /** Whether it belongs to the days, and is not only named by a line. */
  readonly isOfDays: boolean;
}

/**
 * The transactions of a user and some days, a charge by its payment, and those of any user that
 * lines name.
 */
const findMovements = statement({
  name: 'reconciliation-movements',
  parameters: { userId: 'int', from: 'timestamptz', until: 'timestamptz', ids: 'text[]' },
  text: ({ userId, from, until, ids }) => sql<StoredMovement>`
    select ${ofMovement.select()}, ${originalEndToEnd} as "originalEndToEnd",
           user_id = ${userId}
             and case operation when 'CHARGE' then settled_at else created_at end >= ${from}
             and case operation when 'CHARGE' then settled_at else created_at end < ${until}
             as "isOfDays"
      from pix_transactions t
     where t.id in (
             select id from pix_transactions
              where user_id = ${userId} and created_at < ${until} and amount is not null
                and (created_at >= ${from} or operation = 'CHARGE' and settled_at >= ${from})
              union all
             select id from pix_transactions where end_to_end = any(${ids}))`,
});

/** Which stored transactions to compare with the lines. */
export interface MovementSearch {
  readonly userId: number;
  readonly from: Date;
  readonly until: Date;
  /** End-to-end ids and return ids of lines. */
  readonly ids: readonly string[];
}

/** @returns the transactions of some days, and those that lines name. */
export async function findStoredMovements(
  { db }: Pick<LocalContext, 'db'>,
  { userId, from, until, ids }: MovementSearch,
): Promise<StoredMovement[]> {
  const rows = await db.query(findMovements, { userId, from, until, ids });
  return rows.map(withBoolean);
}

/** An open charge has no time of its payment. */
function withBoolean(row: StoredMovement): StoredMovement {
  return { ...row, isOfDays: row.isOfDays === true };
}
