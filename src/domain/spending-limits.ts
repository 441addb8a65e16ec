/**
 * The periods of the limits on sends: day and night in São Paulo. The night ends at 6 and begins at
 * 20, or at 22 if the user has chosen so (BCB, Resolução 1/2020, article 37).
 */
const zoneName = 'America/Sao_Paulo';

/** The hours at which a night may begin; the first is the default. */
export const nightHours = [20, 22] as const;

export type NightHour = (typeof nightHours)[number];

const morningHour = 6;

/** How long a raise of a limit waits, in milliseconds; a reduction applies at once. */
const raiseDelayMs = 24 * 60 * 60_000;

/** The period of an instant. */
export interface LimitPeriod {
  readonly isNight: boolean;
  readonly beganAt: Date;
  /** The hour at which it ends, in São Paulo. */
  readonly endHour: number;
}

/**
 * @param nightHour the hour at which the user's night begins.
 * @returns the period that the instant falls in. Hours are those of the clock in São Paulo, also on
 *   a day that has 23 or 25 of them.
 */
export function limitPeriod(instant: Date, nightHour: NightHour): LimitPeriod {
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
    return { isNight: true, beganAt: at(-1, nightHour), endHour: morningHour };
  }
  if (local.hour < nightHour) {
    return { isNight: false, beganAt: at(0, morningHour), endHour: nightHour };
  }
  return { isNight: true, beganAt: at(0, nightHour), endHour: morningHour };
}

/** A value that may be replaced by another at a later time. */
export interface Timed<Value> {
  readonly value: Value;
  readonly next: Value;
  /** When `next` replaces `value`; null: never. */
  readonly nextAt: Date | null;
}

/** @returns the value that applies at an instant. */
export function timedValue<Value>({ value, next, nextAt }: Timed<Value>, now: Date): Value {
  return nextAt !== null && nextAt <= now ? next : value;
}

/**
 * Changes a limit: less applies at once, more after 24 hours. A change replaces an earlier one that
 * still waits.
 * @param wanted in centavos; null: the default.
 * @param defaultCents null: no limit.
 */
export function changeLimit(
  limit: Timed<number | null>,
  wanted: number | null,
  { now, defaultCents }: { readonly now: Date; readonly defaultCents: number | null },
): Timed<number | null> {
  const value = timedValue(limit, now);
  const cents = (one: number | null): number => one ?? defaultCents ?? Infinity;
  if (cents(wanted) <= cents(value)) return { value: wanted, next: null, nextAt: null };
  return { value, next: wanted, nextAt: new Date(now.getTime() + raiseDelayMs) };
}

/** Changes the hour of the night, after 24 hours: either hour may be the one that allows more. */
export function changeNightHour(
  hour: Timed<NightHour>,
  wanted: NightHour,
  now: Date,
): Timed<NightHour> {
  const value = timedValue(hour, now);
  if (value === wanted) return { value, next: value, nextAt: null };
  return { value, next: wanted, nextAt: new Date(now.getTime() + raiseDelayMs) };
}
