/**
 * The lane of a device that shows its last access token: its logins do not wait for others, even
 * while somebody guesses at the same e-mail or address. An expired token is enough, because its
 * signature proves that the device has logged in before.
 */
import type { Context } from '../context/context.ts';
import { AppError } from '../errors.ts';
import { identifiesDevice } from './session-repository.ts';
import { countAttempt, minuteMs } from './throttle.ts';
import type { LoginUser } from './user-repository.ts';

/** A stolen token makes no more guesses than a network does. */
const limits = [
  { scope: 'login-device', limit: 5, windowMs: minuteMs },
  { scope: 'login-device-hour', limit: 50, windowMs: 60 * minuteMs },
] as const;

/**
 * Takes a place in the lane of a device.
 * @param user null for an unknown e-mail.
 * @param bearer the token that the device shows, unverified; null: none.
 * @returns false when the token is not one of this user, its session was ended by a logout or a
 *   reset, or its places are used up: the login is then one without a token.
 */
export async function enterDeviceLane(
  context: Context,
  user: LoginUser | null,
  bearer: string | null,
): Promise<boolean> {
  if (bearer === null) return false;
  const token = await context.accessTokens.identify(bearer);
  if (!token || token.userId !== user?.id || !(await identifiesDevice(context, token)))
    return false;
  try {
    const { tokenId: subject } = token;
    const [minute, hour] = limits;
    await countAttempt(context, [
      { ...minute, subject },
      { ...hour, subject },
    ]);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'THROTTLED') return false;
    throw error;
  }
}
