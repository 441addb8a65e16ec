/**
 * The limits of users in the database, and what counts towards them. The rule which limit applies
 * is in `domain/payee-limits.ts`. A change increases the version of the row, which a judged send
 * compares.
 */
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { batchedStatement, isOneOf, sql, statement, toSnakeCase } from '../db/statement.ts';
import {
  addEarlier,
  type EarlierLimits,
  type LimitSetter,
  type OwnLimits,
} from '../domain/earlier-limits.ts';
import { tryInTransaction } from '../db/unit-of-work.ts';
import { centsFromDecimal, decimalFromCents } from '../domain/money.ts';
import {
  payeeClasses,
  unjudgedClass,
  type PayeeClass,
  type Spent,
} from '../domain/payee-limits.ts';
import { isBeforePaying, phasesBeforePaying, type PixPhase } from '../domain/pix.ts';
import {
  limitPeriod,
  nightHours,
  readByPayee,
  writeByPayee,
  type LimitsByPayee,
  type NightHour,
  type Timed,
} from '../domain/spending-limits.ts';
import {
  codeHolder,
  codeParameters,
  codeTypes,
  type CodeHolder,
  type CodeReservation,
} from './code-holder-repository.ts';
import { orderBlock, type OrderBlock } from './block.ts';
import { queryWithRetry } from './retried-query.ts';

const [defaultHour] = nightHours;

const amounts = ['day', 'night', 'ownDay', 'ownNight'] as const;
const ofAmounts = columnsOf(
  'pix_limits',
  'day, dayNext, night, nightNext, ownDay, ownDayNext, ownNight, ownNightNext',
);
const ofLimits = columnsOf(
  'pix_limits',
  `userId, day, dayNext, dayNextAt, night, nightNext, nightNextAt, ownDay, ownDayNext, ownDayNextAt,
   ownNight, ownNightNext, ownNightNextAt, nightHour, nightHourNext, nightHourNextAt, ownByPayee,
   ownEarlier`,
);
const ofEarlier = columnsOf('pix_limits', 'ownEarlier');

type LimitsRow = Omit<RowOf<typeof ofLimits>, 'userId' | 'ownEarlier'>;

/** The value of a column of the row `own` that is in force at a time. */
function inForce(column: string, now: string): string {
  return `case when own.${column}_next_at <= ${now}
                       then own.${column}_next else own.${column} end`;
}

/** The hour at which the night begins for the row `own`. */
function hourOfNight(now: string): string {
  return `coalesce(${inForce('night_hour', now)}, ${defaultHour})`;
}

/** A condition: the user or an operator has set a limit, in the row `table` of `pix_limits`. */
export function hasLimit(table: string): string {
  return `(coalesce(${ofAmounts.list(table)}) is not null or ${table}.own_by_payee is not null)`;
}

/** The limit of one period of the day, in centavos, as it is in force. */
export interface StoredLimit {
  /** What operators have set; null: the default of the settings. */
  readonly bank: Timed<number | null>;
  /** What the customer has set; null: nothing. */
  readonly own: Timed<number | null>;
}

/** The limits of one user. */
export interface StoredLimits {
  readonly day: StoredLimit;
  readonly night: StoredLimit;
  /** What the customer has set for companies and the own document. */
  readonly byPayee: LimitsByPayee;
  readonly nightHour: Timed<NightHour>;
}

/** The limits that a transaction changes. */
export interface LockedLimits extends StoredLimits {
  /** The own limits that changes have replaced. */
  readonly earlier: readonly EarlierLimits[];
}

/** The limits of one user, with what counts now. */
export interface CurrentLimits extends StoredLimits {
  /** Of the user's row; 0: there is none. */
  readonly version: number;
  /** Whether the customer has set limits by payee. */
  readonly isByPayee: boolean;
  /** What counts in the period that it is now. */
  readonly spent: Spent;
}

/** A sum of what counts: of one class of payees in one phase; null: nothing counts. */
interface SpentColumns {
  readonly payeeClass: string | null;
  readonly phase: PixPhase | null;
  readonly spent: string | null;
}

