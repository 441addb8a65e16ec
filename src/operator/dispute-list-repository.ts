/** The disputes that wait for the provider, for operators. */
import type { LocalContext } from '../context/context.ts';
import { isOneOf, sql, statement } from '../db/statement.ts';
import { openDisputeStatuses, type DisputeStatus } from '../domain/dispute.ts';

/** A dispute that the provider has not answered for good. */
export interface ListedDispute {
  readonly transactionId: string;
  readonly endToEnd: string;
  readonly userId: number;
  readonly status: DisputeStatus;
  /** Whether a call with an unknown outcome may have done what is requested now. */
  readonly mayBeDone: boolean;
  readonly requestedAt: Date;
  readonly withdrawalRequestedAt: Date | null;
  /** Whether the user has an active session, in which calls are repeated. */
  readonly hasSession: boolean;
}

const list = statement({
  name: 'ops-disputes',
  parameters: { limit: 'int' },
  text: ({ limit }) => sql<ListedDispute>`
    select d.transaction_id as "transactionId", t.end_to_end as "endToEnd",
           d.user_id as "userId", d.status, d.may_be_done as "mayBeDone",
           d.requested_at as "requestedAt",
           d.withdrawal_requested_at as "withdrawalRequestedAt",
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
