const zoneName = 'America/Sao_Paulo';

/** A whole leap year, both ends included. */
const maxDays = 366;

/** The length of the range without a start, both ends included. */
const defaultDays = 30;

/** `yyyy-MM-dd`: Temporal accepts more formats than the contract. */
const dayPattern = /^\d{4}-\d{2}-\d{2}$/;

/** Dates outside these years are refused as mistakes. */
export const firstYear = 1970;
export const lastYear = 2100;

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
 * Why a range is invalid, and the field to report: `invalid_date` (not `yyyy-MM-dd`, or no such
 * day), `out_of_range` (before 1970 or after 2100), `after_end` (start after end), `too_long` (over
 * 366 days, both ends included).
 */
export interface DayError {
  readonly field: 'start_date' | 'end_date';
  readonly rule: 'invalid_date' | 'out_of_range' | 'after_end' | 'too_long';
}

/** The errors of an invalid range, at least one. */
export interface DayErrors {
  readonly errors: readonly DayError[];
}

/**
 * Converts the days of a statement to instants. Both days are included.
 *
 * The end defaults to today in America/Sao_Paulo, the start to 29 days before the end, so that the
 * default range is today and the 29 days before it. A day on which daylight saving time began at
 * midnight starts at 01:00.
 *
 * @param startDate `yyyy-MM-dd`, or undefined.
 * @param endDate `yyyy-MM-dd`, or undefined; it may be in the future.
 * @param now the present instant.
 * @returns the range, or its errors, distinguished by `'errors' in result`. Each invalid date has
 *   an error; a range that is reversed or too long is an error of `start_date`.
 */
export function dayRange(
  startDate: string | undefined,
  endDate: string | undefined,
  now: Date,
): DayRange | DayErrors {
  const end = endDate === undefined ? today(now) : parseDay(endDate);
  const start =
    startDate === undefined
      ? (end?.subtract({ days: defaultDays - 1 }) ?? null)
      : parseDay(startDate);
  // A default start has no error of its own.
  const errors = startDate === undefined ? [] : dayErrors('start_date', start);
  errors.push(...dayErrors('end_date', end));
  if (start === null || end === null || errors.length > 0) return { errors };
  const days = start.until(end, { largestUnit: 'day' }).days + 1;
  if (days < 1) return { errors: [{ field: 'start_date', rule: 'after_end' }] };
  if (days > maxDays) return { errors: [{ field: 'start_date', rule: 'too_long' }] };
  return {
    start: start.toString(),
    end: end.toString(),
    fromInclusive: startOfDay(start),
    toExclusive: startOfDay(end.add({ days: 1 })),
  };
}

/**
 * Converts days that were checked before.
 * @throws RangeError for days that {@link dayRange} refuses.
 */
export function checkedRange(first: string, last: string, now: Date): DayRange {
  const range = dayRange(first, last, now);
  if ('errors' in range) throw new RangeError(`no days: ${first} to ${last}`);
  return range;
}

/** @returns the day, `yyyy-MM-dd`, that an instant falls on in America/Sao_Paulo. */
export function calendarDay(instant: Date): string {
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

/** @param day null for an invalid date. */
function dayErrors(field: DayError['field'], day: Temporal.PlainDate | null): DayError[] {
  if (day === null) return [{ field, rule: 'invalid_date' }];
  const isOutside = day.year < firstYear || day.year > lastYear;
  return isOutside ? [{ field, rule: 'out_of_range' }] : [];
}

function today(now: Date): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(now.getTime())
    .toZonedDateTimeISO(zoneName)
    .toPlainDate();
}

function parseDay(text: string): Temporal.PlainDate | null {
  if (!dayPattern.test(text)) return null;
  try {
    return Temporal.PlainDate.from(text);
  } catch {
    // Temporal throws for a day that does not exist, such as 30 February.
    return null;
  }
}

/** Without a time, Temporal returns the first instant of the day, even if that is not 00:00. */
function startOfDay(day: Temporal.PlainDate): Date {
  return new Date(day.toZonedDateTime(zoneName).epochMilliseconds);
}
