import type { Context } from '../context.ts';
import { listTransactions } from '../db/queries/pix-transactions.ts';
import {
  dayRange,
  FIRST_YEAR,
  LAST_YEAR,
  type DayError,
  type DayRange,
} from '../domain/calendar.ts';
import { transactionType, type PixOperation, type PixStatus } from '../domain/pix.ts';
import { AppError, type Text } from '../errors.ts';
import type { CallOptions, ProviderStatementItem } from '../provider/provider.ts';
import { callerSession } from '../auth/banking-sessions.ts';
import type { Principal } from '../auth/principal.ts';
import { readIfAvailable } from '../auth/provider-failure.ts';
import type { SessionOperation } from '../http/operation.ts';

/**
 * The newest items of a period. More would delay other requests: 40,000 items are 7 MB, which
 * occupy the database and the event loop for about a second.
 */
const mostLocalItems = 1_000;

/**
 * Returns the caller's statement for whole days in São Paulo: the stored items, newest first, and
 * the provider's. Headers report a truncated local list, and a failure of the provider.
 */
export const getStatement: SessionOperation<'getStatement'> = {
  access: 'session',
  async run(context, { input, principal, request }) {
    const range = readRange(input.query.start_date, input.query.end_date, context.clock.now());
    const [local, remote] = await Promise.all([
      localItems(context, principal, range),
      remoteItems(context, principal, { range, options: request.callOptions }),
    ]);
    return {
      status: 200,
      body: { items: { local: local.slice(0, mostLocalItems), remote: [...(remote ?? [])] } },
      headers: {
        ...(local.length > mostLocalItems && { 'X-Statement-Local': 'truncated' }),
        ...(remote === null && { 'X-Statement-Remote': 'unavailable' }),
      },
    };
  },
};

const rangeErrors: Readonly<Record<DayError['rule'], Text>> = {
  invalid_date: {
    en: 'Must be a day that exists, written as yyyy-mm-dd.',
    pt: 'Deve ser um dia existente, no formato aaaa-mm-dd.',
  },
  out_of_range: {
    en: `Must be a day of the years ${FIRST_YEAR} to ${LAST_YEAR}.`,
    pt: `Deve ser um dia dos anos de ${FIRST_YEAR} a ${LAST_YEAR}.`,
  },
  after_end: {
    en: 'Must not be after end_date.',
    pt: 'Não pode ser depois de end_date.',
  },
  too_long: {
    en: 'The period must not be longer than 366 days.',
    pt: 'O período não pode passar de 366 dias.',
  },
};

function readRange(start: string | undefined, end: string | undefined, now: Date): DayRange {
  const range = dayRange(start, end, now);
  if (!('errors' in range)) return range;
  const fields = range.errors.map(({ field, rule }) => [field, [rangeErrors[rule]]] as const);
  throw new AppError('VALIDATION_FAILED', { fields: Object.fromEntries(fields) });
}

interface LocalRow {
  readonly id: string;
  readonly operation: PixOperation;
  readonly amount: string;
  readonly status: PixStatus;
  readonly pix_key: string | null;
  readonly provider_txid: string | null;
  /** In ISO 8601, UTC, with milliseconds. */
  readonly shown_at: string;
}

async function localItems(context: Context, principal: Principal, range: DayRange) {
  const rows = await context.db.query<LocalRow>(listTransactions, [
    principal.user.id,
    range.fromInclusive,
    range.toExclusive,
    // One more than listed shows that the list is truncated.
    mostLocalItems + 1,
  ]);
  return rows.map((row) => ({
    id: row.id,
    type: transactionType(row.operation),
    // Exact: a double represents every decimal of fifteen digits.
    amount: Number(row.amount),
    status: row.status,
    pix_key: row.pix_key,
    provider_txid: row.provider_txid,
    created_at: row.shown_at,
  }));
}

/** @returns the provider's items, or null when the provider fails. */
function remoteItems(
  context: Context,
  principal: Principal,
  { range, options }: { range: DayRange; options: CallOptions },
): Promise<readonly ProviderStatementItem[] | null> {
  return readIfAvailable(async () => {
    const session = callerSession(context, principal);
    return (await context.provider.statement({ session, ...range, ...options })).items;
  });
}
