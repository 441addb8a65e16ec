/** `session list` and `session revoke`: the active banking sessions. */
import { recordSecurityEvent } from '../auth/security-event-repository.ts';
import {
  endActiveSession,
  listActiveSessions,
  type ListedSession,
} from '../auth/session-repository.ts';
import { isUuid } from '../domain/text.ts';
import { type Op, OpError } from './op.ts';
import { recordAction, recordReading } from './operator-action-repository.ts';
import { findUser } from './users.ts';

export interface SessionListInput {
  /** An id or an e-mail. */
  readonly user?: string;
  readonly limit: number;
}

/** A session without the provider's token; times are ISO 8601 texts. */
export interface SessionView {
  readonly id: string;
  readonly userId: number;
  readonly email: string;
  /** The first login. */
  readonly since: string;
  /** The last login. */
  readonly renewedAt: string;
  /** When the provider's token expires; null when the provider does not report it. */
  readonly tokenExpiresAt: string | null;
  /** Whether the provider's token has expired: the app must log in again. */
  readonly expired: boolean;
}

/**
 * Lists active sessions, the last login first.
 * @throws OpError when there is no such user.
 */
export const listSessions: Op<SessionListInput, { readonly sessions: readonly SessionView[] }> = {
  async run(context, { user, limit }, { operator, reason }) {
    const which = user === undefined ? {} : { user: (await findUser(context, user)).id };
    const target = which.user === undefined ? 'users' : `user:${which.user}`;
    await recordReading(context, { operator, reason, command: 'session list' }, [target]);
    const sessions = await listActiveSessions(context, { ...which, limit });
    const now = context.clock.now();
    return { sessions: sessions.map((session) => toSessionView(session, now)) };
  },
};

function toSessionView(session: ListedSession, now: Date): SessionView {
  const { createdAt, renewedAt, tokenExpiresAt, ...ids } = session;
  return {
    ...ids,
    since: createdAt.toISOString(),
    renewedAt: renewedAt.toISOString(),
    tokenExpiresAt: tokenExpiresAt?.toISOString() ?? null,
    expired: tokenExpiresAt !== null && tokenExpiresAt <= now,
  };
}

interface SessionRevokeInput {
  /** The id of a session, or the id or e-mail of a user. */
  readonly of: string;
  /** Only checks whether there is such a session, before the operator confirms. */
  readonly onlyCheck?: boolean;
}

interface SessionRevoked {
  readonly id: string;
  readonly userId: number;
}

/**
 * Ends a session and destroys the provider's token: every access token that names it is refused.
 * @throws OpError when there is no such session or user, or no session is active.
 */
export const revokeSession: Op<SessionRevokeInput, SessionRevoked> = {
  async run(context, { of, onlyCheck = false }, { operator, reason }) {
    const isSession = isUuid(of);
    const which = isSession ? { id: of } : { user: (await findUser(context, of)).id };
    const none = isSession ? `there is no active session ${of}` : `user ${of} is not logged in`;
    if (onlyCheck) {
      const [active] = await listActiveSessions(context, { ...which, limit: 1 });
      if (!active) throw new OpError('NOT_FOUND', none);
      return { id: active.id, userId: active.userId };
    }
    const action = { operator, reason, command: 'session revoke' };
    const ended = await recordAction(context, action, async (unit) => {
      const session = await endActiveSession(unit, which);
      if (!session) return { result: null, targets: [], outcome: 'nothing' };
      const { id, userId, email } = session;
      const event = { kind: 'session_revoked', userId, email, clientAddress: null } as const;
      await recordSecurityEvent(unit, event);
      return { result: { id, userId }, targets: [`session:${id}`], outcome: 'ended' };
    });
    if (ended) return ended;
    throw new OpError('NOT_FOUND', none);
  },
};
