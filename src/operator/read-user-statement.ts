/** Reads the statement of a user for an operator's command, or says why it cannot be read. */
import { providerSession, type StoredSession } from '../auth/banking-sessions.ts';
import type { LocalContext } from '../context/context.ts';
import { calendarDay } from '../domain/calendar.ts';
import { ProviderError } from '../provider/errors.ts';
import type { Provider } from '../provider/provider.ts';
import { SealError } from '../security/sealing.ts';
import { readWholeStatement } from '../settlement/read-statement.ts';
import type { ReadStatement } from '../settlement/statement-movements.ts';

const reasons = {
  NO_SESSION: 'the user has no active session',
  NO_PROVIDER: 'only the service reaches the simulated bank',
  NOT_WHOLE: 'the provider did not give all of it, or a login has named another account since',
  TOKEN_REFUSED: 'the provider has refused the token of the user',
  TOKEN_SEALED: 'the token of the user cannot be opened: its ENCRYPTION_KEY is not configured',
} as const;

export type Unread = keyof typeof reasons;

/** @returns why a statement was not read, as a sentence. */
export function unreadSentence(unread: Unread): string {
  return `the statement was not read: ${reasons[unread]}`;
}

export interface UserStatement {
  /** Null: the user has no active session. */
  readonly session: StoredSession | null;
  /** Null: only the service reaches the simulated bank. */
  readonly provider: Provider | null;
  /** The days are those of `readWholeStatement`. */
  readonly first: Date;
  readonly last: Date;
}

/** @returns the whole statement of some days, or why it cannot be read. */
export async function readUserStatement(
  context: LocalContext,
  { session: stored, provider, first, last }: UserStatement,
): Promise<ReadStatement | Unread> {
  if (stored === null) return 'NO_SESSION';
  if (provider === null) return 'NO_PROVIDER';
  const options = { isBackground: true, signal: context.stopping };
  try {
    const session = providerSession(context, stored);
    const [from, to] = [calendarDay(first), calendarDay(last)];
    const days = { session, first: from, last: to, since: first, options };
    return (await readWholeStatement({ ...context, provider }, days)) ?? 'NOT_WHOLE';
  } catch (error) {
    if (error instanceof SealError) return 'TOKEN_SEALED';
    if (!(error instanceof ProviderError)) throw error;
    return 'TOKEN_REFUSED';
  }
}
