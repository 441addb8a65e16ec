/**
 * Transactions that the sweep finishes, and the claims that a crash leaves. The statements are SQL:
 * the sweep runs them on every transaction that is not settled, and the simulation runs the sweep.
 */
import type { StoredSession } from '../auth/banking-sessions.ts';
import { isActiveSession } from '../auth/session-repository.ts';
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { isOneOf, sql, statement } from '../db/statement.ts';
import { centsFromDecimal } from '../domain/money.ts';
import { failedAfterRepeat, orderTypes, type PixOutcome, type PixPhase } from '../domain/pix.ts';
import { releaseAllLeases } from '../jobs/job-repository.ts';
import { countRefusedSessions } from './attempt-repository.ts';
import { isBlockedOrder, mayHaveLostAttempts } from './block.ts';
import { isAbandoned, isUnsettled, openTransactions } from './pix-transaction-repository.ts';
import type { SoughtOrder } from './correction-repository.ts';

/**
 * Transactions that no process has moved out of some phases for too long, oldest first. An order
 * before PAYING is left out while the commit of its PAYING may be lost.
 */
const findStale = statement({
  name: 'pix-stale',
  parameters: { phases: 'text[]', untouchedSince: 'timestamptz', now: 'timestamptz', limit: 'int' },
  text: ({ phases, untouchedSince, now, limit }) => sql<{ id: string }>`
    select id from ${openTransactions}
     where ${isUnsettled('t')} and created_at <= ${untouchedSince} and phase = any(${phases})
       and ${isAbandoned('t', untouchedSince, now)}
       and (phase = 'PAYING' or not ${isBlockedOrder('t')})
     order by updated_at limit ${limit}`,
});

/**
 * @param search `untouchedSince`: no process has changed them since then.
 * @returns the ids of transactions in some phases that no process works on, oldest first.
 */
export async function findStaleTransactions(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  phases: readonly PixPhase[],
  search: { readonly untouchedSince: Date; readonly limit: number },
): Promise<string[]> {
  const rows = await db.query(findStale, {
    phases,
    untouchedSince: search.untouchedSince,
    now: clock.now(),
    limit: search.limit,
  });
  return rows.map(({ id }) => id);
}

/** The columns of the banking session `s` in a row. */
export const sessionColumns = 's.id as "sessionId", s.sealed_token as "sealedToken"';

/** A row with {@link sessionColumns}, which are null without an active session. */
export interface SessionColumns extends Pick<StoredSession, 'userId'> {
  readonly sessionId: string | null;
  readonly sealedToken: Buffer | null;
}

/** @returns the session of a row, or null. */
export function toSession({
  sessionId,
  userId,
  sealedToken,
}: SessionColumns): StoredSession | null {
  return sessionId === null || sealedToken === null ? null : { sessionId, userId, sealedToken };
}

const ofCharge = columnsOf(
  'pix_transactions',
  'id, userId, amount, transactionIdentification, createdAt, expiresAt',
);

/**
 * Charges that wait for a payer, and that expired before a time. Each has the active banking
 * session of its owner, if there is one. The one with the oldest reading of the statement comes
 * first.
 */
const findExpired = statement({
  name: 'pix-expired',
  parameters: { expiredBefore: 'timestamptz', now: 'timestamptz', limit: 'int' },
  text: ({ expiredBefore, now, limit }) => sql<ExpiredRow>`
    select ${ofCharge.select('t')}, ${sessionColumns}
      from (select transaction_id from pix_open where expires_at <= ${expiredBefore}) open
      join pix_transactions t on t.id = any(array[open.transaction_id])
      left join banking_sessions s on s.user_id = t.user_id and ${isActiveSession('s', now)}
     where t.status = 'PROCESSING' and t.phase = 'ACCEPTED'
     order by t.updated_at limit ${limit}`,
});

interface ChargeRow extends Omit<RowOf<typeof ofCharge>, 'amount'> {
  readonly transactionIdentification: string;
  readonly expiresAt: Date;
}

interface ExpiredRow extends ChargeRow, SessionColumns {
  readonly amount: string;
}

/** An unpaid charge that has expired. */
export interface ExpiredCharge extends ChargeRow {
  /** Null: an amount that is too large to compare. */
  readonly amountCents: number | null;
  /** Null without an active session. */
  readonly session: StoredSession | null;
}

/** @returns the unpaid charges that expired before a time, the oldest reading first. */
export async function findExpiredCharges(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  search: { readonly expiredBefore: Date; readonly limit: number },
): Promise<ExpiredCharge[]> {
  const rows = await db.query(findExpired, {
    expiredBefore: search.expiredBefore,
    now: clock.now(),
    limit: search.limit,
  });
  return rows.map(toCharge);
}

function toCharge({ amount, sessionId, sealedToken, ...charge }: ExpiredRow): ExpiredCharge {
  const session = toSession({ sessionId, userId: charge.userId, sealedToken });
  return { ...charge, amountCents: centsFromDecimal(amount), session };
}

const ofOrder = columnsOf(
  'pix_transactions',
  'id, userId, operation, amount, idempotencyKey, endToEnd, createdAt, outcome',
);

