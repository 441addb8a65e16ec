/** `user reset-password`: a new local password, in the operator's hands. */
import type { Statement } from '../db/database.ts';
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

/** Parameters: user id, password hash, now. */
const setPassword: Statement = {
  name: 'ops-user-set-password',
  text: `
    with changed as (
      update users set password_hash = $2, updated_at = $3 where id = $1 returning id
    ), ended as (
      update banking_sessions set status = 'ENDED', sealed_token = null, ended_at = $3
       where user_id in (select id from changed) and status = 'ACTIVE' returning id
    )
    select (select count(*)::int from ended) as ended from changed`,
};

/**
 * Sets a password and ends the banking session: whoever knew the old one is out.
 * @throws OpError when there is no such user.
 */
export const resetPassword: Op<ResetPasswordInput, PasswordReset> = {
  async run(context, { user, password }) {
    const { id, email } = await findUser(context, user);
    const hash = await context.passwords.hash(password);
    const now = context.clock.now();
    const [changed] = await context.db.query<{ ended: number }>(setPassword, [id, hash, now]);
    if (!changed) throw new OpError('NOT_FOUND', `there is no user ${user}`);
    return { id, email, endedSession: changed.ended > 0 };
  },
};
