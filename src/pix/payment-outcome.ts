/** Derives and stores the outcome of a payment that was sent, or provably was not sent. */
import { pause } from '../clock.ts';
import type { Context } from '../context/context.ts';
import { longestCallMs } from '../domain/call-duration.ts';
import { isBeforePaying, notSentNote, phasesOpenToAnswer } from '../domain/pix.ts';
import type { Log } from '../telemetry/log.ts';
import type { ProviderError } from '../provider/errors.ts';
import type { PaymentReceipt } from '../provider/provider.ts';
import {
  moveTransaction,
  type AttemptAnswer,
  type Move,
  type TimelineEntry,
} from './move-repository.ts';
import {
  acceptPayment,
  findSameKeySend,
  wasStartedOnlyByUs,
  isSettledByEvent,
  type PayingSend,
  type TimedStep,
} from './payment-repository.ts';
import { noteAnomaly, readStored, type PixTransaction } from './pix-transaction-repository.ts';
import { noticeLostCommit, rereadTransaction } from './lost-commits.ts';
import { storeWithRetries, type SendInProgress } from '../process/unstored-outcomes.ts';

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

const onResponse = { from: phasesOpenToAnswer } as const;

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
  const response = { ...toAttemptAnswer(last), attempt };
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
export function toAttemptAnswer(error: ProviderError): AttemptAnswer {
  const { statusClass, httpStatus, refusalCode } = error;
  return { providerStatus: statusClass, httpStatus, providerCode: refusalCode };
}

type Response = AttemptAnswer & Pick<TimelineEntry, 'attempt' | 'note'>;

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

/**
 * Stores the outcome of a payment, however long the database is unavailable: with back-off while
 * the claim lasts, then from the list of this process. A failure to store is no failure of the
 * payment.
 * @param outcome with the log of the request.
 * @returns the transaction as it is stored; while the outcome is not stored, as it was in PAYING.
 */
export async function recordOutcome(
  context: Context,
  paying: PayingSend,
  outcome: Outcome & { readonly log: Log },
): Promise<PixTransaction> {
  const { clock, stopping } = context;
  const { move, check, log } = outcome;
  const store = (): Promise<PixTransaction> => recordOnce(context, paying, outcome);
  try {
    return await storeWithRetries({ clock, stopping, until: paying.claimedUntil }, store);
  } catch (error) {
    log.error({ error, transactionId: paying.id }, 'an outcome waits for the database');
    context.outcomes.keep({ transactionId: paying.id, store });
    // An outcome that is not checked yet may be another payment's receipt.
    const isAccepted = !check && move.outcome === 'accepted';
    return { ...paying, outcome: isAccepted ? 'accepted' : 'unknown' };
  }
}

async function recordOnce(
  context: Context,
  paying: PayingSend,
  { move: unchecked, check, log }: Outcome & { readonly log: Log },
): Promise<PixTransaction> {
  const move = check ? await check() : unchecked;
  // Nearly every payment is accepted: that move has a statement of its own.
  const moved =
    move.to === 'ACCEPTED'
      ? await acceptPayment(context, paying, {
          providerTxid: move.providerTxid ?? null,
          attempt: move.timeline[0]?.attempt ?? 1,
        })
      : await moveTransaction(context, paying.id, { ...move, endToEnd: paying.endToEnd });
  if (moved) return moved;
  const stored = await noteContradiction(context, paying, { endToEnd: paying.endToEnd, move, log });
  if (stored.endToEnd !== paying.endToEnd) {
    const { claimedUntil } = paying;
    const committedAt = new Date(claimedUntil.getTime() - longestCallMs(context.config.provider));
    await noticeLostCommit(context, { missing: 'the step to PAYING', committedAt });
  }
  return stored;
}

/** An outcome that could not be stored, because the transaction was moved meanwhile. */
interface Unmoved {
  /** The end-to-end id that the outcome is of. */
  readonly endToEnd: string;
  readonly move: Move;
}

/**
 * Notes an anomaly where an outcome contradicts the stored transaction.
 * @returns the transaction as it is stored.
 */
