/**
 * The periods of the limits on sends: day and night in São Paulo. The night ends at 6 and begins at
 * 20, or at 22 if the user has chosen so (BCB, Resolução 1/2020, article 37; Instrução Normativa
 * 512/2024, which 669/2025 changes).
 */
import { apartClasses, type ApartClass } from './payee-limits.ts';

const zoneName = 'America/Sao_Paulo';

/** The hours at which a night may begin; the first is the default. */
export const nightHours = [20, 22] as const;

export type NightHour = (typeof nightHours)[number];

const morningHour = 6;

/**
 * How long a raise of a limit waits, in milliseconds; a reduction applies at once. The rule is 24
 * to 48 hours (BCB, Resolução 142/2021). The shortest wait that it allows is long enough for a
 * person to notice a raise that a thief has requested, and no raise is late.
 */
const raiseDelayMs = 24 * 60 * 60_000;

/** The period of an instant. */
export interface LimitPeriod {
  readonly isNight: boolean;
  readonly beganAt: Date;
  /** The hour at which it ends, in São Paulo. */
  readonly endHour: number;
  /** When the next day and the next night begin. */
  readonly nextDayAt: Date;
  readonly nextNightAt: Date;
}

/**
 * The latest period of each hour of the night, which lasts for hours. The calendar takes 15 µs to
 * find one, and a send needs it three times: with it, a send would take a quarter more CPU.
 */
const latest = new Map<NightHour, LimitPeriod>();

/**
 * @param nightHour the hour at which the user's night begins.
 * @returns the period that the instant falls in. Hours are those of the clock in São Paulo, also on
 *   a day that has 23 or 25 of them.
 */
export function limitPeriod(instant: Date, nightHour: NightHour): LimitPeriod {
  const known = latest.get(nightHour);
  if (known && contains(known, instant)) return known;
  const period = findPeriod(instant, nightHour);
  latest.set(nightHour, period);
  return period;
}

function contains({ isNight, beganAt, nextDayAt, nextNightAt }: LimitPeriod, instant: Date) {
  return instant >= beganAt && instant < (isNight ? nextDayAt : nextNightAt);
}

function findPeriod(instant: Date, nightHour: NightHour): LimitPeriod {
  const local = Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(
    zoneName,
  );
  const at = (days: number, hour: number): Date =>
    new Date(
      local
        .toPlainDate()
        .add({ days })
        .toZonedDateTime({
          timeZone: zoneName,
          plainTime: new Temporal.PlainTime(hour),
        }).epochMilliseconds,
    );
  if (local.hour < morningHour) {
    const next = { nextDayAt: at(0, morningHour), nextNightAt: at(0, nightHour) };
    return { isNight: true, beganAt: at(-1, nightHour), endHour: morningHour, ...next };
  }
  const next = { nextDayAt: at(1, morningHour) };
  if (local.hour < nightHour) {
    const began = { isNight: false, beganAt: at(0, morningHour), endHour: nightHour };
    return { ...began, ...next, nextNightAt: at(0, nightHour) };
  }
  const began = { isNight: true, beganAt: at(0, nightHour), endHour: morningHour };
  return { ...began, ...next, nextNightAt: at(1, nightHour) };
}

/** A value in force, and the one that replaces it later. */
export interface Timed<Value> {
  readonly value: Value;
  readonly next: Value;
  /** When `next` replaces `value`, in the future; null: never. */
  readonly nextAt: Date | null;
}

/**
 * Changes a limit: less applies at once, more after 24 hours. A change replaces an earlier one that
 * still waits; a repeat of the change that waits does not delay it.
 * @param limit as it is in force at `now`.
 * @param wanted in centavos; null: the default.
 * @param defaultCents null: no limit.
 */
export function changeLimit(
  limit: Timed<number | null>,
  wanted: number | null,
  { now, defaultCents }: { readonly now: Date; readonly defaultCents: number | null },
): Timed<number | null> {
  const cents = (one: number | null): number => one ?? defaultCents ?? Infinity;
  if (cents(wanted) <= cents(limit.value)) return { value: wanted, next: null, nextAt: null };
  return replaceLater(limit, wanted, now);
}

