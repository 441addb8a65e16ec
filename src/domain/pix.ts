/**
 * The states and rules of a Pix transaction.
 *
 * The app sees a *status*. Internally a transaction has a *phase*, which records its progress and
 * therefore the possible consequences of a crash:
 *
 *     RESERVED → RESOLVED → PAYING → ACCEPTED | REJECTED | UNKNOWN → SETTLED
 *
 * Each phase is committed before the step that it announces. RESERVED holds the idempotency key.
 * RESOLVED holds the end-to-end id from the directory. PAYING means that a payment may have been
 * sent: from then on only a confirmation by the provider ends the transaction. A return takes the
 * same phases without RESOLVED: RESERVED holds its return id, too.
 */

import { randomAlphanumerics } from './text.ts';

/** The status of a transaction in the API: the contract's `PixStatus`. */
export type PixStatus = 'PROCESSING' | 'COMPLETED' | 'FAILED';

export type PixPhase =
  'RESERVED' | 'RESOLVED' | 'PAYING' | 'ACCEPTED' | 'REJECTED' | 'UNKNOWN' | 'SETTLED';

/** What is known about the provider call that moves the money; sent as `Pix-Outcome`. */
export type PixOutcome = 'accepted' | 'unknown' | 'not_sent' | 'rejected';

/** The type of a transaction, which its table calls `operation`. */
export type PixType = 'SEND' | 'CHARGE' | 'RECEIVED' | RefundType;

/**
 * The type of a refund, a transaction of its own: with `REFUND_IN` the user gets back what a send
 * has paid, with `REFUND_OUT` the user gives back what a charge or a received Pix has brought.
 */
export type RefundType = 'REFUND_IN' | 'REFUND_OUT';

/**
 * The type of an order: the provider moves the user's money because a request has asked for it. A
 * `REFUND_OUT` is one if the user has made it here (a return); any other refund is only reported.
 */
export type OrderType = 'SEND' | 'REFUND_OUT';

/** The `type` of a transaction in the API. */
type PixTransactionType = `PIX_${PixType}`;

export const pixStatuses = ['PROCESSING', 'COMPLETED', 'FAILED'] as const satisfies PixStatus[];

export const refundTypes = ['REFUND_IN', 'REFUND_OUT'] as const satisfies RefundType[];

export const orderTypes = ['SEND', 'REFUND_OUT'] as const satisfies OrderType[];

export const pixTypes = ['SEND', 'CHARGE', 'RECEIVED', ...refundTypes] as const satisfies PixType[];

export const pixOutcomes = [
  'accepted',
  'unknown',
  'not_sent',
  'rejected',
] as const satisfies PixOutcome[];

/** The possible phases of each status; the database enforces the same pairs. */
export const phasesOfStatus: Readonly<Record<PixStatus, readonly PixPhase[]>> = {
  PROCESSING: ['RESERVED', 'RESOLVED', 'PAYING', 'ACCEPTED', 'UNKNOWN'],
  COMPLETED: ['SETTLED'],
  FAILED: ['REJECTED', 'SETTLED'],
};

/** The phases before a payment may have been sent: only these may fail without the provider. */
export const phasesBeforePaying = ['RESERVED', 'RESOLVED'] as const satisfies PixPhase[];

/** Whether a transaction is before PAYING, so that no payment can have been sent. */
export function isBeforePaying(phase: PixPhase): boolean {
  return phasesBeforePaying.some((one) => one === phase);
}

/**
 * The phases that the provider's response to a payment may advance. They include UNKNOWN because
 * the sweep may have set it while the response was still in transit.
 */
export const phasesOpenToResponse = ['PAYING', 'UNKNOWN'] as const satisfies PixPhase[];

/**
 * The phases that an event of the provider may settle. They exclude RESERVED and RESOLVED: no
 * payment can have been sent, so such an event belongs to another payment or is a defect.
 */
export const phasesOpenToSettlement = [
  'PAYING',
  'ACCEPTED',
  'UNKNOWN',
] as const satisfies PixPhase[];

/**
 * The phases in which a failure event settles a send. They exclude PAYING: a process may still send
 * the payment, and it would be executed although the send has failed. A send that was repeated
 * after an attempt with an unknown outcome is settled by such an event only if each attempt was
 * provably not executed: the event may refer to one attempt only.
 */
