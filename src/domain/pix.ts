/**
 * The words and the rules of a PIX transaction.
 *
 * The app sees a *status*; behind it stands a *phase*, which says how far a transaction has come
 * and so what a crash at that point can have left behind:
 *
 *     RESERVED → RESOLVED → PAYING → ACCEPTED | REJECTED | UNKNOWN → SETTLED
 *
 * Each phase is committed before the step that it announces. RESERVED holds the idempotency key.
 * RESOLVED holds the end-to-end id that the directory gave. PAYING says that a payment may have
 * left: from here on only the provider's word ends the transaction, whatever happens to us.
 */

/** What the app sees of a transaction: the contract's `PixStatus`. */
export type PixStatus = 'PROCESSING' | 'COMPLETED' | 'FAILED';

export type PixPhase =
  'RESERVED' | 'RESOLVED' | 'PAYING' | 'ACCEPTED' | 'REJECTED' | 'UNKNOWN' | 'SETTLED';

/** What is known of the one provider call that moves the money, told in `Pix-Outcome`. */
export type PixOutcome = 'accepted' | 'unknown' | 'not_sent' | 'rejected';

export type PixOperation = 'SEND' | 'CHARGE' | 'RECEIVED';

/** The `type` of a transaction in the statement. */
export type PixTransactionType = 'PIX_SEND' | 'PIX_CHARGE' | 'PIX_RECEIVED';

export const pixStatuses = ['PROCESSING', 'COMPLETED', 'FAILED'] as const satisfies PixStatus[];

export const pixOperations = ['SEND', 'CHARGE', 'RECEIVED'] as const satisfies PixOperation[];

export const pixOutcomes = [
  'accepted',
  'unknown',
  'not_sent',
  'rejected',
] as const satisfies PixOutcome[];

/** The phases that a status can stand in; the database checks the same pairs. */
export const phasesOfStatus: Readonly<Record<PixStatus, readonly PixPhase[]>> = {
  PROCESSING: ['RESERVED', 'RESOLVED', 'PAYING', 'ACCEPTED', 'UNKNOWN'],
  COMPLETED: ['SETTLED'],
  FAILED: ['REJECTED', 'SETTLED'],
};

/** The phases before anything can have left: only these may fail without the provider's word. */
export const phasesBeforePaying = ['RESERVED', 'RESOLVED'] as const satisfies PixPhase[];

/** Whether a transaction is before PAYING, so that nothing can have left. */
export function isBeforePaying(phase: PixPhase): boolean {
  return phasesBeforePaying.some((one) => one === phase);
}

/**
 * The phases that the provider's answer to a payment may move on. UNKNOWN is among them because the
 * sweep may have called a payment so while its answer was still on the way.
 */
export const phasesOpenToAnswer = ['PAYING', 'UNKNOWN'] as const satisfies PixPhase[];

/**
 * The phases that the provider's word may settle. RESERVED and RESOLVED are not among them: no
 * payment of ours can have left, so an event that claims one is somebody else's or a defect.
 */
export const phasesOpenToSettlement = [
  'PAYING',
  'ACCEPTED',
  'UNKNOWN',
] as const satisfies PixPhase[];

/**
 * The phases in which an event that says failed settles a send. PAYING is not among them: a
 * process may still send, and that attempt would be executed although the send has failed. A send
 * that was repeated after an attempt with an unknown end is settled by no such event: it may tell
 * of that attempt alone, however late it comes.
 */
export const phasesOpenToFailure = ['ACCEPTED', 'UNKNOWN'] as const satisfies PixPhase[];

/** What the timeline's row of a repeated attempt notes of the attempt before it. */
export const repeatNotes = { unknown: 'after_unknown', notSent: 'after_not_sent' } as const;

/** What `Pix-Outcome` says of a stored send: what was decided, or honestly `unknown`. */
export function outcomeOf(transaction: { readonly outcome: PixOutcome | null }): PixOutcome {
  return transaction.outcome ?? 'unknown';
}

/** The statement's `type` of an operation. */
export function typeOf(operation: PixOperation): PixTransactionType {
  return `PIX_${operation}`;
}

/**
 * The provider's status words, as providers of this family write them. A word that is not here
 * moves nothing: no default decides about money. Numbers are not here, because providers give them
 * different meanings.
 */
const statusWords: Readonly<Record<string, PixStatus>> = {
  PROCESSING: 'PROCESSING',
  PENDING: 'PROCESSING',
  CREATED: 'PROCESSING',
  INITIATED: 'PROCESSING',
  APPROVED: 'PROCESSING',
  CONFIRMED: 'COMPLETED',
  COMPLETED: 'COMPLETED',
  SUCCESS: 'COMPLETED',
  SETTLED: 'COMPLETED',
  PAID: 'COMPLETED',
  ERROR: 'FAILED',
  FAILED: 'FAILED',
  REJECTED: 'FAILED',
  CANCELLED: 'FAILED',
};

/** Longer than any word for a status, with blanks around it. */
const MAX_STATUS_LENGTH = 128;

/**
 * Reads a provider's status word.
 * @returns the status, or null for a word that is not known, and for a number.
 */
export function readStatusWord(word: unknown): PixStatus | null {
  if (typeof word !== 'string' || word.length > MAX_STATUS_LENGTH) return null;
  const name = word.trim().toUpperCase();
  return Object.hasOwn(statusWords, name) ? (statusWords[name] ?? null) : null;
}
