/**
 * The progress of reconciliation and its differences. The statements are SQL: one statement stores
 * the result of a user and day, and decides which differences are new, known and explained.
 */
import { toSession, type SessionColumns } from '../pix/sweep-repository.ts';
import type { StoredSession } from '../auth/banking-sessions.ts';
import type { LocalContext } from '../context/context.ts';
import type { Statement } from '../db/database.ts';
import { decimalFromCents } from '../domain/money.ts';
import type { PixPhase, PixStatus, PixType } from '../domain/pix.ts';
import type { DifferenceKind, UnreadBecause } from '../domain/reconciliation.ts';
import type { StatementOwner } from './statement-lines.ts';

type Store = Pick<LocalContext, 'db' | 'clock'>;

/** A user whose statement is to be read. */
export interface StatementUser {
  readonly userId: number;
  readonly owner: StatementOwner;
  /** Null without an active session: the statement cannot be read. */
  readonly session: StoredSession | null;
}

/** Users with an active account at the provider, in the order of their ids. */
const usersWith = (condition: string): string => `
    select a.user_id, a.agency, a.account_number, coalesce(a.document, u.document) as document,
           s.id as session_id, s.sealed_token
      from accounts a
      join users u on u.id = a.user_id
      left join banking_sessions s on s.user_id = a.user_id and s.status = 'ACTIVE'
                                  and (s.token_expires_at is null or s.token_expires_at > $1)
     where a.status = 'ACTIVE' and (a.provider = 'provider' or $2) and ${condition}`;

/**
 * Users whose day is not reconciled yet. An attempt that could not read the statement counts with
 * the last parameter only. Parameters: now, whether local accounts count, day, user id after, read
 * since or null, limit, whether users are due again that were not read or have open differences.
 */
const findDue: Statement = {
  name: 'reconciliation-due',
  text: `${usersWith(`a.user_id > $4
       and not exists (
             select from reconciliations r
              where r.day = $3::date and r.user_id = a.user_id
                and (not $7 or r.state = 'READ' and ($5::timestamptz is null or r.read_at >= $5)
                               and not exists (
                       select from reconciliation_differences d
                        where d.user_id = a.user_id and d.day = $3::date
                          and d.closed_at is null)))`)}
     order by a.user_id limit $6`,
};

const countDue: Statement = {
  name: 'reconciliation-count-due',
  text: findDue.text.replace(/select a\.user_id.*?from accounts/s, 'select 1 from accounts'),
};

const findUser: Statement = { name: 'reconciliation-user', text: usersWith('a.user_id = $3') };

interface UserRow extends SessionColumns {
  readonly agency: string | null;
  readonly account_number: string | null;
  readonly document: string | null;
}

function toUser(row: UserRow): StatementUser {
  const { user_id: userId, agency, account_number: accountNumber, document } = row;
  return { userId, owner: { document, agency, accountNumber }, session: toSession(row) };
}

/** Which users of a day are due. */
export interface DueSearch {
  readonly day: string;
  readonly afterUser: number;
  readonly limit: number;
  /** For an operator: also those that could not be read or have open differences. */
  readonly again?: { readonly readBefore: Date | null };
}

function dueParameters(
  { clock, config }: Pick<LocalContext, 'clock' | 'config'>,
  { day, afterUser, limit, again }: DueSearch,
): unknown[] {
  const readBefore = again?.readBefore ?? null;
  const parameters = [clock.now(), config.provider.stub, day, afterUser, readBefore, limit];
  return [...parameters, again !== undefined];
}

/** @returns users whose day is not reconciled yet, in the order of their ids. */
export async function findDueUsers(
  context: Store & Pick<LocalContext, 'config'>,
  search: DueSearch,
): Promise<StatementUser[]> {
  const rows = await context.db.query<UserRow>(findDue, dueParameters(context, search));
  return rows.map(toUser);
}

/** @returns how many users are due. */
export async function countDueUsers(
  context: Store & Pick<LocalContext, 'config'>,
  search: Omit<DueSearch, 'limit'>,
): Promise<number> {
  const parameters = dueParameters(context, { ...search, limit: 2 ** 31 - 1 });
  return (await context.db.query(countDue, parameters)).length;
}

/** @returns a user with an active account, or null. */
export async function findStatementUser(
  { db, clock, config }: Store & Pick<LocalContext, 'config'>,
  userId: number,
): Promise<StatementUser | null> {
  const parameters = [clock.now(), config.provider.stub, userId];
  const [row] = await db.query<UserRow>(findUser, parameters);
  return row ? toUser(row) : null;
}

