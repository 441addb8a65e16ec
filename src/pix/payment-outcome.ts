/** Stores what became of a payment that has left, or of one that provably has not. */
import { pause } from '../clock.ts';
import type { Context } from '../context.ts';
import { findSettlingEvent } from '../db/queries/pix-transactions.ts';
import { findAttempts } from '../db/queries/repeat-payment.ts';
import { isBeforePaying } from '../domain/pix.ts';
import type { Log } from '../log.ts';
import {
  acceptPayment,
  type BeginningPayment,
  moveTransaction,
  noteAnomaly,
  rereadTransaction,
  type Move,
  type PayingRow,
  type PixTransactionRow,
} from './transactions.ts';
import { storeWithRetries } from './unstored-outcomes.ts';

/** The outcome of a payment. */
export interface Outcome {
  readonly move: Move;
  /** Decides about the move by what is stored, where the provider's answer alone does not. */
  readonly check?: () => Promise<Move>;
  /** Of the request. */
  readonly log: Log;
}

/**
 * Stores the outcome of a payment, however long the database is away: with back-off while the claim
 * lasts, then from the list of this process. A failure to store is no failure of the payment.
 * @returns the transaction as it is stored; while the outcome is not stored, as it was in PAYING.
 */
export async function recordOutcome(
  context: Context,
  paying: PayingRow,
  outcome: Outcome,
): Promise<PixTransactionRow> {
  const { clock, stopping } = context;
  const { move, check, log } = outcome;
  const store = (): Promise<PixTransactionRow> => recordOnce(context, paying, outcome);
  try {
    return await storeWithRetries({ clock, stopping, until: paying.claimed_until }, store);
  } catch (error) {
    log.error({ error, transactionId: paying.id }, 'an outcome waits for the database');
    context.outcomes.keep({ transactionId: paying.id, store });
    // What the provider took and has refused in the same answer is no accepted payment, and what
    // has yet to be checked may be another payment's receipt.
    const isAccepted = !check && move.outcome === 'accepted' && move.status !== 'FAILED';
    return { ...paying, outcome: isAccepted ? 'accepted' : 'unknown' };
  }
}

async function recordOnce(
  context: Context,
  paying: PayingRow,
  { move: told, check, log }: Outcome,
): Promise<PixTransactionRow> {
  const move = check ? await check() : told;
  // Nearly every payment is accepted: that move has a statement of its own.
  const moved =
    move.to === 'ACCEPTED'
      ? await acceptPayment(context, paying, {
          providerTxid: move.providerTxid ?? null,
          attempt: move.timeline[0]?.attempt ?? 1,
        })
      : await moveTransaction(context, paying.id, { ...move, endToEnd: paying.end_to_end });
  if (moved) return moved;
  const stored = await rereadTransaction(context, paying);
  const reason = await contradictionOf(context, { paying, stored, move });
  if (reason !== null) {
    await noteAnomaly(context, { transactionId: stored.id, eventId: null, reason });
    context.metrics.pixAnomalies.inc();
    const facts = { transactionId: stored.id, reason, stored: stored.status };
    log.error(facts, 'the provider contradicts a settled payment');
  }
  return stored;
}

interface Unmoved {
  readonly paying: PayingRow;
  readonly stored: PixTransactionRow;
  readonly move: Move;
}

/**
 * An answer that moves nothing contradicts what is stored if it says another end. An acceptance
 * contradicts a failure that no event of the provider has reported, such as an operator's decision.
 * It also contradicts a transaction that now has another end-to-end id, because a failover has lost
 * the record of the payment.
 * @returns the word of the anomaly, or null when there is none.
 */
async function contradictionOf(
  context: Context,
  { paying, stored, move }: Unmoved,
): Promise<string | null> {
  const isAccepted = move.outcome === 'accepted' && move.status !== 'FAILED';
  if (stored.end_to_end !== paying.end_to_end) return isAccepted ? 'other_end_to_end' : null;
  if (stored.status === 'PROCESSING' || stored.status === move.status) return null;
  if (move.status !== 'PROCESSING') return `contradicted_by_${move.status}`;
  if (!isAccepted || stored.status !== 'FAILED') return null;
  const events = await context.db.query(findSettlingEvent, [stored.id]);
  return events.length === 0 ? 'contradicted_by_ACCEPTED' : null;
}

/**
 * Waits for the sends under way when the service stops. What became of a payment whose call has not
 * ended by then is unknown.
 * @param withinMs how long, in milliseconds.
 */
export async function finishSends(context: Context, withinMs: number): Promise<void> {
  const unfinished = await context.outcomes.sendsEnded(withinMs);
  const called = unfinished.map((transactionId) => callUnknown(context, transactionId));
  await Promise.race([Promise.all(called), pause(context.clock, longestCallingMs)]);
}

/** A database that is silent for longer does not keep a service from stopping, in milliseconds. */
const longestCallingMs = 2_000;

async function callUnknown(context: Context, transactionId: string): Promise<void> {
  try {
    await moveTransaction(context, transactionId, {
      from: ['PAYING'],
      to: 'UNKNOWN',
      status: 'PROCESSING',
      outcome: 'unknown',
      timeline: [{ phase: 'UNKNOWN', note: 'service_stopped' }],
    });
  } catch (error) {
    context.log.error({ error, transactionId }, 'a payment is left in PAYING');
  }
}

/** Longer than the database works on a statement, in milliseconds: later it is not carried out. */
const longestStatementMs = 40_000;

/**
 * Fails a send that the database could not take to PAYING for this process, if the statement was
 * carried out all the same: nothing has left, and only this process knows that. A send that is
 * still before PAYING is left to a repeat or to the sweep.
 * @param send as it was before; with an end-to-end id of an earlier look-up it is left alone,
 *   because another process may pay it under the same id.
 * @param begun this process's own step to PAYING.
 */
export function failUnsentLater(
  context: Context,
  send: PixTransactionRow,
  begun: Required<BeginningPayment>,
): void {
  if (send.end_to_end !== null) return;
  // A timer, because the wall clock may jump ahead meanwhile.
  let mayBeMoved = true;
  context.clock.after(longestStatementMs, () => {
    mayBeMoved = false;
  });
  context.outcomes.keep({
    transactionId: send.id,
    store: () => failUnsent(context, send, { ...begun, mayBeMoved: () => mayBeMoved }),
  });
}

/** @throws Error while the statement may still be carried out: it is looked at again. */
async function failUnsent(
  context: Context,
  send: PixTransactionRow,
  { endToEnd, at, mayBeMoved }: Required<BeginningPayment> & { readonly mayBeMoved: () => boolean },
): Promise<void> {
  const isOver = !mayBeMoved();
  const stored = await rereadTransaction(context, send);
  if (isBeforePaying(stored.phase) && !isOver) {
    throw new Error('the send may still be moved');
  }
  if (stored.end_to_end !== endToEnd) return;
  // Another process may have paid after a look-up that gave the same end-to-end id.
  const attempts = await context.db.query<{ at: Date }>(findAttempts, [send.id]);
  if (attempts.length !== 1 || attempts[0]?.at.getTime() !== at.getTime()) return;
  await moveTransaction(context, send.id, {
    from: ['PAYING', 'UNKNOWN'],
    endToEnd,
    to: 'SETTLED',
    status: 'FAILED',
    outcome: 'not_sent',
    failureCode: 'PROVIDER_UNAVAILABLE',
    timeline: [{ phase: 'SETTLED', providerStatus: 'stopped', note: 'not_sent' }],
  });
}
