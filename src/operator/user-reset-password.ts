/** `user reset-password`: a new local password, in the operator's hands. */
import { setPasswordHash } from '../auth/user-repository.ts';
import { changeUser } from './change-user.ts';
import { findUser } from './find-user.ts';
import { OpError, type Op } from './op.ts';

export interface ResetPasswordInput {
  /** An id or an e-mail. */
  readonly user: string;
  readonly password: string;
}

export interface PasswordReset {
  readonly id: number;
  readonly email: string;
  readonly endedSession: boolean;
}

/**
 * Sets a password and ends the banking session: the old password is
 * no longer of use, also for a login that is under way.
 * @throws OpError when there is no such user.
 */
export const resetPassword: Op<ResetPasswordInput, PasswordReset> = {
  async run(context, { user, password }, { operator }) {
    const { id, email } = await findUser(context, user);
    const hash = await context.passwords.hash(password);
    const changed = await changeUser(context, {
      ...{ operator, command: 'user reset-password' },
      ...{ kind: 'password_reset', user: { id, email } },
      change: (unit) => setPasswordHash(unit, id, hash),
    });
    if (!changed) throw new OpError('NOT_FOUND', `there is no user ${user}`);
    return { id, email, ...changed };
  },
};
