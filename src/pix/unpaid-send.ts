/** Sends that are not paid after all, because the payment was refused before it was sent. */
import { toAppError } from '../auth/provider-failure.ts';
import type { Context } from '../context/context.ts';
import { isConstraintViolation } from '../db/unavailable.ts';
import { phasesBeforePaying } from '../domain/pix.ts';
import { AppError, type FieldErrors, type Text } from '../errors.ts';
import { ProviderError } from '../provider/errors.ts';
import type { ConfirmedLookUp } from './confirmed-payee.ts';
import { moveTransaction, type TimelineEntry } from './move-repository.ts';
import type { TimedStep } from './payment-repository.ts';
import type { PixTransaction } from './pix-transaction-repository.ts';
import { scheduleUnsentFailure } from './unstarted-order.ts';

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
