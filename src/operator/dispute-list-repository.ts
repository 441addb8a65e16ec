/** The disputes that wait for the provider, for operators. */
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { isOneOf, sql, statement } from '../db/statement.ts';
import { openDisputeStatuses } from '../domain/dispute.ts';

const columns = columnsOf(
  'pix_disputes',
  'transactionId, userId, status, mayBeDone, requestedAt, withdrawalRequestedAt',
);

/** A dispute that the provider has not answered for good. */
export interface ListedDispute extends RowOf<typeof columns> {
  readonly endToEnd: string;
  /** Whether the user has an active session, in which calls are repeated. */
  readonly hasSession: boolean;
}

const list = statement({
  name: 'ops-disputes',
  parameters: { limit: 'int' },
  text: ({ limit }) => sql<ListedDispute>`
    select ${columns.select('d')}, t.end_to_end as "endToEnd",
           exists (select from banking_sessions s
                    where s.user_id = d.user_id and s.status = 'ACTIVE') as "hasSession"
      from pix_disputes d join pix_transactions t on t.id = d.transaction_id
     where ${isOneOf('d.status', openDisputeStatuses)}
     order by d.requested_at, d.transaction_id limit ${limit}`,
});

/** @returns the disputes that are requested or open, the oldest first. */
export function findOpenDisputes(
  { db }: Pick<LocalContext, 'db'>,
  limit: number,
): Promise<ListedDispute[]> {
  return db.query(list, { limit });
}
