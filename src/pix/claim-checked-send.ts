/** The claim of the key of a send, after a check of what a loss of commits may have taken. */
import type { VerifiedToken } from '../process/access-tokens.ts';
import { callerSession } from '../auth/banking-sessions.ts';
import { readFromProvider } from '../auth/provider-failure.ts';
import type { Context } from '../context/context.ts';
import type { CallOptions } from '../provider/provider.ts';
import { uncheckedRefusal } from './holds.ts';
import { claimSend, type SendClaim } from './idempotency.ts';
import type { SendReservation } from './reservation-repository.ts';
import { readStatementAfterLoss } from './statement-after-loss.ts';

interface ClaimOptions {
  readonly reservation: SendReservation;
  /** Of the calls to the provider. */
  readonly options: CallOptions;
}

/**
 * Claims the key of a send. If the payer's last commits may be lost, the statement is read first.
 * @throws AppError PIX_UNCHECKED when it cannot be read, and as `claimSend` does.
 */
export async function claimCheckedSend(
  context: Context,
  token: VerifiedToken,
  { reservation, options }: ClaimOptions,
): Promise<Exclude<SendClaim, { readonly result: 'unread' }>> {
  const first = await claimSend(context, token, reservation);
  if (first.result !== 'unread') return first;
  const session = callerSession(context, first.payer);
  const reading = readStatementAfterLoss(context, session, options);
  await readFromProvider(reading);
  // Whether or not it was read: another request may have read it, and paid with the same key.
  const second = await claimSend(context, token, reservation);
  if (second.result !== 'unread') return second;
  throw uncheckedRefusal();
}