async function noteContradiction(
  context: Context,
  transaction: PixTransaction,
  { log, ...unmoved }: Unmoved & { readonly log: Log },
): Promise<PixTransaction> {
  const stored = await rereadTransaction(context, transaction);
  const reason = await findContradiction(context, { ...unmoved, stored });
  if (reason !== null) {
    await noteAnomaly(context, { transactionId: stored.id, eventId: null, reason });
    context.metrics.pixAnomalies.inc();
    const facts = { transactionId: stored.id, reason, stored: stored.status };
    log.error(facts, 'the outcome contradicts a settled payment');
  }
  return stored;
}

/**
 * A response that moves nothing contradicts what is stored if it reports another final status. An
 * acceptance contradicts a failure that no event of the provider has reported, such as an
 * operator's decision. A transaction that now has another end-to-end id is another payment.
 * @returns the reason of the anomaly, or null when there is none.
 */
async function findContradiction(
  context: Context,
  { endToEnd, stored, move }: Unmoved & { readonly stored: PixTransaction },
): Promise<string | null> {
  if (stored.endToEnd !== endToEnd) return null;
  if (stored.status === 'PROCESSING' || stored.status === move.status) return null;
  if (move.status !== 'PROCESSING') return `contradicted_by_${move.status}`;
  if (move.outcome !== 'accepted' || stored.status !== 'FAILED') return null;
  return (await isSettledByEvent(context, stored.id)) ? null : 'contradicted_by_ACCEPTED';
}

/**
 * Waits for the sends in progress when the service stops. The outcome of a payment whose call has
 * not ended by then is unknown.
 * @param withinMs how long, in milliseconds.
 */
export async function finishSends(context: Context, withinMs: number): Promise<void> {
  const unfinished = await context.outcomes.sendsEnded(withinMs);
  const stored = unfinished.map((send) => storeUnknown(context, send));
  await Promise.race([Promise.all(stored), pause(context.clock, maxStopMs)]);
}

/** A database that does not respond for longer does not delay a stop, in milliseconds. */
const maxStopMs = 2_000;

/** Only for the payment of this process: after a failover another one may pay the same send. */
async function storeUnknown(
  context: Context,
  { transactionId, endToEnd }: SendInProgress,
): Promise<void> {
  if (endToEnd === null) return;
  try {
    await moveTransaction(context, transactionId, {
      from: ['PAYING'],
      endToEnd,
      to: 'UNKNOWN',
      status: 'PROCESSING',
      outcome: 'unknown',
      timeline: [{ phase: 'UNKNOWN', note: 'service_stopped' }],
    });
  } catch (error) {
    context.log.error({ error, transactionId }, 'a payment is left in PAYING');
  }
}

/**
 * Fails a send that the database did not confirm to be PAYING for this process, if the step was
 * executed nevertheless: nothing was sent, and only this process knows that. The database may
 * execute the statement late, so this waits until the send is past the phases before PAYING: a
 * repeat, the sweep or the late statement takes it there.
 * @param send as it was before; nothing is done for one with an end-to-end id of an earlier
 *   look-up, because another process may pay it under the same id.
 * @param step this process's own step to PAYING.
 */
export function scheduleUnsentFailure(
  context: Context,
  send: PixTransaction,
  step: TimedStep,
): void {
  if (send.endToEnd !== null) return;
  const store = (): Promise<void> => failIfUnsent(context, send, step);
  context.outcomes.keep({ transactionId: send.id, store });
}

/** @throws Error while the step may still be executed: the send is read again later. */
async function failIfUnsent(
  context: Context,
  send: PixTransaction,
  step: TimedStep,
): Promise<void> {
  const { endToEnd } = step;
  const stored = await readStored(context, send);
  if (stored && isBeforePaying(stored.phase)) throw new Error('the send may still be moved');
  if (stored?.endToEnd !== endToEnd) return;
  if (!(await wasStartedOnlyByUs(context, send, step))) return;
  const move: Move = {
    from: ['PAYING', 'UNKNOWN'],
    endToEnd,
    to: 'SETTLED',
    status: 'FAILED',
    outcome: 'not_sent',
    failureCode: 'PROVIDER_UNAVAILABLE',
    timeline: [{ phase: 'SETTLED', providerStatus: 'stopped', note: notSentNote }],
  };
  if (await moveTransaction(context, send.id, move)) return;
  // An operator may have called it paid meanwhile.
  await noteContradiction(context, send, { endToEnd, move, log: context.log });
}
