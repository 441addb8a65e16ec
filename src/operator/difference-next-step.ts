/** What a difference between the statement and what is stored means, and what to do about it. */
import { calendarDay } from '../domain/calendar.ts';
import { timeOfSpiId, type BlockedOrders, type DifferenceKind } from '../domain/reconciliation.ts';

/** A difference, as far as its sentences depend on it. */
export interface DifferenceToExplain {
  readonly kind: DifferenceKind;
  readonly reason: string;
  readonly userId: number;
  readonly day: string;
  readonly transactionId: string | null;
  readonly endToEnd: string | null;
  /** Of the line, a decimal of reais. */
  readonly amount: string | null;
  /** The orders that it blocks; null or absent: none. */
  readonly blocks?: BlockedOrders | null;
}

/** Sentences without a full stop. */
export interface Explanation {
  readonly says: string;
  readonly todo: string;
}

const accept = 'then `ponte reconcile accept ID`';

/** @returns what a difference means, and the command to run next. */
export function explainDifference(difference: DifferenceToExplain): Explanation {
  const { kind, reason, userId, transactionId, amount, endToEnd, blocks = null } = difference;
  const paidAt = timeOfSpiId(endToEnd);
  const paidOn = paidAt ? calendarDay(paidAt) : difference.day;
  const show =
    transactionId === null ? `ponte pix list --user ${userId}` : `ponte pix show ${transactionId}`;
  const same = amount === null ? show : `ponte pix list --user ${userId} --amount ${amount}`;
  const meaning = sayings[reason] ?? `the line does not fit what is stored (${reason})`;
  const blocked = amount === null ? 'any amount' : 'this amount';
  const says = blocks ? `${meaning}: it blocks ${blockedWords[blocks]} of ${blocked}` : meaning;
  const known = steps[reason];
  if (known) return { says, todo: known({ ...difference, show, same, paidOn }) };
  if (kind === 'MISSING_THERE') return { says, todo: `ask the bank for the payment: \`${show}\`` };
  return { says, todo: `compare it with \`${show}\` and ask the bank, ${accept}` };
}

const blockedWords: Readonly<Record<BlockedOrders, string>> = {
  SEND: "the user's sends",
  REFUND_OUT: "the user's returns",
  ANY: "the user's orders",
};

const sayings: Readonly<Record<string, string>> = {
  payment_out: 'money left under an end-to-end id that no send here has',
  return_out: 'a return has left that no return here has',
  refund_of_nothing: 'money was returned for a payment that is not here',
  amount_mismatch: 'the line and the transaction have different amounts',
  refunds_exceed_amount: 'the returns are more than the payment',
  failed_there: 'the line has failed, which proves nothing by itself; the transaction has not',
  open_there: 'the line is in progress, and the transaction has ended',
  money_back: 'the money of a send came back without a return id',
  taken_back: 'the bank has taken back the money that came in',
  received_by_payee: 'the line is the money of a send that is FAILED',
  reversed_again: 'money of a send came back once more, or its line has got another id',
  first_seen: 'the line has just appeared, and may still be reversed',
  contradicts_final_status: 'the line contradicts how the transaction has ended',
  not_completed_yet: 'money was returned for a payment that is not COMPLETED',
  return_in_progress: 'the refund fits only if a return that is open is not made',
  not_paying_yet: 'the line is settled, and the send was never sent from here',
  not_in_statement: 'it is COMPLETED here, and the statement does not show it',
  open_and_not_in_statement: 'it is open here, and the statement does not show it',
  no_end_to_end_id: 'the line has no end-to-end id, so it proves nothing',
  unreadable: 'the amount, the direction or the status of the line is not read',
  several_lines: 'several lines have this id',
  id_before_statement: 'the id is older than the statement: the line may return a payment',
  other_account: 'the payment is stored for another user',
  payee_disagrees: 'the line names a charge of another payee',
};

interface StepOf extends DifferenceToExplain {
  readonly show: string;
  readonly same: string;
  /** The day of the end-to-end id. */
  readonly paidOn: string;
}

const steps: Readonly<Record<string, (of: StepOf) => string>> = {
  payment_out: ({ same }) =>
    `look for a send of the same amount: \`${same}\`; if the customer paid in another channel, ${accept}`,
  return_out: ({ userId, paidOn }) =>
    `reconcile its day: \`ponte reconcile --user ${userId} --day ${paidOn}\`; ` +
    `if the customer returned it in another channel, ${accept}`,
  refund_of_nothing: ({ userId, paidOn }) =>
    `reconcile the day of the payment: \`ponte reconcile --user ${userId} --day ${paidOn}\``,
  failed_there: ({ transactionId, show }) =>
    `\`${show}\`; if the bank confirms the failure, ` +
    `\`ponte pix resolve ${transactionId ?? 'ID'} --as failed\``,
  money_back: ({ transactionId, show }) =>
    `\`${show}\`; if the bank confirms that it failed, ` +
    `\`ponte pix resolve ${transactionId ?? 'ID'} --as failed\`, or ${accept.slice(5)}`,
  open_and_not_in_statement: ({ transactionId, show }) =>
    `\`${show}\`; ask the bank, then \`ponte pix resolve ${transactionId ?? 'ID'}\``,
  return_in_progress: ({ show }) =>
    `\`${show}\`; ask the bank how the open return ended, then \`ponte pix resolve\` that one`,
  not_paying_yet: ({ show }) => `a defect or lost commits: \`${show}\`, then \`ponte pix audit\``,
  other_account: ({ show }) => `a defect of the bank or here: \`${show}\`, then ask the bank`,
  first_seen: ({ userId, paidOn }) =>
    `reconcile the day again in ten minutes: \`ponte reconcile --user ${userId} --day ${paidOn}\``,
  id_before_statement: ({ userId, paidOn }) =>
    `reconcile the day of the payment: \`ponte reconcile --user ${userId} --day ${paidOn}\``,
};
