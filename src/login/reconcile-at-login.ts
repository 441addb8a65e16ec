import { providerSession, type StoredSession } from '../auth/banking-sessions.ts';
import { readSealedToken } from '../auth/session-repository.ts';
import type { Context } from '../context/context.ts';
import { findOwedReading } from '../ledger/pause-repository.ts';
import type { CallOptions } from '../provider/provider.ts';

/**
 * Reads the statement of a user who logs in, if it must be read before the next order. The login
 * does not fail with it: the order reads it again.
 */
export async function reconcileAtLogin(
  context: Context,
  { userId, sessionId }: Pick<StoredSession, 'userId' | 'sessionId'>,
  options: CallOptions,
): Promise<void> {
  try {
    if (!(await findOwedReading(context, userId))) return;
    const sealedToken = await readSealedToken(context, sessionId);
    if (!sealedToken) return;
    const session = providerSession(context, { userId, sessionId, sealedToken });
    await context.reconcile(session, options);
  } catch (error) {
    context.log.warn({ error, userId }, 'a statement could not be read after a loss of commits');
  }
}
