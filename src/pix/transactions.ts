/**
 * The life of a stored PIX transaction: its moves and its timeline. Every move is
 * conditional on the phase that it leaves, so whoever comes second changes nothing and is told so.
 */
import type { LocalContext } from '../context.ts';
import { moveTransaction as moveQuery } from '../db/queries/move-transaction.ts';
import type { PixTransactionRow } from '../db/queries/pix-row.ts';
import * as queries from '../db/queries/pix-transactions.ts';
import { stepSend, type SendStep } from '../db/queries/step-send.ts';
import { viewTransaction as viewQuery, type PixViewRow } from '../db/queries/view-transaction.ts';
import { isDatabaseUnavailable } from '../db/unavailable.ts';
import { longestCallMs } from '../domain/call-duration.ts';
import type { PixOutcome, PixPhase, PixStatus } from '../domain/pix.ts';
import { AppError } from '../errors.ts';
import type { VerifiedToken } from '../auth/access-tokens.ts';

export type { PixTransactionRow, PixViewRow };

/** A send that this process pays. */
export interface PayingRow extends PixTransactionRow {
  /** Until when no other process takes it over, and its attempts may leave. */
  readonly claimed_until: Date;
}

/** A row of the timeline; never personal data. */
export interface TimelineEntry {
  readonly phase: PixPhase;
  /** How many attempts the provider layer made by then, counted from 1. */
  readonly attempt?: number;
  /** How the provider's answer looked, such as `2xx` or `timeout`. */
  readonly providerStatus?: string;
  readonly eventId?: string;
  /** Why, where the phase alone does not say: a fixed word, or what an operator has written. */
  readonly note?: string;
}

/** A move to another phase. What is left out keeps its value. */
export interface Move {
  readonly from: readonly PixPhase[];
  readonly to: PixPhase;
  readonly status: PixStatus;
  /** A transaction that has another end-to-end id is not moved. */
  readonly endToEnd?: string | null;
  readonly outcome?: PixOutcome;
  readonly failureCode?: string;
  /** Noted with the first entry of the timeline: there is one where an id comes. */
  readonly providerTxid?: string | null;
  readonly qrCode?: string | null;
  readonly copyPaste?: string | null;
  /** Keeps the claim of the process that works on it; otherwise the claim is released. */
  readonly claimedUntil?: Date | null;
  readonly timeline: readonly TimelineEntry[];
}

/**
 * Moves a transaction and notes it, in one statement.
 * @returns the transaction, or null when it no longer stands in one of the phases to leave, or has
 *   another end-to-end id than the move.
 */
export async function moveTransaction(
  context: LocalContext,
  id: string,
  move: Move,
): Promise<PixTransactionRow | null> {
  const row = moveRow(id, move);
  const [moved] = await context.db.query<PixTransactionRow>(moveQuery, [
    ...[id, row.from_phases, row.phase, row.status, row.end_to_end, row.outcome, row.failure_code],
    ...[row.provider_txid, row.qr_code, row.copy_paste, row.claimed_until, context.clock.now()],
    JSON.stringify(row.timeline),
  ]);
  return moved ?? null;
}

/** @returns a move with the columns that statements with several moves take it by. */
export function moveRow(id: string, move: Move) {
  return {
    id,
    from_phases: `{${move.from.join(',')}}`,
    phase: move.to,
    status: move.status,
    end_to_end: move.endToEnd ?? null,
    outcome: move.outcome ?? null,
    failure_code: move.failureCode ?? null,
    provider_txid: move.providerTxid ?? null,
    qr_code: move.qrCode ?? null,
    copy_paste: move.copyPaste ?? null,
    claimed_until: move.claimedUntil ?? null,
    timeline: move.timeline.map(timelineRow),
  };
}

/**
 * Until when the process that works on a transaction keeps others from taking it over: as long as a
 * provider call may take. A look-up that takes longer still costs a second one and nothing else,
 * because only one process can move the transaction to PAYING; a payment does not leave once its
 * claim has run out.
 */
export function claimUntil({ clock, config }: Pick<LocalContext, 'clock' | 'config'>): Date {
  return new Date(clock.now().getTime() + longestCallMs(config.provider));
}

export interface BeginningPayment {
  readonly endToEnd: string;
  /** What the timeline dates the step by; now, unless said otherwise. */
  readonly at?: Date;
}

/**
 * Stores a send's end-to-end id, and that a payment is about to leave: RESOLVED, PAYING. The claim
 * is renewed for the longest duration of a call.
 * @param send as it was read; another process may have taken it further.
 * @returns the send as it stands then, or null when it stands elsewhere.
 */
