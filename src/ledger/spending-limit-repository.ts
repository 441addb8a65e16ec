/**
 * The limits of users in the database, and the rule which limit applies: the customer's own, at
 * most the one that the bank allows, a default of the settings unless an operator has set one.
 * The rule is SQL, because a reservation applies it in its own statement; where limits differ by
 * payee, `domain/payee-limits.ts` has the rule. A change increases the version of the row, which a
 * limited send compares.
 */
import type { Config } from '../config/config.ts';
import type { LocalContext } from '../context/context.ts';
import { isOneOf, sql, statement } from '../db/statement.ts';
import {
  addEarlier,
  type EarlierLimits,
  type LimitSetter,
  type OwnLimits,
} from '../domain/earlier-limits.ts';
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
  type StoredByPayee,
  type Timed,
} from '../domain/spending-limits.ts';

const [defaultHour] = nightHours;

type TimedColumn = 'day' | 'night' | 'own_day' | 'own_night' | 'night_hour';

/** The value of a column of the row `own` that is in force at a time. */
function inForce(column: TimedColumn, now: string): string {
  return `case when own.${column}_next_at <= ${now}
                       then own.${column}_next else own.${column} end`;
}

/** The limit of a period that applies at a time; null: no limit. */
function applying(period: 'day' | 'night', now: string, byDefault: string): string {
  return `least(coalesce(${inForce(period, now)}, ${byDefault}),
                    ${inForce(`own_${period}`, now)})`;
}

/** The parameters of `spendingCtes`, with their types; see `limitParameters`. */
export const limitTypes = {
  day: 'numeric null',
  night: 'numeric null',
  isNight20: 'boolean',
  began20: 'timestamptz',
  isNight22: 'boolean',
  began22: 'timestamptz',
} as const;

/** @returns the limits of the settings, and the period at a time by either hour of the night. */
export function limitParameters({ pixLimits }: Pick<Config, 'pixLimits'>, now: Date) {
  const [from20, from22] = [limitPeriod(now, 20), limitPeriod(now, 22)];
  return {
    day: toDecimal(pixLimits.day),
    night: toDecimal(pixLimits.night),
    isNight20: from20.isNight,
    began20: from20.beganAt,
    isNight22: from22.isNight,
    began22: from22.beganAt,
  };
}

/** What a reservation reports of the payer's limits. */
export interface LimitRow {
  /** False: another send of the user was reserved at the same time, or the limits were changed. */
  readonly is_current: boolean;
  readonly night_hour: NightHour;
  /** The limit of the period that the send is in; null: none. */
  readonly limit_amount: string | null;
  /** What counts in that period; 0 without a limit. */
  readonly spent: string;
  /** The customer has set limits by payee: without a judgement, nothing is reserved. */
  readonly is_by_payee: boolean;
}

/**
 * The table expressions of a `with` list, of which the last, `spending`, has each call with the
 * limit that applies to it, and what counts towards it. `version` is that of the user's row; null:
 * the user has none.
 * @param calls a table with a row for each call: its `ordinal`, `user_id`, `now` and the parameters
 *   of `limitParameters`.
 */
export function spendingCtes(calls: string): string {
  return `own as (
      select call.ordinal, own.version, own.own_by_payee is not null as is_by_payee,
             coalesce(${inForce('night_hour', 'call.now')}, ${defaultHour}) as night_hour,
             ${applying('day', 'call.now', 'call.day')} as day_limit,
             ${applying('night', 'call.now', 'call.night')} as night_limit
        from ${calls} call left join pix_limits own on own.user_id = call.user_id
    ), period as (
      select own.*, case when night_hour = 22 then began_22 else began_20 end as began_at,
             case when case when night_hour = 22 then is_night_22 else is_night_20 end
                  then night_limit else day_limit end as limit_amount
        from own join ${calls} call on call.ordinal = own.ordinal
    ), spending as (
      select call.*, period.version, period.is_by_payee, period.night_hour, period.limit_amount,
             sent.spent
        from ${calls} call join period on period.ordinal = call.ordinal
             join lateral (
               select coalesce(sum(t.amount), 0) as spent from pix_transactions t
                where period.limit_amount is not null
                  and t.user_id = call.user_id and t.created_at >= period.began_at
                  and t.operation = 'SEND' and t.status <> 'FAILED') sent on true
    )`;
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
  /** What counts in the period that it is now. */
  readonly spent: Spent;
}

