/**
 * Times as customers read them, in the provider's zone, in which the statement counts its days; and
 * as operators do, in UTC.
 */

const options = {
  timeZone: 'America/Sao_Paulo',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
} as const;

const format = new Intl.DateTimeFormat('en-GB', options);

/** @returns the parts of an ISO 8601 text, or null when it is none. */
function partsOf(iso: string): Partial<Record<string, string>> | null {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return null;
  return Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, value]));
}

/** A time in a list, such as `21/11 03:49`. */
export function shortMoment(iso: string): string {
  const parts = partsOf(iso);
  if (!parts) return iso;
  return `${parts['day']}/${parts['month']} ${parts['hour']}:${parts['minute']}`;
}

/** A time in full, such as `2026-11-21 03:49:13`. */
export function longMoment(iso: string): string {
  const parts = partsOf(iso);
  if (!parts) return iso;
  const { year, month, day, hour, minute, second } = parts;
  return `${year}-${month}-${day} ${hour}:${minute}:${second}`;
}

/** A time as the command line and the log tell it: UTC, such as `2026-11-21 03:49:13Z`. */
export function utcMoment(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  const text = date.toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, 19)}Z`;
}

/** The same in a list, such as `11-21 03:49Z`. */
export function shortUtcMoment(iso: string): string {
  const text = utcMoment(iso);
  return text === iso ? iso : `${text.slice(5, 16)}Z`;
}