/** The columns of `own` as they are in force at a time: what is due has replaced the value. */
function selectStored(now: string): string {
  const waiting = (name: string, part: 'Next' | 'NextAt'): string =>
    `case when own.${toSnakeCase(name)}_next_at > ${now}
                  then own.${toSnakeCase(name + part)} end as "${name}${part}"`;
  return [
    ...amounts.flatMap((name) => [
      `${inForce(toSnakeCase(name), now)} as "${name}"`,
      waiting(name, 'Next'),
      waiting(name, 'NextAt'),
    ]),
    `${hourOfNight(now)} as "nightHour"`,
    `coalesce(own.night_hour_next, ${defaultHour}) as "nightHourNext"`,
    waiting('nightHour', 'NextAt'),
    'own.own_by_payee as "ownByPayee"',
  ].join(`,
             `);
}

/**
 * The limits of a user, in as many rows as there are sums of what counts, or in one, and what has
 * become of the payment of a code. One statement, so that all is as of the version of the limits.
 * The block says whether a payment may be missing in what was read, because its commit was lost.
 */
const read = batchedStatement({
  name: 'pix-limits-read',
  parameters: {
    userId: 'int',
    now: 'timestamptz',
    began20: 'timestamptz',
    began22: 'timestamptz',
    excludedId: 'uuid null',
    amount: 'numeric null',
    ...codeTypes,
  },
  batching: {},
  text: (requested) => sql<TermsRow>`
    select requested.ordinal, coalesce(own.version, 0) as version,
             ${selectStored('requested.now')},
             sent.payee_class as "payeeClass", sent.phase, sent.spent,
             ${codeHolder('requested')} as "codeHolder",
             ${orderBlock({ account: 'a', row: 'requested', operation: "'SEND'" })} as block
      from ${requested} left join pix_limits own on own.user_id = requested.user_id
           left join accounts a on a.user_id = requested.user_id
           left join lateral (
             select t.payee_class, t.phase, sum(t.amount) as spent from pix_transactions t
              where t.user_id = requested.user_id and t.operation = 'SEND'
                and t.status <> 'FAILED'
                and t.created_at >= case when ${hourOfNight('requested.now')} = 22
                         then requested.began_22 else requested.began_20 end
                and t.id is distinct from requested.excluded_id
              group by t.payee_class, t.phase) sent on true`,
});

interface TermsRow extends LimitsRow, SpentColumns, Pick<SendTerms, 'codeHolder' | 'block'> {
  readonly version: number;
}

/** Creates the row of a user who has none, and locks it. */
const lock = statement({
  name: 'pix-limits-lock',
  parameters: { userId: 'int', now: 'timestamptz' },
  text: ({ userId, now }) => sql<LimitsRow & RowOf<typeof ofEarlier>>`
    insert into pix_limits as own (user_id, version) values (${userId}, 1)
        on conflict (user_id) do update set version = own.version + 1
    returning ${selectStored(now)}, ${ofEarlier.select('own')}`,
});

const judgeAgain = statement({
  name: 'pix-limits-judge-again',
  parameters: { userId: 'int' },
  text: ({ userId }) => sql`
    update pix_limits set version = version + 1 where user_id = ${userId} returning user_id`,
});

/**
 * Makes sends of a user that were judged, and are not claimed yet, be judged again. One that is
 * being claimed is claimed first: it holds the lock of the row.
 * @returns false when the lock was not free in time.
 */
export function judgeSendsAgain(
  context: Pick<LocalContext, 'db'>,
  userId: number,
): Promise<boolean> {
  return tryInTransaction(context, ({ db }) => db.query(judgeAgain, { userId }));
}

const readEarlier = statement({
  name: 'pix-limits-read-earlier',
  parameters: { userId: 'int' },
  text: ({ userId }) => sql<RowOf<typeof ofEarlier>>`
    select ${ofEarlier.select()} from pix_limits where user_id = ${userId}`,
});

/** @returns the own limits that changes have replaced, in the order of their ends. */
export async function findEarlierLimits(
  { db }: Pick<LocalContext, 'db'>,
  userId: number,
): Promise<readonly EarlierLimits[]> {
  const [row] = await db.query(readEarlier, { userId });
  return row?.ownEarlier ?? [];
}

