/**
 * The limits of users in the database. A change is SQL: it increases the version of the row, which
 * a limited send compares in its own statement.
 */
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';
import { centsFromDecimal, decimalFromCents } from '../domain/money.ts';
import { nightHours, type NightHour, type Timed } from '../domain/spending-limits.ts';

/** The limits of one user, in centavos; null: the default of the settings. */
export interface StoredLimits {
  readonly day: Timed<number | null>;
  readonly night: Timed<number | null>;
  readonly nightHour: Timed<NightHour>;
}

interface LimitsRow {
  readonly day: string | null;
  readonly day_next: string | null;
  readonly day_next_at: Date | null;
  readonly night: string | null;
  readonly night_next: string | null;
  readonly night_next_at: Date | null;
  readonly night_hour: NightHour;
  readonly night_hour_next: NightHour;
  readonly night_hour_next_at: Date | null;
}

const columns =
  'day, day_next, day_next_at, night, night_next, night_next_at, ' +
  'night_hour, night_hour_next, night_hour_next_at';

const find = statement({
  name: 'ops-pix-limits-find',
  parameters: { userId: 'int' },
  text: ({ userId }) => sql<LimitsRow>`select ${columns} from pix_limits where user_id = ${userId}`,
});

/** Creates the row of a user who has none, and locks it. */
const lock = statement({
  name: 'ops-pix-limits-lock',
  parameters: { userId: 'int' },
  text: ({ userId }) => sql<LimitsRow>`
    insert into pix_limits as own (user_id, version) values (${userId}, 1)
        on conflict (user_id) do update set version = own.version + 1
    returning ${columns}`,
});

const store = statement({
  name: 'ops-pix-limits-store',
  parameters: {
    userId: 'int',
    day: 'numeric null',
    dayNext: 'numeric null',
    dayNextAt: 'timestamptz null',
    night: 'numeric null',
    nightNext: 'numeric null',
    nightNextAt: 'timestamptz null',
    nightHour: 'int',
    nightHourNext: 'int',
    nightHourNextAt: 'timestamptz null',
  },
  text: ({
    userId,
    day,
    dayNext,
    dayNextAt,
    night,
    nightNext,
    nightNextAt,
    nightHour,
    nightHourNext,
    nightHourNextAt,
  }) => sql`
    update pix_limits
       set day = ${day}, day_next = ${dayNext}, day_next_at = ${dayNextAt},
           night = ${night}, night_next = ${nightNext}, night_next_at = ${nightNextAt},
           night_hour = ${nightHour}, night_hour_next = ${nightHourNext},
             night_hour_next_at = ${nightHourNextAt}
     where user_id = ${userId}`,
});

const [defaultHour] = nightHours;

/** @returns the limits of a user; those of the settings for a user without a row. */
export async function findLimits(
  { db }: Pick<LocalContext, 'db'>,
  userId: number,
): Promise<StoredLimits> {
  const [row] = await db.query(find, { userId });
  if (row) return toLimits(row);
  const none = { value: null, next: null, nextAt: null };
  const nightHour = { value: defaultHour, next: defaultHour, nextAt: null };
  return { day: none, night: none, nightHour };
}

/**
 * Changes the limits of a user. It must run in a transaction, which locks the user's row: no send
 * is reserved before the commit, and a send that has read the old limits is run again.
 */
export async function changeLimits(
  { db }: Pick<LocalContext, 'db'>,
  userId: number,
  change: (stored: StoredLimits) => StoredLimits,
): Promise<StoredLimits> {
  const [row] = await db.query(lock, { userId });
  if (!row) throw new Error('the limits of a user were not stored');
  const changed = change(toLimits(row));
  const { day, night, nightHour } = changed;
  await db.query(store, {
    userId,
    day: toDecimal(day.value),
    dayNext: toDecimal(day.next),
    dayNextAt: day.nextAt,
    night: toDecimal(night.value),
    nightNext: toDecimal(night.next),
    nightNextAt: night.nextAt,
    nightHour: nightHour.value,
    nightHourNext: nightHour.next,
    nightHourNextAt: nightHour.nextAt,
  });
  return changed;
}

function toDecimal(cents: number | null): string | null {
  return cents === null ? null : decimalFromCents(cents);
}

function toLimits(row: LimitsRow): StoredLimits {
  const cents = (amount: string | null): number | null =>
    amount === null ? null : centsFromDecimal(amount);
  return {
    day: { value: cents(row.day), next: cents(row.day_next), nextAt: row.day_next_at },
    night: { value: cents(row.night), next: cents(row.night_next), nextAt: row.night_next_at },
    nightHour: {
      value: row.night_hour,
      next: row.night_hour_next,
      nextAt: row.night_hour_next_at,
    },
  };
}
