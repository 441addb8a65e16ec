/**
 * The progress of reconciliation and its differences. The statements are SQL: one statement stores
 * the result of a user and day, and decides which differences are new, known and explained.
 */
import { isAccounted, unblocking } from '../ledger/block.ts';
import { lockAccounts } from '../ledger/lost-send-repository.ts';
import { sessionColumns, toSession, type SessionColumns } from '../ledger/sweep-repository.ts';
import type { StoredSession } from '../auth/banking-sessions.ts';
import { isKnownToProvider } from '../accounts/payer-account.ts';
import { accountDocument, isActiveSession } from '../auth/session-repository.ts';
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { sql, statement } from '../db/statement.ts';
import { inTransaction } from '../db/unit-of-work.ts';
import { decimalFromCents } from '../domain/money.ts';
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

/** Users with an active account at the provider: table expressions and conditions. */
const usersWith = (by: { readonly now: string; readonly countsLocal: string }): string => `
      from accounts a
      join users u on u.id = a.user_id
      left join banking_sessions s on s.user_id = a.user_id and ${isActiveSession('s', by.now)}
     where a.status = 'ACTIVE' and ${isKnownToProvider('a.provider', by.countsLocal)}`;

const ofAccount = columnsOf('accounts', 'userId, agency, accountNumber');

const userColumns = `
           ${ofAccount.select('a')}, ${accountDocument} as document, ${sessionColumns}`;

const dueParameters = {
  now: 'timestamptz',
  countsLocal: 'boolean',
  day: 'date',
  afterUser: 'int',
  readBefore: 'timestamptz null',
  limit: 'int',
  isAgain: 'boolean',
} as const;

/**
 * Users whose day is not reconciled yet, in the order of their ids. An attempt that could not read
 * the statement counts unless `isAgain`: users are due again that were not read, were read before a
 * time, or have open differences.
 */
const due = (by: Readonly<Record<keyof typeof dueParameters, string>>): string => `
      ${usersWith(by)} and a.user_id > ${by.afterUser}
       and not exists (
             select from reconciliations r
              where r.day = ${by.day} and r.user_id = a.user_id
                and (not ${by.isAgain}
                     or r.state = 'READ'
                        and (${by.readBefore} is null or r.read_at >= ${by.readBefore})
                        and not exists (
                              select from reconciliation_differences d
                               where d.user_id = a.user_id and d.day = ${by.day}
                                 and d.closed_at is null)))
     order by a.user_id limit ${by.limit}`;

const findDue = statement({
  name: 'reconciliation-due',
  parameters: dueParameters,
  text: (by) => sql<UserRow>`select ${userColumns} ${due(by)}`,
});

const countDue = statement({
  name: 'reconciliation-count-due',
  parameters: dueParameters,
  text: (by) => sql`select 1 ${due(by)}`,
});

const findUser = statement({
  name: 'reconciliation-user',
  parameters: { now: 'timestamptz', countsLocal: 'boolean', userId: 'int' },
  text: ({ userId, ...by }) =>
    sql<UserRow>`select ${userColumns} ${usersWith(by)} and a.user_id = ${userId}`,
});

interface UserRow extends RowOf<typeof ofAccount>, SessionColumns {
  readonly document: string | null;
}

