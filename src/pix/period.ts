/** The days that a request asks for, in whole days of São Paulo. */
import { dayRange, firstYear, lastYear, type DayError, type DayRange } from '../domain/calendar.ts';
import { AppError, type Text } from '../errors.ts';

const rangeErrors: Readonly<Record<DayError['rule'], Text>> = {
  invalid_date: {
    en: 'Must be a day that exists, written as yyyy-mm-dd.',
    pt: 'Deve ser um dia existente, no formato aaaa-mm-dd.',
  },
  out_of_range: {
    en: `Must be a day of the years ${firstYear} to ${lastYear}.`,
    pt: `Deve ser um dia dos anos de ${firstYear} a ${lastYear}.`,
  },
  after_end: {
    en: 'The first day must not be after the last one.',
    pt: 'O primeiro dia não pode ser depois do último.',
  },
  too_long: {
    en: 'The period must not be longer than 366 days.',
    pt: 'O período não pode passar de 366 dias.',
  },
};

/** The query parameters of a period; null for an invalid one. */
export interface RequestedDays {
  readonly start_date?: string | null | undefined;
  readonly end_date?: string | null | undefined;
}

/** No date, whose error `dayRange` reports. */
const noDate = '';

/**
 * Reads a period; `dayRange` has its rules and defaults.
 * @throws AppError VALIDATION_FAILED with the errors of both days.
 */
export function readPeriod(
  { start_date: start, end_date: end }: RequestedDays,
  now: Date,
): DayRange {
  const range = dayRange(start === null ? noDate : start, end === null ? noDate : end, now);
  if (!('errors' in range)) return range;
  const fields = range.errors.map(({ field, rule }) => [field, [rangeErrors[rule]]] as const);
  throw new AppError('VALIDATION_FAILED', { fields: Object.fromEntries(fields) });
}
