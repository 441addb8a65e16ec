/** A password that a logged-in user states again, because a token alone may be a stolen one. */
import type { LocalContext } from '../context/context.ts';
import type { Principal } from '../domain/principal.ts';
import { AppError, type Text } from '../errors.ts';
import { verifyInTurn } from './login-pace.ts';
import { noteSecurityEvent } from './security-event-repository.ts';
import { findLoginUser, lockPassword } from './user-repository.ts';

interface StatedPassword {
  readonly principal: Principal;
  readonly password: string;
  readonly clientAddress: string;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** A user with the hash that the password was verified against. */
export interface ConfirmedUser {
  readonly id: number;
  readonly passwordHash: string;
}

const wrongPassword: Text = { en: 'The password is wrong.', pt: 'A senha está incorreta.' };

/**
 * Verifies the password of a logged-in user, under the limits and at the pace of a login.
 * @throws AppError VALIDATION_FAILED naming `password`, THROTTLED, BUSY, and UNAUTHENTICATED when
 *   the user is no longer active.
 */
export async function confirmPassword(
  context: LocalContext,
  { principal, password, clientAddress, signal }: StatedPassword,
): Promise<ConfirmedUser> {
  const email = principal.user.email.toLowerCase();
  const user = await findLoginUser(context, email, clientAddress);
  if (user?.id !== principal.user.id) throw new AppError('UNAUTHENTICATED');
  // The token may be a stolen one: it opens no lane here.
  const attempt = { email, clientAddress, user, isDevice: false, signal };
  if (await verifyInTurn(context, attempt, password)) return user;
  const { id: userId } = user;
  await noteSecurityEvent(context, { kind: 'password_refused', userId, email, clientAddress });
  throw refusal();
}

/**
 * Keeps the password of a user from being changed until the transaction ends.
 * @throws AppError VALIDATION_FAILED when it was changed since it was confirmed.
 */
export async function keepPassword(transaction: LocalContext, user: ConfirmedUser): Promise<void> {
  if (!(await lockPassword(transaction, user))) throw refusal();
}

function refusal(): AppError {
  return new AppError('VALIDATION_FAILED', { fields: { password: [wrongPassword] } });
}
