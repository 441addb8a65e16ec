/** `session list`: the banking sessions that are active. */
import type { Statement } from '../db/database.ts';
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

interface SessionRow {
  readonly id: string;
  readonly user_id: number;
  readonly email: string;
  readonly created_at: Date;
  readonly renewed_at: Date;
  readonly token_expires_at: Date | null;
}

/** Parameters: user id or null, limit. */
const list: Statement = {
  name: 'ops-session-list',
  text: `
    select s.id, s.user_id, u.email, s.created_at, s.renewed_at, s.token_expires_at
      from banking_sessions s join users u on u.id = s.user_id
     where s.status = 'ACTIVE' and ($1::int is null or s.user_id = $1)
     order by s.renewed_at desc, s.id limit $2`,
};

/**
 * Gives active sessions, the last login first.
 * @throws OpError when there is no such user.
 */
export const listSessions: Op<SessionListInput, { readonly sessions: readonly SessionView[] }> = {
  async run(context, { user, limit }) {
    const userId = user === undefined ? null : (await findUser(context, user)).id;
    const rows = await context.db.query<SessionRow>(list, [userId, limit]);
    const now = context.clock.now();
    return { sessions: rows.map((row) => viewOf(row, now)) };
  },
};

function viewOf(row: SessionRow, now: Date): SessionView {
  return {
    id: row.id,
    userId: row.user_id,
    email: row.email,
    since: row.created_at.toISOString(),
    renewedAt: row.renewed_at.toISOString(),
    tokenExpiresAt: row.token_expires_at?.toISOString() ?? null,
    expired: row.token_expires_at !== null && row.token_expires_at <= now,
  };
}
