import type { Context } from '../context.ts';
import type { DayRange } from '../domain/calendar.ts';
import { transactionType } from '../domain/pix.ts';
import type { CallOptions, ProviderStatementItem } from '../provider/provider.ts';
import { callerSession } from '../auth/banking-sessions.ts';
import type { Principal } from '../auth/principal.ts';
import { listTransactions } from '../pix/pix-transaction-repository.ts';
import { readIfAvailable } from '../auth/provider-failure.ts';
import type { SessionOperation } from '../http/operation.ts';
import { readPeriod } from './period.ts';

/**
 * The newest items of a period. More would delay other requests: 40,000 items are 7 MB, which
 * occupy the database and the event loop for about a second.
 */
const mostLocalItems = 1_000;

/**
 * Returns the caller's statement for whole days in São Paulo: the stored items, newest first, and
 * the provider's. Headers report a truncated local list, and a failure of the provider.
 */
export const getStatement: SessionOperation<'getStatement'> = {
  access: 'session',
  async run(context, { input, principal, request }) {
    const range = readPeriod(input.query, context.clock.now());
    const [local, remote] = await Promise.all([
      localItems(context, principal, range),
      remoteItems(context, principal, { range, options: request.callOptions }),
    ]);
    return {
      status: 200,
      body: { items: { local: local.slice(0, mostLocalItems), remote: [...(remote ?? [])] } },
      headers: {
        ...(local.length > mostLocalItems && { 'X-Statement-Local': 'truncated' }),
        ...(remote === null && { 'X-Statement-Remote': 'unavailable' }),
      },
    };
  },
};

async function localItems(context: Context, principal: Principal, range: DayRange) {
  const transactions = await listTransactions(context, principal.user.id, {
    from: range.fromInclusive,
    until: range.toExclusive,
    // One more shows that the list is not complete.
    limit: mostLocalItems + 1,
  });
  return transactions.map((transaction) => ({
    id: transaction.id,
    type: transactionType(transaction.operation),
    // Exact: a double represents every decimal of fifteen digits.
    amount: Number(transaction.amount),
    status: transaction.status,
    pix_key: transaction.pixKey,
    provider_txid: transaction.providerTxid,
    created_at: transaction.createdAt,
  }));
}

/** @returns the provider's items, or null when the provider fails. */
function remoteItems(
  context: Context,
  principal: Principal,
  { range, options }: { range: DayRange; options: CallOptions },
): Promise<readonly ProviderStatementItem[] | null> {
  return readIfAvailable(async () => {
    const session = callerSession(context, principal);
    return (await context.provider.statement({ session, ...range, ...options })).items;
  });
}