function toUser(row: UserRow): StatementUser {
  const { userId, agency, accountNumber, document } = row;
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

function bindDue(
  { clock, config }: Pick<LocalContext, 'clock' | 'config'>,
  { again, ...search }: DueSearch,
) {
  return {
    now: clock.now(),
    countsLocal: config.provider.stub,
    ...search,
    readBefore: again?.readBefore ?? null,
    isAgain: again !== undefined,
  };
}

/** @returns users whose day is not reconciled yet, in the order of their ids. */
export async function findDueUsers(
  context: Store & Pick<LocalContext, 'config'>,
  search: DueSearch,
): Promise<StatementUser[]> {
  const rows = await context.db.query(findDue, bindDue(context, search));
  return rows.map(toUser);
}

/** @returns how many users are due. */
export async function countDueUsers(
  context: Store & Pick<LocalContext, 'config'>,
  search: Omit<DueSearch, 'limit'>,
): Promise<number> {
  const rows = await context.db.query(
    countDue,
    bindDue(context, { ...search, limit: 2 ** 31 - 1 }),
  );
  return rows.length;
}

/** @returns a user with an active account, or null. */
export async function findStatementUser(
  { db, clock, config }: Store & Pick<LocalContext, 'config'>,
  userId: number,
): Promise<StatementUser | null> {
  const parameters = { now: clock.now(), countsLocal: config.provider.stub, userId };
  const [row] = await db.query(findUser, parameters);
  return row ? toUser(row) : null;
}

/** Days of a user that are read together. */
export interface UserDays {
  readonly userId: number;
  readonly first: string;
  readonly last: string;
}

const findWaiting = statement({
  name: 'reconciliation-waiting',
  parameters: { userId: 'int', oldest: 'date' },
  text: ({ userId, oldest }) => sql<Omit<UserDays, 'userId'>>`
    select min(day)::text as first, max(day)::text as last from reconciliations
     where user_id = ${userId} and state = 'UNREAD' and day >= ${oldest}
    having count(*) > 0`,
});

/** @returns the days that wait for a session of the user, or null. */
export async function findWaitingDays(
  { db }: Pick<LocalContext, 'db'>,
  userId: number,
  oldest: string,
): Promise<UserDays | null> {
  const [row] = await db.query(findWaiting, { userId, oldest });
  return row ? { userId, ...row } : null;
}

/**
 * Days that are read once more while there is a session: those that could not be read at the last
 * attempt, and those with open differences.
 */
const findAgain = statement({
  name: 'reconciliation-again',
  parameters: { now: 'timestamptz', oldest: 'date', limit: 'int' },
  text: ({ now, oldest, limit }) => sql<UserDays>`
    select r.user_id as "userId", r.day::text as first, r.day::text as last
      from (select user_id, day from reconciliations where state = 'UNREAD' and day >= ${oldest}
             union
            select user_id, day from reconciliation_differences
             where closed_at is null and day >= ${oldest}) open
      join reconciliations r using (user_id, day)
      join banking_sessions s on s.user_id = r.user_id and ${isActiveSession('s', now)}
     where r.tried_at < case r.state when 'UNREAD' then ${now} - interval '1 hour'
                             else ${now} - interval '20 hours' end
     order by r.tried_at limit ${limit}`,
});

/** @returns days that are read once more, the oldest attempt first. */
export function findDaysAgain(
  { db, clock }: Store,
  { oldest, limit }: { readonly oldest: string; readonly limit: number },
): Promise<UserDays[]> {
  return db.query(findAgain, { now: clock.now(), oldest, limit });
}

/**
 * Stores that statements could not be read. A day that was read before stays so.
 */
const storeUnread = statement({
  name: 'reconciliation-unread',
  parameters: { userIds: 'int[]', first: 'date', last: 'date', reason: 'text', now: 'timestamptz' },
  text: ({ userIds, first, last, reason, now }) => sql`
    insert into reconciliations (day, user_id, state, reason, tried_at)
    select day::date, user_id, 'UNREAD', ${reason}, ${now}
      from unnest(${userIds}) as user_id,
           generate_series(${first}, ${last}, interval '1 day') as day
     order by day, user_id
        on conflict (day, user_id)
        do update set reason = excluded.reason, tried_at = excluded.tried_at`,
});

/** Stores that the statements of users could not be read. */
export async function storeUnreadDays(
  { db, clock }: Store,
  userIds: readonly number[],
  { first, last, reason }: Omit<UserDays, 'userId'> & { readonly reason: UnreadBecause },
): Promise<void> {
  await db.query(storeUnread, { userIds, first, last, reason, now: clock.now() });
}

/**
 * No day is missed before the first one that was reconciled, nor before the account: a day of
 * Brasília begins three hours after that of UTC.
 */
const storeMissed = statement({
  name: 'reconciliation-missed',
  parameters: { userIds: 'int[]', oldest: 'date', until: 'date', now: 'timestamptz' },
  text: ({ userIds, oldest, until, now }) => sql`
    insert into reconciliations (day, user_id, state, reason, tried_at)
    select missed::date, a.user_id, 'UNREAD', 'MISSED', ${now}
      from accounts a,
           generate_series(greatest(${oldest},
                                    (a.created_at at time zone 'UTC' - interval '3 hours')::date,
                                    (select coalesce(min(day), ${until} + 1)
                                       from reconciliations)),
                           ${until}, interval '1 day') as missed
     where a.user_id = any(${userIds})
     order by missed, a.user_id
        on conflict (day, user_id) do nothing`,
});

/**
 * Stores that the days of users that no run has attempted are unread: they are read as others that
 * could not be.
 * @param days `until`: the last one.
 */
export async function storeMissedDays(
  { db, clock }: Store,
  userIds: readonly number[],
  days: { readonly oldest: string; readonly until: string },
): Promise<void> {
  await db.query(storeMissed, { userIds, ...days, now: clock.now() });
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
 * A condition: a difference `known` that a run finds is opened again. One that an operator has
 * accepted is so only if it has changed. A line without an id is named by its direction and
 * amount: three days later such a line is another one, because a statement has the day before its
 * own and the day after it.
 * @param first the first day of the statement.
 */
const isFoundAgain = (first: string): string => `(known.closed_as = 'EXPLAINED'
                          or known.closed_as = 'ACCEPTED'
                             and (known.reason <> excluded.reason
                                  or known.amount <> excluded.amount
                                  or known.stored_amount <> excluded.stored_amount
                                  or known.subject like '% %'
                                     and ${first} > known.day + 2))`;

/**
 * Stores what a run has found. A difference that is known keeps its first time and its day, and one
 * that an operator has accepted stays closed while it is the same; a difference of these days that
 * the run has not found is explained. One that blocks orders is explained only by an order that
 * accounts for it: the statement may not show the line any more.
 */
const storeRead = statement({
  name: 'reconciliation-read',
  parameters: {
    userId: 'int',
    first: 'date',
    last: 'date',
    now: 'timestamptz',
    differences: 'jsonb',
    lines: 'int',
    settled: 'int',
  },
  text: ({ userId, first, last, now, differences, lines, settled }) => sql<{ explained: number }>`
    with found as (
      select * from jsonb_to_recordset(${differences}) as found
        (day date, kind text, reason text, subject text, transaction_id uuid, end_to_end text,
         amount numeric, stored_amount numeric)
    ), stored as (
      insert into reconciliation_differences as known
             (day, user_id, kind, reason, subject, transaction_id, end_to_end, amount,
              stored_amount, found_at, seen_at)
      select day, ${userId}, kind, reason, subject, transaction_id, end_to_end, amount,
             stored_amount, ${now}, ${now} from found order by kind, subject
          on conflict (user_id, kind, subject)
          do update set seen_at = excluded.seen_at, reason = excluded.reason,
                        transaction_id = excluded.transaction_id,
                        amount = case when known.blocks is null then excluded.amount
                                      else known.amount end,
                        stored_amount = excluded.stored_amount,
                        day = case when ${isFoundAgain(first)} then excluded.day else known.day end,
                        found_at = case when ${isFoundAgain(first)} then excluded.found_at
                                        else known.found_at end,
                        closed_at = case when ${isFoundAgain(first)} then null
                                         else known.closed_at end,
                        closed_as = case when ${isFoundAgain(first)} then null
                                         else known.closed_as end
      returning id
    ), explained as (
      update reconciliation_differences known
         set closed_at = ${now}, closed_as = 'EXPLAINED', blocks = null
       where known.user_id = ${userId} and known.day between ${first} and ${last}
         and known.closed_at is null
         and (known.kind, known.subject) not in (select kind, subject from found)
         and (known.blocks is null or ${isAccounted('known')})
      returning id, user_id
    ), ${unblocking('explained')}, noted as (
      insert into reconciliations as known
             (day, user_id, state, reason, tried_at, read_at, lines, settled, differences)
      select day::date, ${userId}, 'READ', null, ${now}, ${now}, ${lines}, ${settled},
             (select count(*) from found where found.day = series.day::date)
        from generate_series(${first}, ${last}, interval '1 day') as series (day)
          on conflict (day, user_id)
          do update set state = 'READ', reason = null, tried_at = excluded.tried_at,
                        read_at = excluded.read_at, lines = excluded.lines,
                        settled = known.settled + excluded.settled,
                        differences = excluded.differences
    )
    select (select count(*)::int from stored) as stored,
           (select count(*)::int from explained) as explained`,
});

/** What a run has found in a statement that was read whole. */
export interface ReadDays extends UserDays {
  readonly differences: readonly FoundDifference[];
  readonly lines: number;
  readonly settled: number;
}

/** Stores what a run has found; @returns how many differences it has explained. */
export function storeReadDays(context: Store, read: ReadDays): Promise<number> {
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
  return inTransaction(context, async ({ db, clock }) => {
    await lockAccounts({ db }, [read.userId]);
    const [row] = await db.query(storeRead, {
      userId: read.userId,
      first: read.first,
      last: read.last,
      now: clock.now(),
      differences: JSON.stringify(differences),
      lines: read.lines,
      settled: read.settled,
    });
    return row?.explained ?? 0;
  });
}
