/**
 * The life of a stored PIX transaction: its claim, its moves, its timeline. Every move is
 * conditional on the phase that it leaves, so whoever comes second changes nothing and is told so.
 */
import { createHash } from 'node:crypto';
import type { LocalContext } from '../context.ts';
import { moveTransaction as moveQuery } from '../db/queries/move-transaction.ts';
import type { PixTransactionRow } from '../db/queries/pix-row.ts';
import * as queries from '../db/queries/pix-transactions.ts';
import { reserveTransaction } from '../db/queries/reserve-transaction.ts';
import { isDatabaseUnavailable } from '../db/unavailable.ts';
import { viewTransaction as viewQuery, type PixViewRow } from '../db/queries/view-transaction.ts';
import { outcomeOf, type PixOutcome, type PixPhase, type PixStatus } from '../domain/pix.ts';
import { decimalFromCents } from '../domain/money.ts';
import { AppError, type Text } from '../errors.ts';
import type { VerifiedToken } from '../security/access-tokens.ts';

export type { PixTransactionRow, PixViewRow };

/**
 * Until when the process that works on a transaction keeps a repeat of the same key from resuming
 * it: as long as a provider call with its retries and their waits may take. One that takes longer
 * still costs a second look-up and nothing else, because only one of them can move the transaction
 * to PAYING.
 */
function claimUntil(context: LocalContext): Date {
  const { timeoutMs, retries } = context.config.provider;
  const claimMs = timeoutMs * (retries + 2) + longestWaitMs * retries;
  return new Date(context.clock.now().getTime() + claimMs);
}

/** More than the longest back-off between two attempts. */
const longestWaitMs = 1_000;

/** A new transaction, as the app asked for it. */
export interface Reservation {
  readonly id: string;
  readonly userId: number;
  readonly operation: 'SEND' | 'CHARGE';
  readonly idempotencyKey: string;
  readonly fingerprint: Buffer;
  readonly amountCents: number;
  readonly pixKey: string;
  readonly description: string | null;
  readonly transactionIdentification: string | null;
}

export type Claim =
  /** The caller works on the transaction; `resumed` after the process that did has died. */
  | { readonly work: 'ours'; readonly resumed: boolean; readonly transaction: PixTransactionRow }
  /** Somebody else does, or the work is done: answer what stands there. */
  | { readonly work: 'theirs'; readonly transaction: PixTransactionRow };

/**
 * Claims an idempotency key, or finds who has it. The claim is the row itself and never expires.
 * @throws AppError VALIDATION_FAILED when the key was used for a different request.
 */
export async function claimTransaction(
  context: LocalContext,
  reservation: Reservation,
): Promise<Claim> {
  const row = await reserve(context, reservation);
  if (row.reserved) return { work: 'ours', resumed: false, transaction: row };
  if (!row.fingerprint?.equals(reservation.fingerprint)) throw keyUsedElsewhere(row);
  const taken = isResumable(row, context.clock.now()) ? await takeOver(context, row.id) : null;
  return taken
    ? { work: 'ours', resumed: true, transaction: taken }
    : { work: 'theirs', transaction: row };
}

async function reserve(context: LocalContext, reservation: Reservation): Promise<ReservedRow> {
  const now = context.clock.now();
  const parameters = [
    reservation.id,
    reservation.userId,
    reservation.operation,
    reservation.idempotencyKey,
    reservation.fingerprint,
    decimalFromCents(reservation.amountCents),
    reservation.pixKey,
    reservation.description,
    reservation.transactionIdentification,
    claimUntil(context),
    now,
  ];
  // A second look always finds the row that the first one ran into: it is committed by then.
  for (let look = 0; look < 2; look += 1) {
    const [row] = await reserveSurely(context, parameters);
    if (row) return row;
  }
  throw new Error('an idempotency key was neither claimed nor found');
}

type ReservedRow = PixTransactionRow & { readonly reserved: boolean };

/** A connection that breaks may break after the commit: a second try finds its own row then. */
async function reserveSurely(
  context: LocalContext,
  parameters: readonly unknown[],
): Promise<ReservedRow[]> {
  const { db } = context;
  try {
    return await db.query<ReservedRow>(reserveTransaction, parameters);
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
    return db.query<ReservedRow>(reserveTransaction, parameters);
  }
}

function isResumable(row: PixTransactionRow, now: Date): boolean {
  const early = row.phase === 'RESERVED' || row.phase === 'RESOLVED';
  return early && (row.claimed_until === null || row.claimed_until <= now);
}

async function takeOver(context: LocalContext, id: string): Promise<PixTransactionRow | null> {
  const now = context.clock.now();
  const [row] = await context.db.query<PixTransactionRow>(queries.takeOverTransaction, [
    id,
    claimUntil(context),
    now,
  ]);
  return row ?? null;
}

const usedElsewhere: Text = {
  en: 'This key belongs to another request. See first what became of that one.',
  pt: 'Esta chave pertence a outra requisição. Veja antes o que aconteceu com aquela.',
};

/** Beside the refusal, a send is told what became of the payment that has the key. */
function keyUsedElsewhere(row: PixTransactionRow): AppError {
  const isSend = row.operation === 'SEND';
  return new AppError('VALIDATION_FAILED', {
    fields: { 'Idempotency-Key': [usedElsewhere] },
    ...(isSend && { headers: { 'Pix-Outcome': outcomeOf(row) } }),
  });
}

/** A row of the timeline; never personal data. */
export interface TimelineEntry {
  readonly phase: PixPhase;
  readonly attempt?: number;
  /** How the provider's answer looked, such as `2xx` or `timeout`. */
  readonly providerStatus?: string;
  readonly eventId?: string;
  /** A fixed word. */
  readonly note?: string;
}

/** A move to another phase. What is left out keeps its value. */
export interface Move {
  readonly from: readonly PixPhase[];
  readonly to: PixPhase;
  readonly status: PixStatus;
  readonly endToEnd?: string | null;
  readonly outcome?: PixOutcome;
  readonly failureCode?: string;
  readonly providerTxid?: string | null;
  readonly qrCode?: string | null;
  readonly copyPaste?: string | null;
  /** Keeps the claim of the process that works on it; otherwise the claim is released. */
  readonly claimedUntil?: Date | null;
  readonly timeline: readonly TimelineEntry[];
}

/**
 * Moves a transaction and notes it, in one statement.
 * @returns the transaction, or null when it no longer stands in one of the phases to leave.
 */
export async function moveTransaction(
  context: LocalContext,
  id: string,
  move: Move,
): Promise<PixTransactionRow | null> {
  const [row] = await context.db.query<PixTransactionRow>(moveQuery, [
    id,
    `{${move.from.join(',')}}`,
    move.to,
    move.status,
    move.endToEnd ?? null,
    move.outcome ?? null,
    move.failureCode ?? null,
    move.providerTxid ?? null,
    move.qrCode ?? null,
    move.copyPaste ?? null,
    move.claimedUntil ?? null,
    context.clock.now(),
    JSON.stringify(move.timeline.map(timelineRow)),
  ]);
  return row ?? null;
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

/**
 * The fingerprint of a request: the same for every way to write the same values, so that `10`,
 * `10.0` and `1e1` are one amount. Values that are absent and null are the same.
 * @param values in a fixed order.
 */
export function fingerprintOf(values: readonly unknown[]): Buffer {
  return createHash('sha256')
    .update(JSON.stringify(values.map((value) => value ?? null)))
    .digest();
}
