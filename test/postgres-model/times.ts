/**
 * Points in time, as microseconds since 1970, and intervals. All times are in UTC, which the
 * sessions of the service use too.
 */
import { NotModelled, refusal } from './errors.ts';

/** An interval as PostgreSQL stores it: its two parts are not converted into each other. */
export interface Interval {
  readonly days: number;
  readonly us: number;
}

const dayUs = 86_400_000_000;

const units: Readonly<Record<string, Interval>> = {
  millisecond: { days: 0, us: 1_000 },
  second: { days: 0, us: 1_000_000 },
  minute: { days: 0, us: 60_000_000 },
  hour: { days: 0, us: 3_600_000_000 },
  day: { days: 1, us: 0 },
};

/** Reads an interval such as `90 days` or `1 hour 30 minutes`. */
export function intervalFrom(text: string): Interval {
  let sum: Interval = { days: 0, us: 0 };
  const parts = [...text.trim().matchAll(/([+-]?\d+)\s*([a-z]+)\s*/gi)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text.trim()) {
    throw new NotModelled(`the interval "${text}"`);
  }
  for (const [, count = '', word = ''] of parts) {
    const unit = units[word.toLowerCase().replace(/s$/, '')];
    if (!unit) throw new NotModelled(`the unit "${word}"`);
    sum = addIntervals(sum, scaleInterval(unit, Number(count)));
  }
  return sum;
}

/** Adds two intervals part by part. */
export function addIntervals(one: Interval, other: Interval): Interval {
  return {
    days: one.days + other.days,
    us: one.us + other.us,
  };
}

/** Multiplies an interval; a fraction of a day is carried to the smaller part. */
export function scaleInterval(interval: Interval, factor: number): Interval {
  return eachPart(interval, (part) => part * factor);
}

/** Divides an interval; fractions are carried as in `scaleInterval`. */
export function divideInterval(interval: Interval, divisor: number): Interval {
  return eachPart(interval, (part) => part / divisor);
}

function eachPart(interval: Interval, change: (part: number) => number): Interval {
  const days = change(interval.days);
  const partOfDay = days - Math.trunc(days);
  const us = Math.round(change(interval.us) + toMicroseconds(partOfDay * 86_400) * 1_000_000);
  return { days: Math.trunc(days), us };
}

/** Rounds to six decimal places. */
function toMicroseconds(seconds: number): number {
  return Math.round(seconds * 1_000_000) / 1_000_000;
}

/** The interval between two points in time: days, and the rest of a day. */
export function intervalBetween(from: number, until: number): Interval {
  const us = until - from;
  const days = Math.trunc(us / dayUs);
  return { days, us: us - days * dayUs };
}

/** Adds an interval to a point in time; with the sign -1 it subtracts the interval. */
export function shiftTime(at: number, { days, us }: Interval, sign: 1 | -1): number {
  if (!Number.isFinite(at)) return at;
  return at + sign * (days * dayUs + us);
}

/** Compares two intervals. */
export function compareIntervals(one: Interval, other: Interval): number {
  const length = ({ days, us }: Interval): number => days * dayUs + us;
  return length(one) - length(other);
}

const timeForm = new RegExp(
  String.raw`^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.(\d{1,6}))?)?` +
    String.raw`\s*(Z|[+-]\d{2}(?::?\d{2})?)?$`,
);

/** Reads a point in time. */
export function timeFrom(text: string): number {
  if (text === 'infinity') return Infinity;
  if (text === '-infinity') return -Infinity;
  // JavaScript's ISO format, the most frequent one, has a fast path.
  const plainMs = text.length === 24 && text.endsWith('Z') ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(plainMs)) return plainMs * 1_000;
  const [, day, time = '00:00', part = '', zone = 'Z'] = timeForm.exec(text) ?? [];
  const offset =
    zone === 'Z' ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;
  const ms = day === undefined ? Number.NaN : Date.parse(`${day}T${time}${offset}`);
  if (Number.isNaN(ms)) {
    throw refusal(
      'invalid_datetime_format',
      `invalid input syntax for type timestamp with time zone: "${text}"`,
    );
  }
  return ms * 1_000 + Number(part.padEnd(6, '0'));
}

/** A point in time as the server writes it, without the zone. */
export function timeText(at: number): string {
  if (!Number.isFinite(at)) return at > 0 ? 'infinity' : '-infinity';
  const ms = Math.floor(at / 1_000);
  const [day = '', time = ''] = new Date(ms).toISOString().split('T');
  const us = String(at - Math.floor(at / 1_000_000) * 1_000_000).padStart(6, '0');
  const part = us.replace(/0+$/, '');
  return `${day} ${time.slice(0, 8)}${part && `.${part}`}`;
}

/** The supported patterns of `to_char`, longest first. */
const patterns: readonly (readonly [string, (date: Date) => string])[] = [
  ['YYYY', (date) => String(date.getUTCFullYear()).padStart(4, '0')],
  ['HH24', (date) => two(date.getUTCHours())],
  ['MM', (date) => two(date.getUTCMonth() + 1)],
  ['DD', (date) => two(date.getUTCDate())],
  ['MI', (date) => two(date.getUTCMinutes())],
  ['SS', (date) => two(date.getUTCSeconds())],
  ['MS', (date) => String(date.getUTCMilliseconds()).padStart(3, '0')],
];

function two(number: number): string {
  return String(number).padStart(2, '0');
}

/** `to_char` of a point in time. */
export function formatTime(at: number, format: string): string {
  const date = new Date(Math.floor(at / 1_000));
  let text = '';
  for (let place = 0; place < format.length;) {
    const rest = format.slice(place);
    const quoted = /^"([^"]*)"/.exec(rest);
    const [name, write] = patterns.find(([one]) => rest.startsWith(one)) ?? [];
    if (!quoted && !name && /^[A-Za-z]/.test(rest)) throw new NotModelled(`to_char "${format}"`);
    text += quoted?.[1] ?? write?.(date) ?? rest.slice(0, 1);
    place += quoted?.[0].length ?? name?.length ?? 1;
  }
  return text;
}
