/** The decision about a charge that has expired unpaid. It is pure. */
import { centsFromDecimal } from '../../../../../src/domain/money.ts';
import { chargeExpired, phasesOpenToSettlement } from '../../../../../src/domain/pix.ts';
import { contradictedInEvent, endedBy, type Decision, type EventItem } from './decision.ts';
import { chargeNamed } from './match.ts';
import type { CandidateRow } from '../../../../../src/ledger/transaction-repository.ts';

/**
 * The provider's word ends the charge that it names. A charge that was paid stays so: a code that
 * may be paid more than once expires too.
 */
export function decideExpired(
  { eventId, item, isContradicted = false }: EventItem,
  candidates: readonly CandidateRow[],
): Decision {
  const { ids, amountCents } = item;
  const transaction = chargeNamed(item, candidates);
  // The provider's own id alone names a charge only together with the amount.
  const isNamed = ids.transactionIdentification !== null || amountCents !== null;
  if (!transaction || !isNamed) return { kind: 'skip', result: 'parked', reason: 'no_match' };
  if (amountCents !== null && amountCents !== centsFromDecimal(transaction.amount)) {
    return { kind: 'flag', transaction, reason: 'amount_mismatch' };
  }
  if (transaction.status === 'FAILED') return { kind: 'skip', result: 'already', transaction };
  if (transaction.status === 'COMPLETED') {
    return { kind: 'skip', result: 'ignored', reason: 'charge_paid', transaction };
  }
  if (isContradicted) return { kind: 'flag', transaction, reason: contradictedInEvent };
  return {
    kind: 'move',
    transaction,
    move: {
      // It may have expired before the response that has its code could be stored.
      from: ['RESERVED', ...phasesOpenToSettlement],
      to: 'SETTLED',
      status: 'FAILED',
      ...(transaction.outcome === null && { outcome: 'accepted' }),
      failureCode: chargeExpired,
      providerTxid: ids.providerTxid,
      timeline: [endedBy(eventId, 'FAILED')],
    },
  };
}
