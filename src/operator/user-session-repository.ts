/** Finds the banking session by which an operator's command reads the statement of a user. */
import type { StoredSession } from '../auth/banking-sessions.ts';
import { isActiveSession } from '../auth/session-repository.ts';
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';

const findSession = statement({
  name: 'ops-user-session',
  parameters: { userId: 'int', now: 'timestamptz' },
  text: ({ userId, now }) => sql<StoredSession>`
    select s.user_id as "userId", s.id as "sessionId", s.sealed_token as "sealedToken"
      from banking_sessions s
     where s.user_id = ${userId} and ${isActiveSession('s', now)}`,
});

/** @returns the active banking session of a user, or null. */
export async function findUserSession(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  userId: number,
): Promise<StoredSession | null> {
  const [session] = await db.query(findSession, { userId, now: clock.now() });
  return session ?? null;
}
