/**
 * The periods of the limits on sends: day and night in São Paulo. The night ends at 6 and begins at
 * 20, or at 22 if the user has chosen so (BCB, Resolução 1/2020, article 37).
 */
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
