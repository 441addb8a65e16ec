/** Reads times in the forms that banks write. */

const isoTime =
  /^(\d{4})[-/.](\d{2})[-/.](\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s*(Z|[+-].+)?)?$/i;
const compactTime =
  /^(20\d{2})(0[1-9]|1[0-2])([0-2]\d|3[01])(?:T?(\d{2})(\d{2})(\d{2})?(?:\d{3})?(Z)?)?$/i;
const brazilianTime = /^(\d{2})([/.-])(\d{2})\2(\d{4}|\d{2})(?:[ T,]+(\d{1,2}:\d{2}(?::\d{2})?))?$/;
/** RFC 9110, section 5.6.7, as of an HTTP date; RFC 5322 has an offset. */
const internetTime =
  /^(?:[a-z]{3}, )?\d{1,2} [a-z]{3} \d{4}(?: \d{2}:\d{2}(?::\d{2})? (?:GMT|UTC|[+-]\d{4}))?$/i;

/** The offset of São Paulo, where a time says none. */
const brasilia = '-03:00';

/** The units of times as numbers, by the time in 2001 in each: nanoseconds to seconds. */
const units = [
  { least: 1e18, perMs: 1e6 },
  { least: 1e15, perMs: 1e3 },
  { least: 1e12, perMs: 1 },
  { least: 1e9, perMs: 1e-3 },
] as const;

/** @returns milliseconds since 1970; -Infinity for a value that is no time. */
export function readTimeMs(value: unknown): number {
  const text = textOf(value);
  const number = /^\d{10,19}(?:\.\d+)?$/.test(text) ? Number(text) : 0;
  const unit = compactTime.test(text) ? undefined : units.find(({ least }) => number >= least);
  if (unit) return number / unit.perMs;
  const read = writtenForms(text).map((form) => Date.parse(form));
  return read.find((ms) => !Number.isNaN(ms)) ?? Number.NEGATIVE_INFINITY;
}

/** Jackson writes a local time as a list: year, month, day, hour. */
function textOf(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') {
    return String(value).trim().slice(0, 40);
  }
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'number')) return '';
  const [year, month, day, hour = '00'] = value.map((one) => String(one).padStart(2, '0'));
  return `${year}-${month}-${day}T${hour}:00`;
}

/**
 * The forms of a text in ISO 8601, the likeliest first; a date is its first moment. Some write the
 * month first.
 */
function writtenForms(text: string): string[] {
  if (internetTime.test(text)) return [text];
  const iso = isoTime.exec(text);
  if (iso) {
    const [, year, month, day, time = '00:00', offset = brasilia] = iso;
    // Some write the hours of an offset only.
    const whole = offset.toUpperCase().replace(/^...$/, '$&:00');
    return [`${year}-${month}-${day}T${time}${whole}`];
  }
  const compact = compactTime.exec(text);
  if (compact) {
    const [, year, month, day, hour = '00', minute = '00', seconds = '00', zone = brasilia] =
      compact;
    return [`${year}-${month}-${day}T${hour}:${minute}:${seconds}${zone.toUpperCase()}`];
  }
  const [, first, separator, second, written = '', clock = '00:00'] =
    brazilianTime.exec(text) ?? [];
  // `10.11.35` is a time of day.
  if (first === undefined || (written.length === 2 && separator !== '/')) return [];
  const date = (month?: string, day?: string): string =>
    `${written.padStart(4, '20')}-${month}-${day}T${clock.replace(/^\d:/, '0$&')}${brasilia}`;
  return [date(second, first), date(first, second)];
}
