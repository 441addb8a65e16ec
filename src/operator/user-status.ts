/** `user disable`, `user enable`: whether somebody may use the service. */
import type { LocalContext } from '../context.ts';
import { setUserStatus, type FoundUser, type UserStatus } from '../auth/user-repository.ts';
import { changeUser } from './change-user.ts';
import { findUser } from './find-user.ts';
import { OpError, type Op } from './op.ts';

export interface UserReference {
  /** An id or an e-mail. */
  readonly user: string;
}

export interface UserStatusSet extends FoundUser {
  /** Whether a banking session, and with it every access token, has ended. */
  readonly endedSession: boolean;
}

/** Tells who is meant, before anything is done to them. */
export const identifyUser: Op<UserReference, FoundUser> = {
  run: (context, { user }) => findUser(context, user),
};

/**
 * Shuts a user out: no login, and every access token is refused from now on.
 * @throws OpError when there is no such user, or it is disabled already.
 */
export const disableUser: Op<UserReference, UserStatusSet> = {
  run: (context, { user }, { operator }) =>
    changeStatus(context, user, { operator, command: 'user disable', status: 'DISABLED' }),
};

/**
 * Lets a user log in again.
 * @throws OpError when there is no such user, or it is not disabled.
 */
export const enableUser: Op<UserReference, UserStatusSet> = {
  run: (context, { user }, { operator }) =>
    changeStatus(context, user, { operator, command: 'user enable', status: 'ACTIVE' }),
};

interface StatusChange {
  readonly operator: string;
  readonly command: string;
  readonly status: UserStatus;
}

/**
 * Both changes end the session: one that is still active must not come alive again when its user is
 * enabled.
 */
async function changeStatus(
  context: LocalContext,
  reference: string,
  { status, ...action }: StatusChange,
): Promise<UserStatusSet> {
  const { id, email } = await findUser(context, reference);
  const changed = await changeUser(context, {
    ...action,
    ...{ kind: status === 'ACTIVE' ? 'user_enabled' : 'user_disabled', user: { id, email } },
    change: (unit) => setUserStatus(unit, id, status),
  });
  if (!changed) {
    const is = status === 'ACTIVE' ? 'is active already' : 'is disabled already';
    throw new OpError('REFUSED', `user ${id} ${is}`);
  }
  return { id, email, status, ...changed };
}