type AmountColumn = Exclude<TimedColumn, 'night_hour'>;

/** A sum of what counts: of one class of payees in one phase; null: nothing counts. */
interface SpentColumns {
  readonly version: number;
  readonly payee_class: PayeeClass | typeof unjudgedClass | null;
  readonly phase: PixPhase | null;
  readonly spent: string | null;
}

type LimitsRow = Readonly<Record<AmountColumn | `${AmountColumn}_next`, string | null>> & {
  readonly [Column in TimedColumn as `${Column}_next_at`]: Date | null;
} & {
  readonly night_hour: NightHour;
  readonly night_hour_next: NightHour;
  readonly own_by_payee: StoredByPayee | null;
};

const amounts: readonly AmountColumn[] = ['day', 'night', 'own_day', 'own_night'];

/** The columns of `own` as they are in force at a time: what is due has replaced the value. */
function selectStored(now: string): string {
  const waiting = (column: TimedColumn, part: 'next' | 'next_at'): string =>
    `case when own.${column}_next_at > ${now} then own.${column}_${part} end as ${column}_${part}`;
  return [
    ...amounts.flatMap((column) => [
      `${inForce(column, now)} as ${column}`,
      waiting(column, 'next'),
      waiting(column, 'next_at'),
    ]),
    `coalesce(${inForce('night_hour', now)}, ${defaultHour}) as night_hour`,
    `coalesce(own.night_hour_next, ${defaultHour}) as night_hour_next`,
    waiting('night_hour', 'next_at'),
    'own.own_by_payee',
  ].join(`,
             `);
}

/** The limits of a user, in as many rows as there are sums of what counts, or in one. */
const read = statement({
  name: 'pix-limits-read',
  parameters: {
    userId: 'int',
    now: 'timestamptz',
    began20: 'timestamptz',
    began22: 'timestamptz',
    excludedId: 'uuid null',
  },
  text: ({ userId, now, began20, began22, excludedId }) => sql<LimitsRow & SpentColumns>`
    with call as (select ${userId} as user_id)
    select coalesce(own.version, 0) as version, ${selectStored(now)},
             sent.payee_class, sent.phase, sent.spent
      from call left join pix_limits own on own.user_id = call.user_id
           left join lateral (
             select t.payee_class, t.phase, sum(t.amount) as spent from pix_transactions t
              where t.user_id = call.user_id and t.operation = 'SEND' and t.status <> 'FAILED'
                and t.created_at >=
                    case when coalesce(${inForce('night_hour', now)}, ${defaultHour}) = 22
                         then ${began22} else ${began20} end
                and t.id is distinct from ${excludedId}
              group by t.payee_class, t.phase) sent on true`,
});

/** Creates the row of a user who has none, and locks it. */
const lock = statement({
  name: 'pix-limits-lock',
  parameters: { userId: 'int', now: 'timestamptz' },
  text: ({ userId, now }) => sql<LimitsRow & EarlierColumn>`
    insert into pix_limits as own (user_id, version) values (${userId}, 1)
        on conflict (user_id) do update set version = own.version + 1
    returning ${selectStored(now)}, own.own_earlier`,
});

const readEarlier = statement({
  name: 'pix-limits-read-earlier',
  parameters: { userId: 'int' },
  text: ({ userId }) => sql<EarlierColumn>`
    select own_earlier from pix_limits where user_id = ${userId}`,
});

interface EarlierColumn {
  readonly own_earlier: readonly EarlierLimits[] | null;
}

