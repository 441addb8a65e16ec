/** `session revoke`: somebody is logged out, everywhere and at once. */
import { isUuid } from '../domain/uuid.ts';
import { recordSecurityEvent } from '../auth/security-events.ts';
import { endActiveSession } from '../auth/session-repository.ts';
import { findUser } from './find-user.ts';
import { OpError, type Op } from './op.ts';
import { recordUnitOfWork } from './operator-action-repository.ts';

export interface SessionRevokeInput {
  /** The id of a session, or the id or e-mail of a user. */
  readonly of: string;
}

export interface SessionRevoked {
  readonly id: string;
  readonly userId: number;
}

/**
 * Ends a session and destroys the provider's token: every access token that names it is refused.
 * @throws OpError when there is no such session or user, or no session is active.
 */
export const revokeSession: Op<SessionRevokeInput, SessionRevoked> = {
  async run(context, { of }, { operator }) {
    const isSession = isUuid(of);
    const which = isSession ? { id: of } : { user: (await findUser(context, of)).id };
    const action = { operator, command: 'session revoke' };
    const ended = await recordUnitOfWork(context, action, async (unit) => {
      const session = await endActiveSession(unit, which);
      if (!session) return { result: null, targets: [], outcome: 'nothing' };
      const { id, userId, email } = session;
      const event = { kind: 'session_revoked', userId, email, clientAddress: null } as const;
      await recordSecurityEvent(unit, event);
      return { result: { id, userId }, targets: [`session:${id}`], outcome: 'ended' };
    });
    if (ended) return ended;
    const what = isSession ? `there is no active session ${of}` : `user ${of} is not logged in`;
    throw new OpError('NOT_FOUND', what);
  },
};
