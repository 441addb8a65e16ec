/**
 * The limits of users in the database, and the rule which limit applies: the customer's own, at
 * most the one that the bank allows, a default of the settings unless an operator has set one.
 * The rule is SQL, because a reservation applies it in its own statement. A change increases the
 * version of the row, which a limited send compares.
 */
import type { Config } from '../config/config.ts';
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';
import { centsFromDecimal, decimalFromCents } from '../domain/money.ts';
import { limitPeriod, nightHours, type NightHour, type Timed } from '../domain/spending-limits.ts';

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
      select call.ordinal, own.version,
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
      select call.*, period.version, period.night_hour, period.day_limit, period.night_limit,
             period.limit_amount, sent.spent
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
  readonly nightHour: Timed<NightHour>;
}

/** The limits of one user, with what applies now. */
export interface CurrentLimits extends StoredLimits {
  /** In centavos; null: no limit. */
  readonly dayCents: number | null;
  readonly nightCents: number | null;
  /** What counts in the period that it is now, in centavos; 0 where it has no limit. */
  readonly spentCents: number;
}

type AmountColumn = Exclude<TimedColumn, 'night_hour'>;

interface AppliedColumns {
  readonly day_limit: string | null;
  readonly night_limit: string | null;
  readonly spent: string;
}

type LimitsRow = Readonly<Record<AmountColumn | `${AmountColumn}_next`, string | null>> & {
  readonly [Column in TimedColumn as `${Column}_next_at`]: Date | null;
} & { readonly night_hour: NightHour; readonly night_hour_next: NightHour };

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
  ].join(`,
             `);
}

const read = statement({
  name: 'pix-limits-read',
  parameters: { userId: 'int', now: 'timestamptz', ...limitTypes },
  text: ({ userId, now, day, night, isNight20, began20, isNight22, began22 }) => sql<
    LimitsRow & AppliedColumns
  >`
    with call as (
      select 1 as ordinal, ${userId} as user_id, ${now} as now, ${day} as day, ${night} as night,
             ${isNight20} as is_night_20, ${began20} as began_20, ${isNight22} as is_night_22,
             ${began22} as began_22
    ), ${spendingCtes('call')}
    select spending.day_limit, spending.night_limit, spending.spent,
             ${selectStored('spending.now')}
      from spending left join pix_limits own on own.user_id = spending.user_id`,
});

/** Creates the row of a user who has none, and locks it. */
const lock = statement({
  name: 'pix-limits-lock',
  parameters: { userId: 'int', now: 'timestamptz' },
  text: ({ userId, now }) => sql<LimitsRow>`
    insert into pix_limits as own (user_id, version) values (${userId}, 1)
        on conflict (user_id) do update set version = own.version + 1
    returning ${selectStored(now)}`,
});

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
             night_hour_next_at = ${value.nightHourNextAt}
     where user_id = ${value.userId}`,
});

/** @returns the limits of a user now; those of the settings for a user without a row. */
export async function findLimits(
  { db, clock, config }: Pick<LocalContext, 'db' | 'clock' | 'config'>,
  userId: number,
): Promise<CurrentLimits> {
  const now = clock.now();
  const [row] = await db.query(read, { userId, now, ...limitParameters(config, now) });
  if (!row) throw new Error('the limits of a user were not read');
  return {
    ...toLimits(row),
    dayCents: toCents(row.day_limit),
    nightCents: toCents(row.night_limit),
    spentCents: toCents(row.spent) ?? 0,
  };
}

/**
 * Changes the limits of a user. It must run in a transaction, which locks the user's row: no send
 * is reserved before the commit, and a send that has read the old limits is run again. Only a send
 * of a user without a row and without a limit of the bank may be reserved beside the first change.
 * @param change returns what it gets where nothing changes.
 * @returns whether the limits were changed.
 */
export async function changeLimits(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  userId: number,
  change: (limits: StoredLimits) => StoredLimits,
): Promise<boolean> {
  const [row] = await db.query(lock, { userId, now: clock.now() });
  if (!row) throw new Error('the limits of a user were not stored');
  const before = toLimits(row);
  const changed = change(before);
  if (JSON.stringify(changed) === JSON.stringify(before)) return false;
  const { day, night, nightHour } = changed;
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
  });
  return true;
}

function toDecimal(cents: number | null): string | null {
  return cents === null ? null : decimalFromCents(cents);
}

function toCents(amount: string | null): number | null {
  return amount === null ? null : centsFromDecimal(amount);
}

function toLimits(row: LimitsRow): StoredLimits {
  const timed = (column: AmountColumn): Timed<number | null> => ({
    value: toCents(row[column]),
    next: toCents(row[`${column}_next`]),
    nextAt: row[`${column}_next_at`],
  });
  return {
    day: { bank: timed('day'), own: timed('own_day') },
    night: { bank: timed('night'), own: timed('own_night') },
    nightHour: {
      value: row.night_hour,
      next: row.night_hour_next,
      nextAt: row.night_hour_next_at,
    },
  };
}