/** @returns the own limits that changes have replaced, in the order of their ends. */
export async function findEarlierLimits(
  { db }: Pick<LocalContext, 'db'>,
  userId: number,
): Promise<readonly EarlierLimits[]> {
  const [row] = await db.query(readEarlier, { userId });
  return row?.own_earlier ?? [];
}

const store = statement({
  name: 'pix-limits-store',
  parameters: {
    userId: 'int',
    day: 'numeric null',
    dayNext: 'numeric null',
    dayNextAt: 'timestamptz null',
    night: 'numeric null',
    nightNext: 'numeric null',
    nightNextAt: 'timestamptz null',
    ownDay: 'numeric null',
    ownDayNext: 'numeric null',
    ownDayNextAt: 'timestamptz null',
    ownNight: 'numeric null',
    ownNightNext: 'numeric null',
    ownNightNextAt: 'timestamptz null',
    nightHour: 'int',
    nightHourNext: 'int',
    nightHourNextAt: 'timestamptz null',
    ownByPayee: 'jsonb null',
    ownEarlier: 'jsonb null',
  },
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

/**
 * @param excludedId a send that does not count, because it is the one that is judged.
 * @returns the limits of a user now; those of the settings for a user without a row.
 */
export async function findLimits(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  userId: number,
  excludedId: string | null = null,
): Promise<CurrentLimits> {
  const now = clock.now();
  const began20 = limitPeriod(now, 20).beganAt;
  const began22 = limitPeriod(now, 22).beganAt;
  const rows = await db.query(read, { userId, now, began20, began22, excludedId });
  const [row] = rows;
  if (!row) throw new Error('the limits of a user were not read');
  return { ...toLimits(row, now), version: row.version, spent: toSpent(rows) };
}

function toSpent(rows: readonly SpentColumns[]): Spent {
  const spent = { person: 0, company: 0, own: 0, anyone: 0, unjudged: 0 };
  for (const { payee_class: payeeClass, phase, spent: amount } of rows) {
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
 * towards them have not changed since they were read; this counts as a change, too.
 */
const storeClass = statement({
  name: 'pix-store-payee-class',
  parameters: { id: 'uuid', userId: 'int', payeeClass: 'text', nextVersion: 'int' },
  text: ({ id, userId, payeeClass, nextVersion }) => sql<{
    readonly is_current: boolean;
    readonly is_stored: boolean;
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
      returning t.id
    )
    select exists (select from counted) as is_current, exists (select from stored) as is_stored`,
});

/**
 * Stores who is paid by a send, under the version of the limits that it was judged by.
 * @returns `changed`: the limits must be read again; `moved`: another process has moved the send.
 */
export async function storePayeeClass(
  { db }: Pick<LocalContext, 'db'>,
  send: { readonly id: string; readonly userId: number },
  { payeeClass, version }: { readonly payeeClass: PayeeClass; readonly version: number },
): Promise<'stored' | 'changed' | 'moved'> {
  const { id, userId } = send;
  const [row] = await db.query(storeClass, { id, userId, payeeClass, nextVersion: version + 1 });
  if (row?.is_stored) return 'stored';
  return row?.is_current ? 'moved' : 'changed';
}

/**
 * Changes the limits of a user. It must run in a transaction, which locks the user's row: no send
 * is reserved before the commit, and a send that has read the old limits is run again. Only a send
 * of a user without a row and without a limit of the bank may be reserved beside the first change.
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
  const earlier = row.own_earlier ?? [];
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
  const timed = (column: AmountColumn): Timed<number | null> => ({
    value: toCents(row[column]),
    next: toCents(row[`${column}_next`]),
    nextAt: row[`${column}_next_at`],
  });
  return {
    day: { bank: timed('day'), own: timed('own_day') },
    night: { bank: timed('night'), own: timed('own_night') },
    byPayee: readByPayee(row.own_by_payee, now),
    nightHour: {
      value: row.night_hour,
      next: row.night_hour_next,
      nextAt: row.night_hour_next_at,
    },
  };
}
