/** Sends that are not paid after all, because the payment was refused before it was sent. */
import { toAppError } from '../auth/provider-failure.ts';
import type { Context } from '../context/context.ts';
import { isConstraintViolation } from '../db/unavailable.ts';
import { AppError, type FieldErrors, type RefusedOrder, type Text } from '../errors.ts';
import { ProviderError } from '../provider/errors.ts';
import { unsureRefusal } from './block-refusals.ts';
import type { ConfirmedLookUp } from './confirmed-payee.ts';
import { endUnsent, moveTransaction, type TimelineEntry } from '../ledger/move-repository.ts';
import { hasNeverLeft, type PayingStep } from '../ledger/payment-repository.ts';
import type { PixTransaction } from '../ledger/pix-transaction-repository.ts';
import type { OrderRefusal } from './rule-refusal.ts';
import { keepUnfailed, releaseClaim } from './release-claim.ts';
import { scheduleUnsentFailure } from './unstarted-order.ts';

/** A send whose key this request has claimed. */
export interface ClaimedSend {
  readonly transaction: PixTransaction;
  /** The look-up that the payer has confirmed; null: the key is looked up. */
  readonly confirmed: ConfirmedLookUp | null;
}

/**
 * Fails a send whose look-up failed: no money has moved. When the provider has ended the banking
 * session, the send stays in RESERVED without a claim: the same request goes on after a login, and
 * otherwise the sweep fails it.
 * @returns null when another process has moved the transaction.
 * @throws AppError the refusal.
 */
export async function failLookUp(
  context: Context,
  send: ClaimedSend,
  failure: ProviderError,
): Promise<null> {
  if (failure.code !== 'TOKEN_REFUSED') {
    return failUnpayable(context, send, failedLookUp(failure));
  }
  await releaseClaim(context, send.transaction);
  // Another process may have taken the send over by now.
  throw toAppError(failure, { outcome: 'unknown' });
}

/**
 * Fails a send whose key may have another owner than the payer has confirmed. Returns and throws as
 * `failLookUp` does.
 */
export function failChangedPayee(context: Context, send: ClaimedSend): Promise<null> {
  return failUnpayable(context, send, {
    failureCode: 'PAYEE_CHANGED',
    entry: { note: 'payee_changed' },
    refuse: (order) => invalidLookUp(otherOwner, order),
  });
}

/**
 * Fails a send whose payee may not get its amount: the claim did not know who is paid. Returns and
 * throws as `failLookUp` does.
 */
export function failOverLimit(
  context: Context,
  send: Pick<ClaimedSend, 'transaction'>,
  { error, failureCode }: OrderRefusal,
): Promise<null> {
  const { code, fields = {} } = error;
  return failUnpayable(context, send, {
    failureCode: failureCode ?? code,
    entry: { note: 'limit_exceeded' },
    refuse: (order) => new AppError(code, { fields, order }),
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
    refuse: (order) => new AppError('VALIDATION_FAILED', { fields, order }),
  });
}

/**
 * Whether the look-up of a send that could not begin is that of a payment that never left: the
 * customer's confirmation is not spent, and a new look-up has an end-to-end id of its own.
 */
export async function isUnspent(
  context: Context,
  { confirmed }: ClaimedSend,
  { step, error }: { readonly step: PayingStep; readonly error: unknown },
): Promise<boolean> {
  const isUsed = isConstraintViolation(error) && confirmed?.endToEnd === step.endToEnd;
  return isUsed && hasNeverLeft(context, step.endToEnd);
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
  { step, error }: { readonly step: PayingStep; readonly error: unknown },
): Promise<null> {
  if (!isConstraintViolation(error)) {
    scheduleUnsentFailure(context, send.transaction, step);
    throw error;
  }
  const failed = failedLookUp(usedEndToEnd(error));
  // Another payment has the end-to-end id: of the confirmed look-up, or one that is not new.
  const isConfirmed = send.confirmed?.endToEnd === step.endToEnd;
  return failUnpayable(context, send, {
    ...failed,
    ...(isConfirmed && {
      failureCode: 'LOOK_UP_UNUSABLE',
      refuse: (order) => invalidLookUp(usedLookUp, order),
    }),
  });
}

/** Why a send is not paid. */
interface Unpayable {
  readonly failureCode: string;
  readonly entry: Pick<TimelineEntry, 'providerStatus' | 'attempt' | 'note'>;
  /** @returns what is thrown: an error of the catalogue, or a defect. */
  refuse(order: RefusedOrder): unknown;
}

function failedLookUp(failure: ProviderError): Unpayable {
  const { code: failureCode, statusClass: providerStatus, attempts: attempt } = failure;
  const entry = { providerStatus, attempt, note: 'look_up_failed' };
  // A 502 says that nothing was sent: it invites the app to pay with a new key.
  const refuse = (order: RefusedOrder): unknown =>
    order.doubt === undefined ? toAppError(failure, order) : unsureRefusal(false);
  return { failureCode, entry, refuse };
}

function invalidLookUp(text: Text, order: RefusedOrder): AppError {
  return new AppError('VALIDATION_FAILED', { fields: { lookup_id: [text] }, order });
}

/**
 * Fails a send before it is paid.
 * @returns null when another process has moved the transaction.
 * @throws the refusal.
 */
async function failUnpayable(
  context: Context,
  { transaction }: Pick<ClaimedSend, 'transaction'>,
  { failureCode, entry, refuse }: Unpayable,
): Promise<null> {
  const end = endUnsent(failureCode, entry);
  const failed = await moveTransaction(context, transaction.id, end);
  if (failed) throw refuse({ outcome: 'not_sent', stored: failed });
  await keepUnfailed(context, transaction, refuse);
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
