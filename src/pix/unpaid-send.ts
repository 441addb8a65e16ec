/**
 * Sends that this process does not pay after all: the payment was refused before it was sent, or
 * another process has the send, or the step to PAYING was not confirmed.
 */
import { findAccountStatus } from '../accounts/account-repository.ts';
import { inactiveAccount } from '../accounts/payer-account.ts';
import { toAppError } from '../auth/provider-failure.ts';
import type { Context } from '../context/context.ts';
import { isConstraintViolation } from '../db/unavailable.ts';
import { isBeforePaying, notSentNote, phasesBeforePaying, storedOutcome } from '../domain/pix.ts';
import { AppError, type FieldErrors, type Text } from '../errors.ts';
import { ProviderError } from '../provider/errors.ts';
import type { ConfirmedLookUp } from './confirmed-payee.ts';
import { pausedRefusal } from './holds.ts';
import { failForAccount } from './idempotency.ts';
import { rereadTransaction } from './lost-commits.ts';
import { moveTransaction, type Move, type TimelineEntry } from './move-repository.ts';
import { wasStartedOnlyByUs, type TimedStep } from './payment-repository.ts';
import { readStored, type PixTransaction } from './pix-transaction-repository.ts';
import { noteContradiction } from './contradicted-outcome.ts';

/** A send whose key this request has acquired. */
export interface ClaimedSend {
  readonly transaction: PixTransaction;
  /** The look-up that the payer has confirmed; null: the key is looked up. */
  readonly confirmed: ConfirmedLookUp | null;
}

/**
 * Fails a send whose look-up failed: no money has moved.
 * @returns null when another process has moved the transaction.
 * @throws AppError the refusal.
 */
export function failLookUp(
  context: Context,
  send: ClaimedSend,
  failure: ProviderError,
): Promise<null> {
  return failUnpayable(context, send, failedLookUp(failure));
}

/**
 * Fails a send whose key may have another owner than the payer has confirmed. Returns and throws as
 * `failLookUp` does.
 */
export function failChangedPayee(context: Context, send: ClaimedSend): Promise<null> {
  return failUnpayable(context, send, {
    failureCode: 'PAYEE_CHANGED',
    entry: { note: 'payee_changed' },
    refusal: invalidLookUp(otherOwner),
  });
}

/**
 * Fails a send of a dynamic code that can no longer be paid as the payer has confirmed it. Returns
 * and throws as `failLookUp` does.
 * @param fields why.
 */
export function failChangedCode(
  context: Context,
  send: ClaimedSend,
  fields: FieldErrors,
): Promise<null> {
  return failUnpayable(context, send, {
    failureCode: 'CODE_CHANGED',
    entry: { note: 'code_changed' },
    refusal: new AppError('VALIDATION_FAILED', { fields, headers: notSent }),
  });
}

/**
 * Fails a send whose step to PAYING was not confirmed. When another payment has the end-to-end id,
 * it fails now, and this returns and throws as `failLookUp` does. After any other error it fails
 * once it is known that nothing was sent.
 * @throws the error.
 */
export function failStart(
  context: Context,
  send: ClaimedSend,
  { step, error }: { readonly step: TimedStep; readonly error: unknown },
): Promise<null> {
  if (!isConstraintViolation(error)) {
    scheduleUnsentFailure(context, send.transaction, step);
    throw error;
  }
  const failed = failedLookUp(usedEndToEnd(error));
  // Another payment has the end-to-end id: of the confirmed look-up, or one that is not new.
  const isConfirmed = send.confirmed?.endToEnd === step.endToEnd;
  const refusal = isConfirmed ? invalidLookUp(usedLookUp) : failed.refusal;
  return failUnpayable(context, send, { ...failed, refusal });
}

/** Why a send is not paid. */
interface Unpayable {
  readonly failureCode: string;
  readonly entry: Pick<TimelineEntry, 'providerStatus' | 'attempt' | 'note'>;
  /** What is thrown: an error of the catalogue, or a defect. */
  readonly refusal: unknown;
}

