/** `session list`: the banking sessions that are active. */
import { listActiveSessions, type ListedSession } from '../auth/session-repository.ts';
import { findUser } from './find-user.ts';
import type { Op } from './op.ts';

export interface SessionListInput {
  /** An id or an e-mail. */
  readonly user?: string;
  readonly limit: number;
}

/** A session; times are ISO 8601 texts. The provider's token is not among it. */
export interface SessionView {
  readonly id: string;
  readonly userId: number;
  readonly email: string;
  /** The first login. */
  readonly since: string;
  /** The last login. */
  readonly renewedAt: string;
  /** When the provider's token ends; null where the provider does not say so. */
  readonly tokenExpiresAt: string | null;
  /** The provider's token has ended: the app is asked to log in again. */
  readonly expired: boolean;
}

/**
 * Gives active sessions, the last login first.
 * @throws OpError when there is no such user.
 */
export const listSessions: Op<SessionListInput, { readonly sessions: readonly SessionView[] }> = {
  async run(context, { user, limit }) {
    const userId = user === undefined ? null : (await findUser(context, user)).id;
    const sessions = await listActiveSessions(context, { userId, limit });
    const now = context.clock.now();
    return { sessions: sessions.map((session) => viewOf(session, now)) };
  },
};

function viewOf(session: ListedSession, now: Date): SessionView {
  const { createdAt, renewedAt, tokenExpiresAt, ...ids } = session;
  return {
    ...ids,
    since: createdAt.toISOString(),
    renewedAt: renewedAt.toISOString(),
    tokenExpiresAt: tokenExpiresAt?.toISOString() ?? null,
    expired: tokenExpiresAt !== null && tokenExpiresAt <= now,
  };
}
