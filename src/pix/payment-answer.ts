/** What the provider's answer makes of a payment that has left, or provably has not. */
import type { Context } from '../context.ts';
import { phasesOpenToAnswer } from '../domain/pix.ts';
import type { ProviderError } from '../provider/errors.ts';
import type { PaymentReceipt } from '../provider/provider.ts';
import { isOtherPayment, mayBeOtherReceipt } from './same-key-payments.ts';
import type { Outcome } from './payment-outcome.ts';
import type { Move, PayingRow, TimelineEntry } from './transactions.ts';

/** What an answer says, and what is decided about it by what is stored. */
type AnswerOutcome = Pick<Outcome, 'move' | 'check'>;

/**
 * A receipt that names the payment by its key alone may be another user's. Where nothing that is
 * stored says so, the payment counts as accepted; that it is completed is left to an event or to
 * the statement, which name it by its end-to-end id.
 * @returns what a receipt makes of a payment; `attempt` is the number of attempts.
 */
export function outcomeOfReceipt(
  context: Context,
  paying: PayingRow,
  { receipt, attempt }: { readonly receipt: PaymentReceipt; readonly attempt: number },
): AnswerOutcome {
  if (!receipt.isByRequestAlone) return { move: accepted(receipt, attempt) };
  const isCompleted = receipt.status === 'COMPLETED';
  const move = accepted(isCompleted ? { ...receipt, status: 'PROCESSING' } : receipt, attempt);
  const doubted = unknown({ providerStatus: '2xx', attempt });
  const check = async () => ((await mayBeOtherReceipt(context, paying)) ? doubted : move);
  return { move, check };
}

/**
 * @returns what a failure makes of a payment; `attempt` is the number of attempts. Where there was
 *   more than one, the payment that the provider has already may be the first of them.
 */
export function outcomeOfFailure(
  context: Context,
  paying: PayingRow,
  { failure, attempt }: { readonly failure: ProviderError; readonly attempt: number },
): AnswerOutcome {
  const move = notAccepted(failure, attempt);
  const { duplicate, statusClass: providerStatus } = failure;
  if (!duplicate || attempt > 1) return { move };
  const rejected = refused(failure.code, { providerStatus, attempt });
  const check = async () => ((await isOtherPayment(context, paying, duplicate)) ? rejected : move);
  return { move, check };
}

function accepted(receipt: PaymentReceipt, attempt: number): Move {
  const settled = receipt.status !== 'PROCESSING';
  return {
    ...onAnswer,
    to: settled ? 'SETTLED' : 'ACCEPTED',
    status: receipt.status,
    outcome: 'accepted',
    providerTxid: receipt.providerTxid,
    timeline: [
      { phase: 'ACCEPTED', providerStatus: '2xx', attempt },
      ...(settled ? [{ phase: 'SETTLED' as const, note: receipt.status }] : []),
    ],
  };
}

function notAccepted(error: ProviderError, attempt: number): Move {
  const { outcome, code: failureCode, statusClass: providerStatus } = error;
  const answer = { providerStatus, attempt };
  switch (outcome) {
    case 'unknown':
      return unknown(answer);
    case 'rejected':
      return refused(failureCode, answer);
    case 'not_sent':
      return {
        ...onAnswer,
        to: 'SETTLED',
        status: 'FAILED',
        outcome,
        failureCode,
        timeline: [{ phase: 'SETTLED', ...answer, note: 'not_sent' }],
      };
  }
}

type AnswerNote = Pick<TimelineEntry, 'providerStatus' | 'attempt'>;

function unknown(answer: AnswerNote): Move {
  return {
    ...onAnswer,
    to: 'UNKNOWN',
    status: 'PROCESSING',
    outcome: 'unknown',
    timeline: [{ phase: 'UNKNOWN', ...answer }],
  };
}

function refused(failureCode: string, answer: AnswerNote): Move {
  return {
    ...onAnswer,
    to: 'REJECTED',
    status: 'FAILED',
    outcome: 'rejected',
    failureCode,
    timeline: [{ phase: 'REJECTED', ...answer }],
  };
}

const onAnswer = { from: phasesOpenToAnswer } as const;