/** Days of a user that are read together. */
export interface UserDays {
  readonly userId: number;
  readonly first: string;
  readonly last: string;
}

/** Parameters: user id, the oldest day. */
const findWaiting: Statement = {
  name: 'reconciliation-waiting',
  text: `
    select min(day)::text as first, max(day)::text as last from reconciliations
     where user_id = $1 and state = 'UNREAD' and day >= $2::date
    having count(*) > 0`,
};

/** @returns the days that wait for a session of the user, or null. */
export async function findWaitingDays(
  { db }: Pick<LocalContext, 'db'>,
  userId: number,
  oldest: string,
): Promise<UserDays | null> {
  const [row] = await db.query<Omit<UserDays, 'userId'>>(findWaiting, [userId, oldest]);
  return row ? { userId, ...row } : null;
}

/**
 * Days that are read once more while there is a session: those that could not be read at the last
 * attempt, and those with open differences. Parameters: now, the oldest day, tried before, limit.
 */
const findAgain: Statement = {
  name: 'reconciliation-again',
  text: `
    select r.user_id as "userId", r.day::text as first, r.day::text as last
      from (select user_id, day from reconciliations where state = 'UNREAD' and day >= $2::date
             union
            select user_id, day from reconciliation_differences
             where closed_at is null and day >= $2::date) open
      join reconciliations r using (user_id, day)
      join banking_sessions s on s.user_id = r.user_id and s.status = 'ACTIVE'
                             and (s.token_expires_at is null or s.token_expires_at > $1)
     where r.tried_at < case r.state when 'UNREAD' then $1::timestamptz - interval '1 hour'
                             else $1::timestamptz - interval '20 hours' end
     order by r.tried_at limit $3`,
};

/** @returns days that are read once more, the oldest attempt first. */
export function findDaysAgain(
  { db, clock }: Store,
  { oldest, limit }: { readonly oldest: string; readonly limit: number },
): Promise<UserDays[]> {
  return db.query<UserDays>(findAgain, [clock.now(), oldest, limit]);
}

/**
 * Stores that statements could not be read. A day that was read before stays so.
 * Parameters: user ids, first day, last day, reason, now.
 */
const storeUnread: Statement = {
  name: 'reconciliation-unread',
  text: `
    insert into reconciliations (day, user_id, state, reason, tried_at)
    select day::date, user_id, 'UNREAD', $4, $5
      from unnest($1::int[]) as user_id,
           generate_series($2::date, $3::date, interval '1 day') as day
     order by day, user_id
        on conflict (day, user_id)
        do update set reason = excluded.reason, tried_at = excluded.tried_at`,
};

/** Stores that the statements of users could not be read. */
export async function storeUnreadDays(
  { db, clock }: Store,
  userIds: readonly number[],
  { first, last, reason }: Omit<UserDays, 'userId'> & { readonly reason: UnreadBecause },
): Promise<void> {
  await db.query(storeUnread, [userIds, first, last, reason, clock.now()]);
}

/** A stored transaction that a line may be about. */
export interface StoredMovement {
  readonly id: string;
  readonly userId: number;
  readonly operation: PixType;
  readonly status: PixStatus;
  readonly phase: PixPhase;
  readonly amount: string;
  readonly endToEnd: string | null;
  readonly transactionIdentification: string | null;
  readonly providerTxid: string | null;
  /** Whether it belongs to the days, and is not only named by a line. */
  readonly isOfDays: boolean;
}

/**
 * The transactions of a user and some days, a charge by its payment, and those of any user that
 * lines name. Parameters: user id, from, until, end-to-end ids and return ids.
 */
const findMovements: Statement = {
  name: 'reconciliation-movements',
  text: `
    select id, user_id as "userId", operation, status, phase, amount, end_to_end as "endToEnd",
           transaction_identification as "transactionIdentification",
           provider_txid as "providerTxid",
           user_id = $1 and case operation when 'CHARGE' then settled_at else created_at end >= $2
             and case operation when 'CHARGE' then settled_at else created_at end < $3
             as "isOfDays"
      from pix_transactions t
     where t.id in (
             select id from pix_transactions
              where user_id = $1 and created_at < $3
                and (created_at >= $2 or operation = 'CHARGE' and settled_at >= $2)
              union all
             select id from pix_transactions where end_to_end = any($4::text[]))`,
};

