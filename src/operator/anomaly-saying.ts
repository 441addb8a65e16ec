/** What an anomaly of an event means, in a sentence for an operator. */

const sayings: Readonly<Record<string, string>> = {
  contradicts_final_status: 'it says another end than the transaction has',
  contradicted_in_event: 'another item of the same event says the opposite',
  contradictory_member: 'one name stands in it twice, with different values',
  failed_after_repeat: 'it says FAILED, and the payment was sent more than once',
  ids_disagree: 'its ids belong to different transactions',
  other_provider_id: 'its ids are of this transaction, and its provider id is of another payment',
  weak_id: 'it says FAILED by an id alone that other payments may have',
  amount_mismatch: 'its amount is not that of the transaction',
  received_by_payee: 'a report says that the payment failed, and its payee has received the money',
  payee_disagrees: 'the money went to another payee than that of the charge',
  paid_again_without_id: 'a charge that is paid may have been paid once more',
  refunds_exceed_amount: 'more would come back than was paid',
  breaks_a_constraint: 'what it says breaks a rule of the database',
  corrected: 'the payment had failed, and was made: it is COMPLETED now',
};

/** Anomalies beside which the event has changed something. */
const changesOther: ReadonlySet<string> = new Set(['corrected', 'received_by_payee']);

/**
 * @param reason the reason of an item whose result is an anomaly.
 * @returns what the event says against what is stored.
 */
export function sayAnomaly(reason: string): string {
  const says = sayings[reason] ?? `it does not fit what is stored (${reason})`;
  const stays = changesOther.has(reason) ? '' : '; nothing was changed by it';
  return `The bank's event is an anomaly: ${says}${stays}.`;
}