export const phasesOpenToFailure = ['ACCEPTED', 'UNKNOWN'] as const satisfies PixPhase[];

/** The failure code of a charge that expired before it was paid. */
export const chargeExpired = 'CHARGE_EXPIRED';

/** The note in the timeline of a charge that the sweep has ended. */
export const expiredNote = 'expired';

/** The note in the timeline of an unpaid static charge whose owner was erased. */
export const ownerErasedNote = 'owner_erased';

/** The note in the timeline of a transaction that the provider's statement has completed. */
export const foundInStatementNote = 'found_in_statement';

/** Who brings a report: an event, or what the timeline names by a fixed note. */
export type Source =
  | { readonly eventId: string; readonly note: null }
  | { readonly eventId: null; readonly note: string };

/** A line of the provider's statement. */
export const fromStatement: Source = { eventId: null, note: foundInStatementNote };

/** An event of the provider. */
export function fromEvent(eventId: string): Source {
  return { eventId, note: null };
}

/** The note in the timeline of a send that the statement shows and whose record was lost. */
export const foundAfterLossNote = 'found_after_loss';

/** The note in the timeline of an order whose line a statement has shown for the first time. */
export const seenInStatementNote = 'seen_in_statement';

/**
 * The note in the timeline of a transaction that was overruled although a statement has shown its
 * debit, with as much money back: that line proves no more.
 */
export const closedLineNote = 'closed_line';

/** One side of a payment has failed, and the other one has its money: an operator decides. */
export const receivedByPayee = 'received_by_payee';

/** The anomaly of an open send whose debit a statement shows with as much money back. */
export const reversedInStatement = 'statement_reversed';

/** The failure code of a send whose debits the statement shows with reversals of equal sums. */
export const reversed = 'REVERSED';

/** The note in the timeline of such a send. */
export const reversedNote = 'reversed';

/**
 * How long after its last attempt a payment may still be executed, in ms: the end-to-end ids of the
 * instant payment system live twelve hours, and a bank reconciles by the next day.
 */
export const executableMs = 36 * 60 * 60_000;

/** The anomaly of a failure that may be that of one attempt only. */
export const failedAfterRepeat = 'failed_after_repeat';

/** The failure code of a send that was not executed while it could be. */
export const expiredUnexecuted = 'EXPIRED_UNEXECUTED';

/** The note in the timeline of its end. */
export const unexecutedNote = 'unexecuted';

/** The note in the timeline of a send that its return has completed. */
export const returnedNote = 'returned';

/** The note in the timeline of a transaction that was refunded; the refund's id follows. */
export const refundedNote = 'REFUNDED';

/** The note in the timeline of an order that is not made: its key is closed. */
export const closedNote = 'closed';

/** The start of the note in the timeline of a FAILED transaction that became COMPLETED. */
export const correctedNote = 'corrected';

/** The failure code of a COMPLETED transaction that two operators have called failed. */
export const overruled = 'OVERRULED';

/** The start of the note in the timeline of such a transaction. */
export const overruledNote = 'overruled';

/** The note in the timeline of a repeated attempt about the previous attempt. */
export const repeatNotes = {
  unknown: 'after_unknown',
  notSent: 'after_not_sent',
  afterLogin: 'after_login',
} as const;

/** The note in the timeline of a last attempt that was provably not sent. */
export const notSentNote = 'not_sent';

/** The `Pix-Outcome` of a stored send: the recorded outcome, or `unknown`. */
export function storedOutcome(transaction: { readonly outcome: PixOutcome | null }): PixOutcome {
  return transaction.outcome ?? 'unknown';
}

/** The `type` of a transaction in the API. */
export function transactionType<Type extends PixType>(type: Type): `PIX_${Type}` {
  return `PIX_${type}`;
}

/** Whether a transaction is a refund of another one. */
export function isRefund(type: PixType): type is RefundType {
  return refundTypes.some((one) => one === type);
}

/** Whether a transaction is an order, or of the type of one. */
export function isOrder(type: PixType): type is OrderType {
  return orderTypes.some((one) => one === type);
}

