/**
 * The look-up budget of a user. The directory allows a payer 100 look-ups, returns two each minute,
 * and charges twenty for a key that does not exist (BCB, DICT API, anti-scan policy). A user who
 * guesses keys is refused here, before the directory also refuses the look-ups of payments.
 */
import { countAttempt, minuteMs, refuseWhenUsedUp, type Throttle } from '../auth/throttle.ts';
import type { LocalContext } from '../context/context.ts';
import { AppError } from '../errors.ts';

/** The time in which the directory returns all look-ups. */
const budgetMs = 50 * minuteMs;
const lookUps = 100;
const costOfMissingKey = 20;

/** How long a missing key is not looked up again for the same user. */
const missingForMs = 5 * minuteMs;

/**
 * Counts a look-up.
 * @throws AppError THROTTLED when the user has no look-ups left, and PIX_KEY_NOT_FOUND when the key
 *   was not found a short time ago.
 */
export async function countLookUp(
  context: LocalContext,
  userId: number,
  key: string,
): Promise<void> {
  const isKnownMissing = await isThrottled(refuseWhenUsedUp(context, [missing(userId, key)]));
  if (isKnownMissing) throw new AppError('PIX_KEY_NOT_FOUND');
  await countAttempt(context, [budget(userId)]);
}

/**
 * Counts the look-up of a dynamic code, for which the provider looks its key up.
 * @returns false when the user has no look-ups left.
 */
export async function countCodeLookUp(context: LocalContext, userId: number): Promise<boolean> {
  return !(await isThrottled(countAttempt(context, [budget(userId)])));
}

/** Remembers that a key does not exist, and counts the cost of its look-up. */
export async function countMissingKey(
  context: LocalContext,
  userId: number,
  key: string,
): Promise<void> {
  const cost = { ...budget(userId), weight: costOfMissingKey - 1 };
  // The next look-up is refused.
  await isThrottled(countAttempt(context, [missing(userId, key), cost]));
}

function budget(userId: number): Throttle {
  return { scope: 'pix-look-up', subject: String(userId), limit: lookUps, windowMs: budgetMs };
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
