/** The claim of a send together with its look-up, which is taken from the bucket of the user. */
import type { Context } from '../context/context.ts';
import type { VerifiedToken } from '../process/access-tokens.ts';
import type { CallOptions } from '../provider/provider.ts';
import { claimCheckedOrder } from './claim-checked-order.ts';
import { countSendLookUp, uncountSendLookUp } from './directory-budget.ts';
import type { RequestedClaim, ReservedOrder } from './idempotency.ts';

interface LookedUpClaim<Reserved extends ReservedOrder> {
  readonly claim: RequestedClaim<Reserved> & { readonly options: CallOptions };
  /** The key of the payee. */
  readonly pixKey: string;
  /** Whether a fresh look-up, which the payer has confirmed, says who is paid. */
  readonly isFresh: boolean;
}

/**
 * Takes the look-up of a send, unless the payer has confirmed a fresh one, and claims its key. What
 * is not claimed gives the look-up back. Throws as `claimCheckedOrder` does.
 * @throws AppError THROTTLED when too few look-ups are left; nothing is stored.
 */
export async function claimLookedUpSend<Reserved extends ReservedOrder>(
  context: Context,
  token: VerifiedToken,
  { claim, pixKey, isFresh }: LookedUpClaim<Reserved>,
) {
  const { idempotencyKey } = claim.order;
  const send = { idempotencyKey, pixKey };
  const isTaken = !isFresh && (await countSendLookUp(context, token, send));
  const giveBack = async (): Promise<void> => {
    if (isTaken) await uncountSendLookUp(context, token.userId);
  };
  try {
    const claimed = await claimCheckedOrder(context, token, claim);
    if (claimed.result === 'claimed') {
      const tookLookUp = isFresh || isTaken;
      return { ...claimed, transaction: { ...claimed.transaction, tookLookUp } };
    }
    await giveBack();
    return claimed;
  } catch (error) {
    await giveBack();
    throw error;
  }
}
