/** Derives the outcome of a payment that was sent, or provably was not sent. */
import type { Context } from '../context/context.ts';
import { notSentNote, phasesOpenToResponse } from '../domain/pix.ts';
import type { ProviderError } from '../provider/errors.ts';
import type { PaymentReceipt } from '../provider/provider.ts';
import { orderKind } from '../ledger/order-kind.ts';
import type { AttemptResponse, Move, TimelineEntry } from '../ledger/move-repository.ts';
import { findSameKeySend, type PayingSend } from '../ledger/payment-repository.ts';
import { noteAnomaly } from '../ledger/pix-transaction-repository.ts';

/** The outcome of a payment. */
export interface Outcome {
  readonly move: Move;
  /** Decides the move from the stored rows, if the provider's response is not sufficient. */
  readonly check?: () => Promise<Move>;
}

/**
 * The outcome of a receipt. One that names the payment only by its key may be another user's. If
 * nothing stored says so, the payment counts as accepted; it is completed by an event or by the
 * statement, which name it by its end-to-end id.
 * @param response the receipt, and the number of attempts.
 */
export function outcomeOfReceipt(
  context: Context,
  paying: PayingSend,
  { receipt, attempt }: { readonly receipt: PaymentReceipt; readonly attempt: number },
): Outcome {
  if (!receipt.isByRequestAlone) return { move: accepted(receipt, attempt) };
  const isCompleted = receipt.status === 'COMPLETED';
  const move = accepted(isCompleted ? { ...receipt, status: 'PROCESSING' } : receipt, attempt);
  if (!orderKind(paying).sharesRequestIds) return { move };
  const doubted = unknown({ providerStatus: '2xx', attempt });
  const check = async () => ((await mayBeOtherReceipt(context, paying)) ? doubted : move);
  return { move, check };
}

/**
 * The outcome of a failure.
 * @param response the failure, and the number of attempts.
 */
export function outcomeOfFailure({
  failure,
  attempt,
}: {
  readonly failure: ProviderError;
  readonly attempt: number;
}): Outcome {
  return { move: notAccepted(failure, attempt) };
}

const onResponse = { from: phasesOpenToResponse } as const;

function accepted(receipt: PaymentReceipt, attempt: number): Move {
  const settled = receipt.status === 'COMPLETED';
  return {
    ...onResponse,
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
  const { outcome, code: failureCode } = error;
  const last = error.lastAttempt ?? error;
  const response = { ...toAttemptResponse(last), attempt };
  switch (outcome) {
    case 'unknown':
      return unknown({ ...response, ...(last.outcome === 'not_sent' && { note: notSentNote }) });
    case 'rejected':
      return refused(failureCode, response);
    case 'not_sent':
      return {
        ...onResponse,
        to: 'SETTLED',
        status: 'FAILED',
        outcome,
        failureCode,
        timeline: [{ phase: 'SETTLED', ...response, note: notSentNote }],
      };
  }
}

/** The response to an attempt, as the timeline stores it. */
export function toAttemptResponse(error: ProviderError): AttemptResponse {
  const { statusClass, httpStatus, refusalCode } = error;
  return { providerStatus: statusClass, httpStatus, providerCode: refusalCode };
}

type Response = AttemptResponse & Pick<TimelineEntry, 'attempt' | 'note'>;

function unknown(response: Response): Move {
  return {
    ...onResponse,
    to: 'UNKNOWN',
    status: 'PROCESSING',
    outcome: 'unknown',
    timeline: [{ phase: 'UNKNOWN', ...response }],
  };
}

function refused(failureCode: string, response: Response): Move {
  return {
    ...onResponse,
    to: 'REJECTED',
    status: 'FAILED',
    outcome: 'rejected',
    failureCode,
    timeline: [{ phase: 'REJECTED', ...response }],
  };
}

/**
 * Whether a receipt that names a payment only by its key may be another user's: the response to a
 * second payment under one key may be the receipt of the first one.
 */
async function mayBeOtherReceipt(context: Context, paying: PayingSend): Promise<boolean> {
  const otherId = await findSameKeySend(context, paying);
  if (otherId !== null) await noteSharedKey(context, paying, otherId);
  return otherId !== null;
}

async function noteSharedKey(context: Context, { id }: PayingSend, otherId: string): Promise<void> {
  const anomaly = { transactionId: id, eventId: null, reason: `same_key_as ${otherId}` };
  if (!(await noteAnomaly(context, anomaly))) return;
  context.metrics.pixAnomalies.inc();
  context.log.error(anomaly, "the provider's answer may be about another user's payment");
}