const typesByName = {
  PIX_SEND: 'SEND',
  PIX_CHARGE: 'CHARGE',
  PIX_RECEIVED: 'RECEIVED',
  PIX_REFUND_IN: 'REFUND_IN',
  PIX_REFUND_OUT: 'REFUND_OUT',
} as const satisfies Record<PixTransactionType, PixType>;

/** The type of a transaction with a `type` of the API. */
export function pixTypeNamed(type: PixTransactionType): PixType {
  return typesByName[type];
}

/** The return id of a refund: as an end-to-end id, but with `D`. */
const returnId = /^D[0-9A-Za-z]{31}$/;

/** Whether an id is the return id of a refund. */
export function isReturnId(id: string | null): id is string {
  return id !== null && returnId.test(id);
}

const ispbPattern = /^[0-9A-Z]{8}$/;

/**
 * Creates an end-to-end id, which identifies one transfer in the instant payment system (SPI): `E`,
 * the ISPB of the issuing participant, `yyyyMMddHHmm` in UTC, and eleven random alphanumerics.
 *
 * @param ispb eight digits or capital letters (it derives from the root of a CNPJ, which may carry
 *   letters since July 2026).
 * @param at the time of the transfer; SPI refuses a difference of over twelve hours (FF08).
 * @returns 32 characters.
 * @throws RangeError when `ispb` is malformed, or `at` is outside the years 0 to 9999.
 */
export function newEndToEndId(ispb: string, at: Date): string {
  return newSpiId({ kind: 'E', ispb, at, unique: randomAlphanumerics(uniqueLength) });
}

/**
 * Creates the return id of a refund: as an end-to-end id, but with `D`.
 * @param unique the eleven characters that distinguish it; random ones by default.
 */
export function newReturnId(
  ispb: string,
  at: Date,
  unique: string = randomAlphanumerics(uniqueLength),
): string {
  return newSpiId({ kind: 'D', ispb, at, unique });
}

/** How long after its receipt a Pix may be returned, in days (BCB, Resolução 1, article 41). */
export const maxReturnDays = 90;

/** How many characters at the end of an id distinguish it from the others of its minute. */
export const uniqueLength = 11;

/** How many characters at the beginning of an id say what it is, and whose. */
export const issuerLength = 9;

/** Whether two ids are known and equal: two absent ids are never those of one payment. */
export function isSameId(one: string | null, other: string | null): boolean {
  return one !== null && one === other;
}

/**
 * Whether two return ids are those of one return of this service. Only the minute may differ: the
 * eleven characters are a digest of the user and the idempotency key, so that a return whose row
 * was lost, and that is requested again, has them again.
 */
export function isSameReturn(one: string | null, other: string | null): boolean {
  if (!isReturnId(one) || !isReturnId(other)) return false;
  return (
    one.slice(0, issuerLength) === other.slice(0, issuerLength) &&
    one.slice(-uniqueLength) === other.slice(-uniqueLength)
  );
}

interface SpiIdParts {
  readonly kind: 'D' | 'E';
  readonly ispb: string;
  readonly at: Date;
  readonly unique: string;
}

function newSpiId({ kind, ispb, at, unique }: SpiIdParts): string {
  if (!ispbPattern.test(ispb)) throw new RangeError(`not an ISPB: ${ispb}`);
  const iso = at.toISOString();
  if (!/^\d{4}-/.test(iso)) throw new RangeError(`outside the years 0 to 9999: ${iso}`);
  const day = iso.slice(0, 4) + iso.slice(5, 7) + iso.slice(8, 10);
  const minute = iso.slice(11, 13) + iso.slice(14, 16);
  return `${kind}${ispb}${day}${minute}${unique}`;
}

/**
 * Creates the `transactionIdentification` of a charge: 26 random alphanumerics, the minimum of the
 * central bank's Pix API for a charge behind a URL.
 */
export function newTransactionIdentification(): string {
  return randomAlphanumerics(26);
}

/** A static BR Code has room for the first 25 of the 26 characters. */
export const staticTxidLength = 25;

/** Whether a reported identification is that of a charge; its code may have it cut. */
export function namesCharge(reported: string | null, stored: string): boolean {
  return reported === stored || reported === stored.slice(0, staticTxidLength);
}