/** Which stored transactions to compare with the lines. */
export interface MovementSearch {
  readonly userId: number;
  readonly from: Date;
  readonly until: Date;
  /** End-to-end ids and return ids of lines. */
  readonly ids: readonly string[];
}

/** @returns the transactions of some days, and those that lines name. */
export async function findStoredMovements(
  { db }: Pick<LocalContext, 'db'>,
  { userId, from, until, ids }: MovementSearch,
): Promise<StoredMovement[]> {
  const rows = await db.query<StoredMovement>(findMovements, [userId, from, until, ids]);
  return rows.map(withBoolean);
}

/** An open charge has no time of its payment. */
function withBoolean(row: StoredMovement): StoredMovement {
  return { ...row, isOfDays: row.isOfDays === true };
}

/** A difference, as a run finds it. */
export interface FoundDifference {
  readonly day: string;
  readonly kind: DifferenceKind;
  /** A fixed word. */
  readonly reason: string;
  /** Identifies the line or the transaction. */
  readonly subject: string;
  readonly transactionId: string | null;
  readonly endToEnd: string | null;
  /** Of the line, in centavos. */
  readonly amountCents: number | null;
  /** Of the stored transaction, a decimal. */
  readonly storedAmount: string | null;
}

/**
 * Stores what a run has found. A difference that is known keeps its first time and its day, and one
 * that an operator has accepted stays closed; a difference of these days that the run has not found
 * is explained. Parameters: user id, first day, last day, now, differences as JSON, lines, settled.
 */
const storeRead: Statement = {
  name: 'reconciliation-read',
  text: `
    with found as (
      select * from jsonb_to_recordset($5::jsonb) as found
        (day date, kind text, reason text, subject text, transaction_id uuid, end_to_end text,
         amount numeric, stored_amount numeric)
    ), stored as (
      insert into reconciliation_differences as known
             (day, user_id, kind, reason, subject, transaction_id, end_to_end, amount,
              stored_amount, found_at, seen_at)
      select day, $1::int, kind, reason, subject, transaction_id, end_to_end, amount,
             stored_amount, $4::timestamptz, $4 from found order by kind, subject
          on conflict (user_id, kind, subject)
          do update set seen_at = excluded.seen_at, reason = excluded.reason,
                        transaction_id = excluded.transaction_id, amount = excluded.amount,
                        stored_amount = excluded.stored_amount,
                        found_at = case known.closed_as when 'EXPLAINED' then excluded.found_at
                                        else known.found_at end,
                        closed_at = case known.closed_as when 'EXPLAINED' then null
                                         else known.closed_at end,
                        closed_as = case known.closed_as when 'EXPLAINED' then null
                                         else known.closed_as end
      returning id
    ), explained as (
      update reconciliation_differences known set closed_at = $4, closed_as = 'EXPLAINED'
       where known.user_id = $1 and known.day between $2::date and $3::date
         and known.closed_at is null
         and (known.kind, known.subject) not in (select kind, subject from found)
      returning id
    ), noted as (
      insert into reconciliations as known
             (day, user_id, state, reason, tried_at, read_at, lines, settled, differences)
      select day::date, $1, 'READ', null, $4, $4, $6, $7,
             (select count(*) from found where found.day = series.day::date)
        from generate_series($2::date, $3::date, interval '1 day') as series (day)
          on conflict (day, user_id)
          do update set state = 'READ', reason = null, tried_at = excluded.tried_at,
                        read_at = excluded.read_at, lines = excluded.lines,
                        settled = known.settled + excluded.settled,
                        differences = excluded.differences
    )
    select (select count(*)::int from stored) as stored,
           (select count(*)::int from explained) as explained`,
};

/** What a run has found in a statement that was read whole. */
export interface ReadDays extends UserDays {
  readonly differences: readonly FoundDifference[];
  readonly lines: number;
  readonly settled: number;
}

/** Stores what a run has found; @returns how many differences it has explained. */
export async function storeReadDays({ db, clock }: Store, read: ReadDays): Promise<number> {
  const differences = read.differences.map((one) => ({
    day: one.day,
    kind: one.kind,
    reason: one.reason,
    subject: one.subject,
    transaction_id: one.transactionId,
    end_to_end: one.endToEnd,
    amount: one.amountCents === null ? null : decimalFromCents(one.amountCents),
    stored_amount: one.storedAmount,
  }));
  const [row] = await db.query<{ explained: number }>(storeRead, [
    read.userId,
    read.first,
    read.last,
    clock.now(),
    JSON.stringify(differences),
    read.lines,
    read.settled,
  ]);
  return row?.explained ?? 0;
}