export async function beginPaying(
  context: LocalContext,
  send: PixTransactionRow,
  { endToEnd, at }: BeginningPayment,
): Promise<PayingRow | null> {
  const claimedUntil = claimUntil(context);
  const paying = { to: 'PAYING', endToEnd, claimedUntil, attempt: 1, at } as const;
  const isTaken = await step(context, send, paying).catch((error: unknown) => {
    if (!isDatabaseUnavailable(error)) throw error;
    return beginsAfterAll(context, send, paying);
  });
  if (!isTaken) return null;
  return { ...send, phase: 'PAYING', end_to_end: endToEnd, claimed_until: claimedUntil };
}

/**
 * A connection that breaks may break after the commit. The send would then stand in PAYING for ever
 * though nothing has left, and this process alone knows that. The end-to-end id tells that it was
 * this process that took the step, where it comes from a look-up of its own.
 */
async function beginsAfterAll(
  context: LocalContext,
  send: PixTransactionRow,
  paying: Step,
): Promise<boolean> {
  if (await step(context, send, paying)) return true;
  if (send.end_to_end !== null) return false;
  const stored = await rereadTransaction(context, send);
  return stored.phase === 'PAYING' && stored.end_to_end === paying.endToEnd;
}

/**
 * Stores that the provider has accepted a payment, which it will settle later: ACCEPTED.
 * @param send as it was read when it began to be paid.
 * @param answer the provider's id of the payment, and how many attempts it took.
 * @returns the send as it stands then, or null when it stands elsewhere.
 */
export async function acceptPayment(
  context: LocalContext,
  send: PixTransactionRow,
  answer: { readonly providerTxid: string | null; readonly attempt: number },
): Promise<PixTransactionRow | null> {
  const { end_to_end: endToEnd } = send;
  const isTaken = await step(context, send, { to: 'ACCEPTED', endToEnd, ...answer });
  return isTaken ? { ...send, phase: 'ACCEPTED', outcome: 'accepted' } : null;
}

interface Step {
  readonly to: SendStep;
  readonly attempt: number;
  readonly endToEnd?: string | null;
  readonly providerTxid?: string | null;
  readonly claimedUntil?: Date;
  /** Now, unless said otherwise. */
  readonly at?: Date | undefined;
}

/** @returns whether the send still stood where the step may come from. */
async function step(
  { db, clock }: LocalContext,
  send: PixTransactionRow,
  { to, attempt, endToEnd = null, providerTxid = null, claimedUntil, at = clock.now() }: Step,
): Promise<boolean> {
  const notesResolved = send.phase === 'RESERVED';
  const parameters = [
    ...[send.id, to, endToEnd, providerTxid, notesResolved, at],
    ...[claimedUntil ?? null, attempt],
  ];
  return (await db.query(stepSend, parameters)).length > 0;
}

function timelineRow(entry: TimelineEntry): Record<string, unknown> {
  return {
    phase: entry.phase,
    attempt: entry.attempt ?? null,
    provider_status: entry.providerStatus ?? null,
    event_id: entry.eventId ?? null,
    note: entry.note ?? null,
  };
}

/**
 * Shows a caller a transaction, in one read with the check of the banking session.
 * @returns null when the caller has no such transaction.
 * @throws AppError UNAUTHENTICATED when the session that the token names is not active.
 */
export async function viewTransaction(
  context: LocalContext,
  token: VerifiedToken,
  id: string,
): Promise<PixViewRow | null> {
  const now = context.clock.now();
  const [row] = await context.db.query<PixViewRow | { readonly id: null }>(viewQuery, [
    token.sessionId,
    token.userId,
    now,
    id,
  ]);
  if (!row) throw new AppError('UNAUTHENTICATED');
  return row.id === null ? null : row;
}

/** @returns the user's transaction, or null: another user's is as good as missing. */
async function findTransaction(
  context: LocalContext,
  id: string,
  userId: number,
): Promise<PixTransactionRow | null> {
  const [row] = await context.db.query<PixTransactionRow>(queries.findTransaction, [id, userId]);
  return row ?? null;
}

/** @returns the transaction as it is stored now. */
export async function rereadTransaction(
  context: LocalContext,
  transaction: PixTransactionRow,
): Promise<PixTransactionRow> {
  return (await findTransaction(context, transaction.id, transaction.user_id)) ?? transaction;
}

/** What contradicts a transaction. */
export interface Anomaly {
  readonly transactionId: string;
  /** Null: it is not an event that does. */
  readonly eventId: string | null;
  /** A fixed word. */
  readonly reason: string;
}

/**
 * Notes on a transaction that it was contradicted, once for an event and a reason; it stays where
 * it stands.
 * @returns whether it was not noted before.
 */
export async function noteAnomaly(context: LocalContext, anomaly: Anomaly): Promise<boolean> {
  const noted = await context.db.query(queries.noteAnomaly, [
    anomaly.transactionId,
    context.clock.now(),
    anomaly.eventId,
    anomaly.reason,
  ]);
  return noted.length > 0;
}
