/**
 * The look-ups of a user: of keys, of codes and of sends, in one bucket. The directory allows a
 * payer 100 look-ups, returns two each minute, charges twenty for a key that does not exist, and
 * returns the look-up of a payment that is made (BCB, DICT API, anti-scan policy). A user who
 * guesses keys is refused here, before the directory also refuses the look-ups of payments.
 */
import { countAttempt, minuteMs, refuseWhenUsedUp, type Throttle } from '../auth/throttle.ts';
import type { Context, LocalContext } from '../context/context.ts';
import { AppError, type RefusedOrder } from '../errors.ts';
import {
  giveLookUpBack,
  takeLookUp,
  takeLookUpOfSend,
  takeMissing,
  type LookedUpSend,
} from '../auth/look-up-bucket-repository.ts';
import type { VerifiedToken } from '../process/access-tokens.ts';

const costOfMissingKey = 20;

/** How long a missing key is not looked up again for the same user. */
const missingForMs = 5 * minuteMs;

/**
 * Takes a look-up.
 * @throws AppError THROTTLED when the user has ten look-ups left, and PIX_KEY_NOT_FOUND when the
 *   key was not found a short time ago.
 */
export async function countLookUp(
  context: LocalContext,
  userId: number,
  key: string,
): Promise<void> {
  const isKnownMissing = await isThrottled(refuseWhenUsedUp(context, [missing(userId, key)]));
  if (isKnownMissing) throw new AppError('PIX_KEY_NOT_FOUND');
  refuseWait((await takeLookUp(context, userId)).waitMs);
}

/**
 * Takes the look-up of a dynamic code, for which the provider looks its key up.
 * @returns false when the user has ten look-ups left.
 */
export async function countCodeLookUp(context: LocalContext, userId: number): Promise<boolean> {
  return (await takeLookUp(context, userId)).waitMs === 0;
}

/**
 * Takes the look-up of a send, after its key was read and before it is claimed. A payee whom the
 * user has paid before is never refused, and is not counted.
 * @returns whether it was taken: then an accepted payment gives it back.
 * @throws AppError THROTTLED when the user has ten look-ups left.
 */
export async function countSendLookUp(
  context: Context,
  token: VerifiedToken,
  send: LookedUpSend,
): Promise<boolean> {
  const { claimedKeys, paidKeys } = context;
  const { idempotencyKey, pixKey } = send;
  // This process has stored an order under the key: the send looks nobody else up.
  if (claimedKeys.seenAt(token.userId, { operation: 'SEND', idempotencyKey })) return false;
  if (paidKeys.has(token.userId, pixKey)) return false;
  const { isTaken, isKnown, waitMs } = await takeLookUpOfSend(context, token, send);
  if (isKnown) paidKeys.add(token.userId, pixKey);
  refuseWait(waitMs, { outcome: 'unknown' });
  return isTaken;
}

/** Gives back the look-up of a send that was not claimed. */
export async function uncountSendLookUp(context: LocalContext, userId: number): Promise<void> {
  await giveLookUpBack(context, userId);
}

/**
 * Remembers that a key does not exist, and counts the cost of its look-up.
 * @param isTaken whether the look-up itself was taken before.
 */
export async function countMissingKey(
  context: LocalContext,
  userId: number,
  { key, isTaken }: { readonly key: string; readonly isTaken: boolean },
): Promise<void> {
  await isThrottled(countAttempt(context, [missing(userId, key)]));
  await takeMissing(context, userId, costOfMissingKey - (isTaken ? 1 : 0));
}

/** @throws AppError THROTTLED */
function refuseWait(waitMs: number, order?: RefusedOrder): void {
  if (waitMs === 0) return;
  const headers = { 'Retry-After': String(Math.ceil(waitMs / 1_000)) };
  throw new AppError('THROTTLED', { headers, ...(order && { order }) });
}

function missing(userId: number, key: string): Throttle {
  const subject = `${userId}:${key}`;
  return { scope: 'pix-key-missing', subject, limit: 1, windowMs: missingForMs };
}

async function isThrottled(counted: Promise<unknown>): Promise<boolean> {
  try {
    await counted;
    return false;
  } catch (error) {
    if (error instanceof AppError && error.code === 'THROTTLED') return true;
    throw error;
  }
}