interface UnconfirmedRow
  extends Omit<UnconfirmedOrder, 'status' | 'amountCents' | 'session'>, StoredSession {
  readonly amount: string;
}

/**
 * Orders that only the provider's statement or a webhook can settle: UNKNOWN ones, and ACCEPTED
 * ones that were created before a time. The one with the oldest reading comes first. The pause
 * between two readings is a sixtieth of the time that the order has waited, and an hour at most: at
 * first every sweep reads the statement, after two and a half days an hourly one.
 */
const findUnconfirmed = statement({
  name: 'pix-unconfirmed',
  parameters: { now: 'timestamptz', acceptedBefore: 'timestamptz', limit: 'int' },
  text: ({ now, acceptedBefore, limit }) => sql<UnconfirmedRow>`
    select ${ofOrder.select('t')}, ${sessionColumns}, waiting.attempted_at as "attemptedAt",
           t.payee ->> 'ispb' as "payeeIspb", waiting.failures > 0 as "hasFailureReport",
           waiting.attempts = waiting.refusals and not (${mayHaveLostAttempts('t')})
             as "wasRefusedForSession"
      from ${openTransactions}
      join banking_sessions s on s.user_id = t.user_id and ${isActiveSession('s', now)}
      join lateral (select min(at) filter (where phase = t.phase) as since,
                           max(at) filter (where phase = 'PAYING') as attempted_at,
                           count(*) filter (where phase = 'PAYING') as attempts,
                           ${countRefusedSessions('said')} as refusals,
                           count(*) filter (where phase = 'ANOMALY'
                             and note = '${failedAfterRepeat}') as failures
                      from pix_timeline said where transaction_id = t.id) waiting on true
     where ${isUnsettled('t')} and ${isOneOf('t.operation', orderTypes)}
       and (t.phase = 'UNKNOWN' or t.phase = 'ACCEPTED' and t.created_at <= ${acceptedBefore})
       and t.updated_at <= ${now}
           - least((t.updated_at - coalesce(waiting.since, t.created_at)) / 60, interval '1 hour')
     order by t.updated_at limit ${limit}`,
});

/** An order that is not settled, with the active banking session of its user. */
export interface UnconfirmedOrder extends SoughtOrder {
  readonly createdAt: Date;
  readonly outcome: PixOutcome | null;
  /** When its last attempt was announced; null: it has no such step. */
  readonly attemptedAt: Date | null;
  /** The institution of the payee's account; null: not known. */
  readonly payeeIspb: string | null;
  /** Whether an event has said that it failed, although another attempt may have been executed. */
  readonly hasFailureReport: boolean;
  /** Whether the bank has answered every attempt by 401. */
  readonly wasRefusedForSession: boolean;
  readonly session: StoredSession;
}

/** @returns orders that the provider's statement may settle, the oldest reading first. */
export async function findUnconfirmedOrders(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  search: { readonly acceptedBefore: Date; readonly limit: number },
): Promise<UnconfirmedOrder[]> {
  const rows = await db.query(findUnconfirmed, {
    now: clock.now(),
    acceptedBefore: search.acceptedBefore,
    limit: search.limit,
  });
  return rows.map(toUnconfirmed);
}

function toUnconfirmed(row: UnconfirmedRow): UnconfirmedOrder {
  const { amount, sessionId, sealedToken, ...order } = row;
  return {
    ...order,
    status: 'PROCESSING',
    // The provider knows a return by another request id.
    idempotencyKey: order.operation === 'SEND' ? order.idempotencyKey : null,
    amountCents: centsFromDecimal(amount),
    session: { sessionId, userId: order.userId, sealedToken },
  };
}

const touchUnconfirmed = statement({
  name: 'pix-touch-unconfirmed',
  parameters: { ids: 'uuid[]', now: 'timestamptz' },
  text: ({ ids, now }) => sql`
    update pix_transactions set updated_at = ${now}
     where id = any(${ids}) and phase in ('UNKNOWN', 'ACCEPTED') and status = 'PROCESSING'`,
});

/** Moves transactions whose statement is read now to the end of the queue. */
export async function touchSwept(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  transactions: readonly { readonly id: string }[],
): Promise<void> {
  await db.query(touchUnconfirmed, { ids: transactions.map(({ id }) => id), now: clock.now() });
}

const releaseClaims = statement({
  name: 'after-crash-claims',
  parameters: {},
  text: () => sql`
    update pix_transactions t set claimed_until = null
      from pix_open open
     where t.id = any(array[open.transaction_id]) and ${isUnsettled('t')}
       and claimed_until is not null`,
});

/**
 * Releases the claims and leases of the process that had this database before. The embedded
 * database serves one process at a time, so that process is dead; on a server they expire, because
 * another instance may hold them.
 */
export async function releaseAfterCrash({ db }: Pick<LocalContext, 'db'>): Promise<void> {
  if (db.kind !== 'embedded') return;
  await db.query(releaseClaims, {});
  await releaseAllLeases({ db });
}

/** @public For the tests of plans and of the simulation. */
export const sweepStatements = { findStale, findExpired, findUnconfirmed, touchUnconfirmed };