const store = statement({
  name: 'pix-limits-store',
  parameters: ofLimits.types,
  text: (value) => sql`
    update pix_limits
       set day = ${value.day}, day_next = ${value.dayNext}, day_next_at = ${value.dayNextAt},
           night = ${value.night}, night_next = ${value.nightNext},
             night_next_at = ${value.nightNextAt},
           own_day = ${value.ownDay}, own_day_next = ${value.ownDayNext},
             own_day_next_at = ${value.ownDayNextAt},
           own_night = ${value.ownNight}, own_night_next = ${value.ownNightNext},
             own_night_next_at = ${value.ownNightNextAt},
           night_hour = ${value.nightHour}, night_hour_next = ${value.nightHourNext},
             night_hour_next_at = ${value.nightHourNextAt},
           own_by_payee = ${value.ownByPayee}, own_earlier = ${value.ownEarlier}
     where user_id = ${value.userId}`,
});

/** What a send is judged by. */
export interface SendTerms {
  readonly limits: CurrentLimits;
  /** What has become of the payment of its code; null: there is none. */
  readonly codeHolder: CodeHolder | null;
  /** Why the send may not be judged by them, nor made, now; null: it may. */
  readonly block: OrderBlock | null;
}

/** The send that is judged, as far as it matters. */
interface JudgedSend {
  /** The time that it is judged for. */
  readonly now: Date;
  readonly amountCents?: number;
  /** The code that it pays; null: none. */
  readonly code?: CodeReservation | null;
  /** Its id, if it is stored: it does not count itself. */
  readonly excludedId?: string | null;
}

/** Reads what a send of a user is judged by. */
export async function findTerms(
  context: Pick<LocalContext, 'db'>,
  userId: number,
  { now, amountCents, code = null, excludedId = null }: JudgedSend,
): Promise<SendTerms> {
  const rows = await queryWithRetry(context, read, {
    userId,
    now,
    began20: limitPeriod(now, 20).beganAt,
    began22: limitPeriod(now, 22).beganAt,
    excludedId,
    amount: toDecimal(amountCents ?? null),
    ...codeParameters(code),
  });
  const [row] = rows;
  if (!row) throw new Error('the limits of a user were not read');
  const { version, ownByPayee, codeHolder: holder, block } = row;
  const counted = { version, isByPayee: ownByPayee !== null, spent: toSpent(rows) };
  return { limits: { ...toLimits(row, now), ...counted }, codeHolder: holder, block };
}

/** @returns the limits of a user now; those of the settings for a user without a row. */
export async function findLimits(
  context: Pick<LocalContext, 'db' | 'clock'>,
  userId: number,
): Promise<CurrentLimits> {
  return (await findTerms(context, userId, { now: context.clock.now() })).limits;
}

function toSpent(rows: readonly SpentColumns[]): Spent {
  const spent = { person: 0, company: 0, own: 0, anyone: 0, unjudged: 0 };
  for (const { payeeClass, phase, spent: amount } of rows) {
    if (phase === null) continue;
    // A send in a later phase was not judged: an instance of release 1.2.0 has sent it.
    const isUnjudged = payeeClass === unjudgedClass && isBeforePaying(phase);
    const known = payeeClasses.find((one) => one === payeeClass);
    spent[isUnjudged ? 'unjudged' : (known ?? 'anyone')] += toCents(amount) ?? 0;
  }
  return spent;
}

/**
 * Stores the class of the payee of a send that is judged, if the user's limits and what counts
 * towards them have not changed since they were read; this counts as a change, too. A send that was
 * requested before the period by which it is judged would not count in it.
 */
const storeClass = statement({
  name: 'pix-store-payee-class',
  parameters: {
    id: 'uuid',
    userId: 'int',
    payeeClass: 'text',
    nextVersion: 'int',
    since: 'timestamptz null',
  },
  text: ({ id, userId, payeeClass, nextVersion, since }) => sql<{
    readonly isCurrent: boolean;
    readonly isStored: boolean;
    readonly isEarlier: boolean;
  }>`
    with counted as (
      insert into pix_limits (user_id, version) values (${userId}, ${nextVersion})
          on conflict (user_id) do update set version = excluded.version
       where pix_limits.version = excluded.version - 1
      returning user_id
    ), stored as (
      update pix_transactions t set payee_class = ${payeeClass}
        from counted
       where t.id = ${id} and t.user_id = counted.user_id
         and ${isOneOf('t.phase', phasesBeforePaying)}
         and coalesce(t.created_at >= ${since}, true)
      returning t.id
    )
    select exists (select from counted) as "isCurrent",
           exists (select from stored) as "isStored",
           exists (select from pix_transactions t
                    where t.id = ${id} and t.created_at < ${since}) as "isEarlier"`,
});

