/** A change of a user that ends the banking session, such as a new password. */
import type { LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';
import { queryIn } from '../db/query-in.ts';

/** Parameters: user id, now. */
const endSessions: Statement = {
  name: 'ops-user-end-sessions',
  text: `
    update banking_sessions set status = 'ENDED', sealed_token = null, ended_at = $2
     where user_id = $1 and status = 'ACTIVE' returning id`,
};

/**
 * Changes a user and ends the banking session in one commit. The session is ended by a statement of
 * its own: the change may wait for a login that holds the user's row, and a statement does not see
 * a session that was opened while it waited.
 * @param change updates the user whose id is its first parameter, and answers the rows it changed.
 * @returns whether a session was active, or null when nothing was changed.
 */
export async function changeUser(
  context: LocalContext,
  change: Statement,
  parameters: readonly [userId: number, ...unknown[]],
): Promise<{ readonly endedSession: boolean } | null> {
  const [userId] = parameters;
  const em = await context.db.em();
  return em.transactional(async (transaction) => {
    const changed = await queryIn(transaction, change, parameters);
    if (changed.length === 0) return null;
    const ended = await queryIn(transaction, endSessions, [userId, context.clock.now()]);
    return { endedSession: ended.length > 0 };
  });
}
