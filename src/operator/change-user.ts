/** A change of a user that ends the banking session, such as a new password. */
import type { LocalContext } from '../context.ts';
import type { SecurityEventKind } from '../domain/security-event.ts';
import { recordSecurityEvent } from '../auth/security-events.ts';
import { endActiveSession } from '../auth/session-repository.ts';
import { recordUnitOfWork } from './operator-action-repository.ts';

export interface UserChange {
  readonly kind: SecurityEventKind;
  readonly user: { readonly id: number; readonly email: string };
  readonly operator: string;
  readonly command: string;
  /** Changes the user in the unit of work, and returns whether it did. */
  readonly change: (unit: LocalContext) => Promise<boolean>;
}

/**
 * Changes a user and ends the banking session in one commit. The session is looked up after the
 * change, which may wait for a login that holds the user's row: that login has opened a session.
 * @returns whether a session was active, or null when nothing was changed.
 */
export async function changeUser(
  context: LocalContext,
  { change, kind, user: { id: userId, email }, ...action }: UserChange,
): Promise<{ readonly endedSession: boolean } | null> {
  return recordUnitOfWork(context, action, async (unit) => {
    if (!(await change(unit))) return { result: null, targets: [], outcome: 'nothing' };
    const endedSession = (await endActiveSession(unit, { user: userId })) !== null;
    await recordSecurityEvent(unit, { kind, userId, email, clientAddress: null });
    const outcome = endedSession ? 'done, session ended' : 'done';
    return { result: { endedSession }, targets: [`user:${userId}`], outcome };
  });
}
