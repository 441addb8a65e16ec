import type { StatementItem, StatementRefund } from '../../contract/types.ts';
import type { Context } from '../context/context.ts';
import type { Bank } from '../domain/bank.ts';
import type { DayRange } from '../domain/calendar.ts';
import { isRefund, transactionType } from '../domain/pix.ts';
import type { CallOptions, ProviderStatementItem } from '../provider/provider.ts';
import { callerSession } from '../auth/banking-sessions.ts';
import type { Principal } from '../domain/principal.ts';
import { listTransactions, type ListedTransaction } from '../ledger/pix-transaction-repository.ts';
import { otherParty, shownIds } from '../pix/shown-parties.ts';
import { readIfAvailable } from '../auth/provider-failure.ts';
import type { SessionOperation } from '../context/operation.ts';
import { readPeriod } from './period.ts';

/**
 * The newest items of a period. More would delay other requests: 40,000 items are 7 MB, which
 * occupy the database and the event loop for about a second.
 */
const maxLocalItems = 1_000;

/**
 * Returns the caller's statement for whole days in São Paulo: the stored items, newest first, and
 * the provider's. Refunds have a list of their own, because the `type` of the others is a closed
 * list in the first version of the contract. Headers report a truncated local list, and a failure
 * of the provider.
 */
export const getStatement: SessionOperation<'getStatement'> = {
  access: 'session',
  checkRefused: (context, { query }) => void readPeriod(query, context.clock.now()),
  async run(context, { input, principal, request }) {
    const range = readPeriod(input.query, context.clock.now());
    const [local, remote] = await Promise.all([
      storedItems(context, principal, range),
      remoteItems(context, principal, { range, options: request.callOptions }),
    ]);
    const shown = local.slice(0, maxLocalItems);
    const { bank } = context.config.provider;
    const refunds = shown.flatMap((transaction) => toRefund(transaction, bank));
    return {
      status: 200,
      body: {
        items: {
          local: shown.flatMap((transaction) => toItem(transaction, bank)),
          remote: [...(remote ?? [])],
          ...(refunds.length > 0 && { refunds }),
        },
      },
      headers: {
        ...(local.length > maxLocalItems && { 'X-Statement-Local': 'truncated' }),
        ...(remote === null && { 'X-Statement-Remote': 'unavailable' }),
      },
    };
  },
};

function storedItems(context: Context, principal: Principal, range: DayRange) {
  return listTransactions(context, principal.user.id, {
    from: range.fromInclusive,
    until: range.toExclusive,
    // One more shows that the list is not complete.
    limit: maxLocalItems + 1,
  });
}

function toItem({ operation, ...transaction }: ListedTransaction, own: Bank): StatementItem[] {
  if (isRefund(operation)) return [];
  return [
    {
      id: transaction.id,
      type: transactionType(operation),
      // Exact: a double represents every decimal of fifteen digits.
      amount: Number(transaction.amount),
      status: transaction.status,
      pix_key: transaction.pixKey,
      provider_txid: transaction.providerTxid,
      created_at: transaction.createdAt,
      ...aboutPart({ operation, ...transaction }, own),
      ...shownIds(transaction),
    },
  ];
}

/** Who is at the other end, and what for. */
function aboutPart({ description, ...transaction }: ListedTransaction, own: Bank) {
  return { ...otherParty(transaction, own), ...(description !== null && { description }) };
}

function toRefund({ operation, ...transaction }: ListedTransaction, own: Bank): StatementRefund[] {
  const { originalId, endToEnd, originalEndToEnd } = transaction;
  // Money that came back without a return id is known by the payment's own id.
  const returnId = endToEnd ?? originalEndToEnd;
  if (!isRefund(operation) || originalId === null || returnId === null) return [];
  return [
    {
      id: transaction.id,
      type: transactionType(operation),
      amount: Number(transaction.amount),
      status: transaction.status,
      original_transaction_id: originalId,
      return_id: returnId,
      provider_txid: transaction.providerTxid,
      created_at: transaction.createdAt,
      ...aboutPart({ operation, ...transaction }, own),
      ...(originalEndToEnd !== null && { end_to_end: originalEndToEnd }),
    },
  ];
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