/** What a customer has set for one class of payees in one period, in centavos; null: nothing. */
export interface ClassLimit extends Timed<number | null> {
  /** Until then, sends to the class count towards the customer's shared limit, too; null: not. */
  readonly sharedUntil: Date | null;
}

/** The periods that have limits. */
export type PeriodName = 'day' | 'night';

/** What there is for each class that may be apart, in each period. */
type ByPayee<Limit> = Readonly<Record<ApartClass, Readonly<Record<PeriodName, Limit>>>>;

/** What a customer has set for each class that may be apart. */
export type LimitsByPayee = ByPayee<ClassLimit>;

/** The same as JSON, in which a time is a text. */
export type StoredByPayee = ByPayee<
  Pick<ClassLimit, 'value' | 'next'> & Readonly<Record<'nextAt' | 'sharedUntil', string | null>>
>;

/**
 * @param stored null: nothing.
 * @returns what is in force at a time: what is due has replaced the value.
 */
export function readByPayee(stored: StoredByPayee | null, now: Date): LimitsByPayee {
  const later = (time: string | null): Date | null => {
    const date = time === null ? null : new Date(time);
    return date !== null && date > now ? date : null;
  };
  const read = (kind: ApartClass, period: PeriodName): ClassLimit => {
    const limit = stored?.[kind][period];
    if (!limit) return { value: null, next: null, nextAt: null, sharedUntil: null };
    const nextAt = later(limit.nextAt);
    const isDue = nextAt === null && limit.nextAt !== null;
    return {
      value: isDue ? limit.next : limit.value,
      next: nextAt === null ? null : limit.next,
      nextAt,
      sharedUntil: later(limit.sharedUntil),
    };
  };
  const ofClass = (kind: ApartClass) => ({ day: read(kind, 'day'), night: read(kind, 'night') });
  return { company: ofClass('company'), own: ofClass('own') };
}

/** @returns the JSON of what a customer has set by payee; null: nothing is set, nothing waits. */
export function writeByPayee(limits: LimitsByPayee): string | null {
  const all = apartClasses.flatMap((one) => [limits[one].day, limits[one].night]);
  const isUnset = all.every(({ value, nextAt }) => value === null && nextAt === null);
  return isUnset ? null : JSON.stringify(limits);
}

/**
 * Changes what a customer has set for a class of payees, as `changeLimit` does. A class that gets a
 * limit of its own leaves the sum of the customer's shared limit, which allows more in all: so it
 * leaves it after 24 hours, while the lower amount applies at once.
 * @param limit as it is in force at `now`.
 * @param wanted in centavos; null: the shared limit covers the class again.
 * @param options `sharedCents` is the customer's shared limit, and null: there is none;
 *   `maximumCents` is what the bank allows, and null: no limit.
 */
export function changeClassLimit(
  limit: ClassLimit,
  wanted: number | null,
  { now, sharedCents, maximumCents }: ClassLimitFacts,
): ClassLimit {
  const defaultCents = sharedCents ?? maximumCents;
  const changed = changeLimit(limit, wanted, { now, defaultCents });
  if (changed.value === null) return { ...changed, sharedUntil: null };
  if (limit.value !== null) return { ...changed, sharedUntil: limit.sharedUntil };
  const sharedUntil = sharedCents === null ? null : new Date(now.getTime() + raiseDelayMs);
  return { ...changed, sharedUntil };
}

interface ClassLimitFacts {
  readonly now: Date;
  readonly sharedCents: number | null;
  readonly maximumCents: number | null;
}

/** Changes the hour of the night, after 24 hours: either hour may be the one that allows more. */
export function changeNightHour(
  hour: Timed<NightHour>,
  wanted: NightHour,
  now: Date,
): Timed<NightHour> {
  if (hour.value === wanted) return { value: wanted, next: wanted, nextAt: null };
  return replaceLater(hour, wanted, now);
}

function replaceLater<Value>(timed: Timed<Value>, wanted: Value, now: Date): Timed<Value> {
  if (timed.nextAt !== null && timed.next === wanted) return timed;
  return { ...timed, next: wanted, nextAt: new Date(now.getTime() + raiseDelayMs) };
}
