const TIME_ZONE = 'America/Sao_Paulo';

/** A whole leap year, both ends included. */
const MAX_DAYS = 366;

/** The range when the start is not given, both ends included. */
const DEFAULT_DAYS = 30;

/** `yyyy-MM-dd`: Temporal reads more forms than the contract's. */
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A date outside of these years is a mistake; the provider may have no such day. */
export const FIRST_YEAR = 1970;
export const LAST_YEAR = 2100;

/** Whole days in America/Sao_Paulo, and the instants that bound them. */
export interface DayRange {
  /** The first day, `yyyy-MM-dd`. */
  readonly start: string;
  /** The last day, `yyyy-MM-dd`, included. */
  readonly end: string;
  /** The instant at which the first day begins. */
  readonly fromInclusive: Date;
  /** The instant at which the day after the last begins. */
  readonly toExclusive: Date;
}

/**
 * Why a range is refused, and the field to name: `invalid_date` (not `yyyy-MM-dd`, or no such day),
 * `out_of_range` (before 1970 or after 2100), `after_end` (start after end), `too_long` (over 366
 * days, both ends included).
 */
export interface DayFault {
  readonly field: 'start_date' | 'end_date';
  readonly rule: 'invalid_date' | 'out_of_range' | 'after_end' | 'too_long';
}

/** Every fault of a refused range, at least one. */
export interface DayFaults {
  readonly faults: readonly DayFault[];
}

/**
 * Turns the days of a statement into instants. Both days are included.
 *
 * The end defaults to today in America/Sao_Paulo, the start to 29 days before the end: without
 * either, the range is the last 30 days, that is today and the 29 days before it. A day need not
 * have 24 hours: where daylight saving began at midnight, it begins at 01:00.
 *
 * @param startDate `yyyy-MM-dd`, or undefined.
 * @param endDate `yyyy-MM-dd`, or undefined; it may lie in the future.
 * @param now the present instant.
 * @returns the range, or its faults: tell them apart with `'faults' in result`. Both dates are
 *   named when neither exists; a range that is reversed or too long is a fault of `start_date`.
 */
export function dayRange(
  startDate: string | undefined,
  endDate: string | undefined,
  now: Date,
): DayRange | DayFaults {
  const end = endDate === undefined ? today(now) : parseDay(endDate);
  const start =
    startDate === undefined ? end?.subtract({ days: DEFAULT_DAYS - 1 }) : parseDay(startDate);
  if (end === null || start === null || start === undefined) return invalidDates(start, end);
  const outside: DayFault[] = [];
  // A start that was not given is not at fault.
  if (startDate !== undefined && isOutside(start)) {
    outside.push({ field: 'start_date', rule: 'out_of_range' });
  }
  if (isOutside(end)) outside.push({ field: 'end_date', rule: 'out_of_range' });
  if (outside.length > 0) return { faults: outside };
  const days = start.until(end, { largestUnit: 'day' }).days + 1;
  if (days < 1) return { faults: [{ field: 'start_date', rule: 'after_end' }] };
  if (days > MAX_DAYS) return { faults: [{ field: 'start_date', rule: 'too_long' }] };
  return {
    start: start.toString(),
    end: end.toString(),
    fromInclusive: startOfDay(start),
    toExclusive: startOfDay(end.add({ days: 1 })),
  };
}

/** @returns the day, `yyyy-MM-dd`, that an instant falls on in America/Sao_Paulo. */
export function dayOf(instant: Date): string {
  return today(instant).toString();
}

/**
 * @param day `yyyy-MM-dd`.
 * @param days how many days later; a negative number is earlier.
 * @returns the other day, `yyyy-MM-dd`.
 */
export function shiftDay(day: string, days: number): string {
  return Temporal.PlainDate.from(day).add({ days }).toString();
}

/** A null day was given and is invalid; an undefined start depends on an invalid end. */
function invalidDates(
  start: Temporal.PlainDate | null | undefined,
  end: Temporal.PlainDate | null,
): DayFaults {
  const faults: DayFault[] = [];
  if (start === null) faults.push({ field: 'start_date', rule: 'invalid_date' });
  if (end === null) faults.push({ field: 'end_date', rule: 'invalid_date' });
  return { faults };
}

function isOutside({ year }: Temporal.PlainDate): boolean {
  return year < FIRST_YEAR || year > LAST_YEAR;
}

function today(now: Date): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(now.getTime())
    .toZonedDateTimeISO(TIME_ZONE)
    .toPlainDate();
}

function parseDay(text: string): Temporal.PlainDate | null {
  if (!DAY.test(text)) return null;
  try {
    return Temporal.PlainDate.from(text);
  } catch {
    // Temporal has no other way to say that 30 February does not exist.
    return null;
  }
}

/** Without a time, Temporal gives the first instant of the day, whatever the clocks did. */
function startOfDay(day: Temporal.PlainDate): Date {
  return new Date(day.toZonedDateTime(TIME_ZONE).epochMilliseconds);
}
