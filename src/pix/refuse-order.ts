/**
 * The refusal of an order by a rule, which depends on what is stored or on the time. It closes the
 * key, so that a repeat of the request never pays, even if it would pass the rule then.
 */
import type { Context } from '../context/context.ts';
import type { VerifiedToken } from '../process/access-tokens.ts';
import { isOrder, storedOutcome } from '../domain/pix.ts';
import { AppError, type RefusedOrder, type Text } from '../errors.ts';
import { closeKey, type StoredOrder } from './close-key.ts';
import type { UnmadeOrder } from '../ledger/closed-key-repository.ts';
import { unknownFingerprint } from '../ledger/lost-send-repository.ts';
import type { PixTransaction } from '../ledger/pix-transaction-repository.ts';
import type { OrderRefusal } from './rule-refusal.ts';

/** The order that a refused request would have made. */
export type RefusedRequest = Omit<UnmadeOrder, 'failureCode'>;

/**
 * Refuses an order, and closes its key. While commits may be lost for the user, nothing is stored,
 * and the outcome is unknown.
 * @returns the order of the same request, if one has the key already.
 * @throws AppError the refusal, and UNAUTHENTICATED when the session of the token is not active.
 */
export async function refuseOrder(
  context: Context,
  token: VerifiedToken,
  { refusal, request }: { readonly refusal: OrderRefusal; readonly request: RefusedRequest },
): Promise<PixTransaction> {
  const { error, failureCode } = refusal;
  if (failureCode === null) throw error;
  const closing = await closeKey(context, token, { ...request, failureCode });
  switch (closing.result) {
    case 'closed':
      throw aboutOrder(error, { outcome: 'not_sent', stored: closing.transaction });
    case 'unsure':
      throw aboutOrder(error, { outcome: 'unknown', doubt: 'lost_commits' });
    case 'taken':
      if (!isSameRequest(request, closing.order)) throw keyUsedElsewhere(closing.order.transaction);
      return closing.order.transaction;
  }
}

function aboutOrder({ code, text, fields = {} }: AppError, order: RefusedOrder): AppError {
  return new AppError(code, { text, fields, order });
}

/**
 * Whether a request is that of the order that has its key. Of a send that was stored again from the
 * statement, and of a return that was lost and is reported by an event, only the amount is known,
 * and of a closed key perhaps not even that.
 */
export function isSameRequest(
  { fingerprint, amountCents }: Pick<UnmadeOrder, 'fingerprint' | 'amountCents'>,
  holder: StoredOrder,
): boolean {
  if (holder.isClosed) return true;
  const stored = holder.fingerprint ?? unknownFingerprint;
  if (stored.equals(unknownFingerprint)) return holder.amountCents === amountCents;
  return stored.equals(fingerprint);
}

const usedElsewhere: Text = {
  en: 'This key belongs to another request. Check the outcome of that one first.',
  pt: 'Esta chave pertence a outra requisição. Confira antes o resultado daquela.',
};

/** The refusal of an order reports the order that has the key. */
export function keyUsedElsewhere(transaction: PixTransaction): AppError {
  return new AppError('VALIDATION_FAILED', {
    fields: { 'Idempotency-Key': [usedElsewhere] },
    ...(isOrder(transaction.operation) && {
      order: {
        outcome: storedOutcome(transaction),
        stored: transaction,
        doubt: 'other_request',
      },
    }),
  });
}
