/**
 * The limits of users in the database. A change is SQL: it increases the version of the row, which
 * a limited send compares in its own statement.
 */
import type { LocalContext } from '../context/context.ts';
import type { Statement } from '../db/database.ts';
import { centsFromDecimal, decimalFromCents } from '../domain/money.ts';
import { nightHours, type NightHour, type Timed } from '../domain/pix-limits.ts';

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

const find: Statement = {
  name: 'ops-pix-limits-find',
  text: `select ${columns} from pix_limits where user_id = $1`,
};

/** Creates the row of a user who has none, and locks it. */
const lock: Statement = {
  name: 'ops-pix-limits-lock',
  text: `
    insert into pix_limits as own (user_id, version) values ($1, 1)
        on conflict (user_id) do update set version = own.version + 1
    returning ${columns}`,
};

const store: Statement = {
  name: 'ops-pix-limits-store',
  text: `
    update pix_limits
       set day = $2, day_next = $3, day_next_at = $4,
           night = $5, night_next = $6, night_next_at = $7,
           night_hour = $8, night_hour_next = $9, night_hour_next_at = $10
     where user_id = $1`,
};

const [defaultHour] = nightHours;

/** @returns the limits of a user; those of the settings for a user without a row. */
export async function findLimits(
  { db }: Pick<LocalContext, 'db'>,
  userId: number,
): Promise<StoredLimits> {
  const [row] = await db.query<LimitsRow>(find, [userId]);
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
  const [row] = await db.query<LimitsRow>(lock, [userId]);
  if (!row) throw new Error('the limits of a user were not stored');
  const changed = change(toLimits(row));
  const { day, night, nightHour } = changed;
  await db.query(store, [
    userId,
    toDecimal(day.value),
    toDecimal(day.next),
    day.nextAt,
    toDecimal(night.value),
    toDecimal(night.next),
    night.nextAt,
    nightHour.value,
    nightHour.next,
    nightHour.nextAt,
  ]);
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
