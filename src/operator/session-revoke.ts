/** `session revoke`: somebody is logged out, everywhere and at once. */
import type { LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';
import { isUuid } from '../domain/uuid.ts';
import { recordSecurityEvent } from '../auth/security-events.ts';
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

interface EndedSession extends SessionRevoked {
  readonly email: string;
}

/** What a statement that ends a session returns. */
const endedSession = `id, user_id as "userId",
  (select email from users where users.id = user_id) as email`;

const endById: Statement = {
  name: 'ops-session-end',
  text: `
    update banking_sessions set status = 'ENDED', sealed_token = null, ended_at = $2
     where id = $1 and status = 'ACTIVE' returning ${endedSession}`,
};

const endOfUser: Statement = {
  name: 'ops-session-end-of-user',
  text: `
    update banking_sessions set status = 'ENDED', sealed_token = null, ended_at = $2
     where user_id = $1 and status = 'ACTIVE' returning ${endedSession}`,
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

async function end(
  context: LocalContext,
  operator: string,
  { statement, id }: { readonly statement: Statement; readonly id: string | number },
): Promise<SessionRevoked | undefined> {
  return recordAction(context, { operator, command: 'session revoke' }, async (transaction) => {
    const { db, clock } = transaction;
    const [ended] = await db.query<EndedSession>(statement, [id, clock.now()]);
    if (!ended) return { result: undefined, targets: [], outcome: 'nothing' };
    const { email, ...revoked } = ended;
    const { userId } = revoked;
    const event = { kind: 'session_revoked', userId, email, clientAddress: null } as const;
    await recordSecurityEvent(transaction, event);
    return { result: revoked, targets: [`session:${ended.id}`], outcome: 'ended' };
  });
}
