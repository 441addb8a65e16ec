/** A change of a user that ends the banking session, such as a new password. */
import type { LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';
import type { SecurityEventKind } from '../domain/security-event.ts';
import { recordSecurityEvent } from '../auth/security-events.ts';
import { recordAction } from './operator-actions.ts';

/** Parameters: user id, now. */
const endSessions: Statement = {
  name: 'ops-user-end-sessions',
  text: `
    update banking_sessions set status = 'ENDED', sealed_token = null, ended_at = $2
     where user_id = $1 and status = 'ACTIVE' returning id`,
};

export interface UserChange {
  readonly kind: SecurityEventKind;
  readonly email: string;
  readonly operator: string;
  readonly command: string;
  /** Updates the user whose id is its first parameter, and returns the rows that it changed. */
  readonly statement: Statement;
  readonly parameters: readonly [userId: number, ...unknown[]];
}

/**
 * Changes a user and ends the banking session in one commit. The session is ended by a statement of
 * its own: the change may wait for a login that holds the user's row, and a statement does not see
 * a session that was opened while it waited.
 * @returns whether a session was active, or null when nothing was changed.
 */
export async function changeUser(
  context: LocalContext,
  { statement, parameters, kind, email, ...action }: UserChange,
): Promise<{ readonly endedSession: boolean } | null> {
  const [userId] = parameters;
  return recordAction(context, action, async (transaction) => {
    const { db, clock } = transaction;
    const changed = await db.query(statement, parameters);
    if (changed.length === 0) return { result: null, targets: [], outcome: 'nothing' };
    const ended = await db.query(endSessions, [userId, clock.now()]);
    await recordSecurityEvent(transaction, { kind, userId, email, clientAddress: null });
    const outcome = ended.length > 0 ? 'done, session ended' : 'done';
    return { result: { endedSession: ended.length > 0 }, targets: [`user:${userId}`], outcome };
  });
}