/** How a send was judged once more. */
interface Judged {
  readonly payeeClass: PayeeClass;
  readonly version: number;
  readonly since: Date | null;
}

/**
 * Stores who is paid by a send, under the version of the limits that it was judged by.
 * @param judged `since`: when the period of the limit began; null: no limit applies.
 * @returns `changed`: the limits must be read again; `earlier`: the send was requested before the
 *   period; `moved`: another process has moved the send.
 */
export async function storePayeeClass(
  { db }: Pick<LocalContext, 'db'>,
  send: { readonly id: string; readonly userId: number },
  { version, ...judged }: Judged,
): Promise<'stored' | 'changed' | 'earlier' | 'moved'> {
  const { id, userId } = send;
  const [row] = await db.query(storeClass, { id, userId, ...judged, nextVersion: version + 1 });
  if (row?.isStored) return 'stored';
  if (!row?.isCurrent) return 'changed';
  return row.isEarlier ? 'earlier' : 'moved';
}

/**
 * Changes the limits of a user. It must run in a transaction, which locks the user's row: no judged
 * send is reserved before the commit, and one that was judged by the old limits is judged again.
 * Only a send of a user without any limit may be reserved beside the first change.
 * @param setter whose limits they are, and who changes them.
 * @param change returns what it gets where nothing changes.
 * @returns whether the limits were changed.
 */
export async function changeLimits(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  { userId, by }: { readonly userId: number; readonly by: LimitSetter },
  change: (limits: LockedLimits) => StoredLimits,
): Promise<boolean> {
  const now = clock.now();
  const [row] = await db.query(lock, { userId, now });
  if (!row) throw new Error('the limits of a user were not stored');
  const before = toLimits(row, now);
  const earlier = row.ownEarlier ?? [];
  const changed = change({ ...before, earlier });
  if (JSON.stringify(changed) === JSON.stringify(before)) return false;
  const { day, night, byPayee, nightHour } = changed;
  const replaced = ownLimits(before);
  const isOwn = JSON.stringify(replaced) !== JSON.stringify(ownLimits(changed));
  const kept = isOwn ? addEarlier(earlier, { replaced, by, now }) : earlier;
  await db.query(store, {
    userId,
    day: toDecimal(day.bank.value),
    dayNext: toDecimal(day.bank.next),
    dayNextAt: day.bank.nextAt,
    night: toDecimal(night.bank.value),
    nightNext: toDecimal(night.bank.next),
    nightNextAt: night.bank.nextAt,
    ownDay: toDecimal(day.own.value),
    ownDayNext: toDecimal(day.own.next),
    ownDayNextAt: day.own.nextAt,
    ownNight: toDecimal(night.own.value),
    ownNightNext: toDecimal(night.own.next),
    ownNightNextAt: night.own.nextAt,
    nightHour: nightHour.value,
    nightHourNext: nightHour.next,
    nightHourNextAt: nightHour.nextAt,
    ownByPayee: writeByPayee(byPayee),
    ownEarlier: kept.length === 0 ? null : JSON.stringify(kept),
  });
  return true;
}

function ownLimits({ day, night, byPayee, nightHour }: StoredLimits): OwnLimits {
  return { day: day.own, night: night.own, byPayee, nightHour };
}

function toDecimal(cents: number | null): string | null {
  return cents === null ? null : decimalFromCents(cents);
}

function toCents(amount: string | null): number | null {
  return amount === null ? null : centsFromDecimal(amount);
}

function toLimits(row: LimitsRow, now: Date): StoredLimits {
  const timed = (name: (typeof amounts)[number]): Timed<number | null> => ({
    value: toCents(row[name]),
    next: toCents(row[`${name}Next`]),
    nextAt: row[`${name}NextAt`],
  });
  return {
    day: { bank: timed('day'), own: timed('ownDay') },
    night: { bank: timed('night'), own: timed('ownNight') },
    byPayee: readByPayee(row.ownByPayee, now),
    nightHour: { value: row.nightHour, next: row.nightHourNext, nextAt: row.nightHourNextAt },
  };
}

/** @public For the tests of plans and of the simulation. */
export const limitStatements = { read };
