/** Reads the statement of some days as evidence: whole, or not at all. */
import { wasRenumbered } from '../accounts/account-repository.ts';
import type { Context } from '../context/context.ts';
import { calendarDay, checkedRange, shiftDay } from '../domain/calendar.ts';
import { ProviderError, type ProviderStatusClass } from '../provider/errors.ts';
import type {
  CallOptions,
  DayRange,
  ProviderSession,
  ProviderStatement,
} from '../provider/provider.ts';
import { readMovements, type ReadStatement } from './statement-movements.ts';

export interface StatementOfDays {
  readonly session: ProviderSession;
  /** The statement is read from the day before the first of them to the day after the last. */
  readonly first: string;
  readonly last: string;
  /** The earliest time of what is looked for; absent: only what its lines say counts. */
  readonly since?: Date;
  readonly options: CallOptions;
}

/**
 * Reads the statement of some days, the day before and the day after, as far as they have started:
 * clocks and time zones differ.
 * @returns null when a part of it cannot be read, or has a further page: an unread line may
 *   contradict the rest. Also when a login has named another account since the time of what is
 *   looked for: that account's statement does not show it.
 * @throws ProviderError when the token is refused.
 */
export async function readWholeStatement(
  context: Pick<Context, 'clock' | 'db' | 'provider'>,
  { session, first, last, since, options }: StatementOfDays,
): Promise<ReadStatement | null> {
  const readAt = context.clock.now();
  const today = calendarDay(readAt);
  const after = shiftDay(last, 1);
  const range = { start: shiftDay(first, -1), end: after < today ? after : today };
  const read = await readDays(context, session, { range, options });
  if (since && (await wasRenumbered(context, { userId: session.userId, since }))) return null;
  const { fromInclusive: from } = checkedRange(range.start, range.start, readAt);
  return read && readMovements({ ...read, readAt, from });
}

type Lines = Pick<ProviderStatement, 'lines' | 'isFinal'>;

interface DaysRequest {
  readonly range: DayRange;
  readonly options: CallOptions;
}

async function readDays(
  context: Pick<Context, 'clock' | 'provider'>,
  session: ProviderSession,
  request: DaysRequest,
): Promise<Lines | null> {
  const read = await readPage(context, session, request);
  const { range, options } = request;
  if (read !== 'partial') return read;
  if (range.start === range.end) return null;
  const last = shiftDay(range.start, 1) === range.end ? range.start : shiftDay(range.start, 1);
  const first = { start: range.start, end: last };
  const before = await readDays(context, session, { range: first, options });
  if (before === null) return null;
  const second = { start: shiftDay(last, 1), end: range.end };
  const rest = await readDays(context, session, { range: second, options });
  return (
    rest && {
      lines: [...before.lines, ...rest.lines],
      isFinal: before.isFinal && rest.isFinal,
    }
  );
}

/**
 * A refusal, or a response that is too large, may be due to the number of days: fewer may succeed.
 */
const mayBeTooLong: ReadonlySet<ProviderStatusClass> = new Set(['4xx', '404', 'invalid']);

/** @returns `partial` when fewer days may be readable; null when no other request would help. */
async function readPage(
  context: Pick<Context, 'clock' | 'provider'>,
  session: ProviderSession,
  { range, options }: DaysRequest,
): Promise<Lines | 'partial' | null> {
  try {
    const statement = await context.provider.statement({ session, ...range, ...options });
    return statement.isWhole ? statement : 'partial';
  } catch (error) {
    if (!(error instanceof ProviderError) || error.code === 'TOKEN_REFUSED') throw error;
    return mayBeTooLong.has(error.statusClass) ? 'partial' : null;
  }
}
