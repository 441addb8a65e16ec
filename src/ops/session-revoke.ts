/** `session revoke`: somebody is logged out, everywhere and at once. */
import type { LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';
import { isUuid } from '../domain/uuid.ts';
import { recordSecurityEvent } from '../services/security-events.ts';
import { findUser } from './find-user.ts';
import { OpError, type Op } from './op.ts';
import { recordAction } from './operator-actions.ts';

export interface SessionRevokeInput {
  /** The id of a session, or the id or e-mail of a user. */
  readonly of: string;
}

export interface SessionRevoked {
  readonly id: string;
  readonly userId: number;
}

const endById: Statement = {
  name: 'ops-session-end',
  text: `
    update banking_sessions set status = 'ENDED', sealed_token = null, ended_at = $2
     where id = $1 and status = 'ACTIVE' returning id, user_id as "userId"`,
};

const endOfUser: Statement = {
  name: 'ops-session-end-of-user',
  text: `
    update banking_sessions set status = 'ENDED', sealed_token = null, ended_at = $2
     where user_id = $1 and status = 'ACTIVE' returning id, user_id as "userId"`,
};

/**
 * Ends a session and destroys the provider's token: every access token that names it is refused.
 * @throws OpError when there is no such session or user, or no session is active.
 */
export const revokeSession: Op<SessionRevokeInput, SessionRevoked> = {
  async run(context, { of }, { operator }) {
    const ended = isUuid(of)
      ? await end(context, operator, { statement: endById, id: of })
      : await endForUser(context, operator, of);
    if (ended) return ended;
    const whose = isUuid(of) ? `there is no active session ${of}` : `user ${of} is not logged in`;
    throw new OpError('NOT_FOUND', whose);
  },
};

async function endForUser(
  context: LocalContext,
  operator: string,
  reference: string,
): Promise<SessionRevoked | undefined> {
  const { id } = await findUser(context, reference);
  return end(context, operator, { statement: endOfUser, id });
}

/** Parameters: user id. */
const emailOf: Statement = {
  name: 'ops-session-email',
  text: `select email from users where id = $1`,
};

async function end(
  context: LocalContext,
  operator: string,
  { statement, id }: { readonly statement: Statement; readonly id: string | number },
): Promise<SessionRevoked | undefined> {
  return recordAction(context, { operator, command: 'session revoke' }, async (transaction) => {
    const { db, clock } = transaction;
    const [ended] = await db.query<SessionRevoked>(statement, [id, clock.now()]);
    if (ended) {
      const { userId } = ended;
      const [user] = await db.query<{ email: string }>(emailOf, [userId]);
      const event = { userId, email: user?.email ?? '', clientAddress: null };
      await recordSecurityEvent(transaction, { kind: 'session_revoked', ...event });
    }
    const targets = ended ? [`session:${ended.id}`] : [];
    return { result: ended, targets, outcome: 'ended' };
  });
}