const notSent = { 'Pix-Outcome': 'not_sent' };

function failedLookUp(failure: ProviderError): Unpayable {
  const { code: failureCode, statusClass: providerStatus, attempts: attempt } = failure;
  const entry = { providerStatus, attempt, note: 'look_up_failed' };
  return { failureCode, entry, refusal: toAppError(failure, notSent) };
}

function invalidLookUp(text: Text): AppError {
  return new AppError('VALIDATION_FAILED', { fields: { lookup_id: [text] }, headers: notSent });
}

/**
 * Fails a send before it is paid.
 * @returns null when another process has moved the transaction.
 * @throws the refusal.
 */
async function failUnpayable(
  context: Context,
  { transaction }: ClaimedSend,
  { failureCode, entry, refusal }: Unpayable,
): Promise<null> {
  const failed = await moveTransaction(context, transaction.id, {
    from: phasesBeforePaying,
    to: 'SETTLED',
    status: 'FAILED',
    outcome: 'not_sent',
    failureCode,
    timeline: [{ phase: 'SETTLED', ...entry }],
  });
  if (failed) throw refusal;
  return null;
}

const usedLookUp: Text = {
  en: 'This look-up belongs to another payment. Look the key up again, and pay with a new key.',
  pt: 'Esta consulta pertence a outro pagamento. Consulte a chave Pix de novo e faça um novo pagamento.',
};

const otherOwner: Text = {
  en: 'The payee may have changed since. Look the key up again, and pay with a new key.',
  pt: 'Quem recebe pode ter mudado. Consulte a chave Pix de novo e faça um novo pagamento.',
};

/** One end-to-end id is one transfer (BCB, Manual de Padrões do Pix), so it is not used twice. */
function usedEndToEnd(cause: unknown): ProviderError {
  return new ProviderError({
    outcome: 'rejected',
    code: 'PROVIDER_INVALID_RESPONSE',
    statusClass: 'invalid',
    cause,
  });
}

/**
 * Handles a send that this process could not take to PAYING: another process has moved it, its
 * account was blocked meanwhile, or the send was held, even if the hold has ended by now. If the
 * send is UNKNOWN under the end-to-end id of our own look-up, our statement did take it to PAYING
 * after we had stopped to wait for it, and another process has marked it UNKNOWN since: nothing was
 * sent.
 * @param step our own step to PAYING; null before it.
 * @returns the transaction as it is stored.
 * @throws AppError when the account may not pay, or the send is held.
 */
export async function resolveUnstartedSend(
  context: Context,
  { transaction }: ClaimedSend,
  step: TimedStep | null,
): Promise<PixTransaction> {
  const stored = await rereadTransaction(context, transaction).catch((error: unknown) => {
    if (step) scheduleUnsentFailure(context, transaction, step);
    throw error;
  });
  const isOwn = step !== null && stored.endToEnd === step.endToEnd;
  if (isOwn && stored.phase === 'UNKNOWN') scheduleUnsentFailure(context, transaction, step);
  if (!isBeforePaying(stored.phase)) return stored;
  const accountStatus = await findAccountStatus(context, stored.userId);
  if (accountStatus !== 'ACTIVE') {
    return (await failForAccount(context, stored, inactiveAccount(accountStatus))).transaction;
  }
  await releaseClaim(context, stored);
  throw pausedRefusal(storedOutcome(stored));
}

const release: Move = { from: ['RESERVED'], to: 'RESERVED', status: 'PROCESSING', timeline: [] };

/** Releases the claim of a send, so that the same request resumes it. */
export async function releaseClaim(context: Context, { id }: PixTransaction): Promise<void> {
  await moveTransaction(context, id, release);
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
function scheduleUnsentFailure(context: Context, send: PixTransaction, step: TimedStep): void {
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
