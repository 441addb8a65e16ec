/**
 * UUIDs of version 7 (RFC 9562, section 5.7): the first 48 bits are a time in milliseconds since
 * 1970, so that an index of ids is also one of times.
 */
import { randomUUIDv7 } from 'node:crypto';

const maxMs = 2 ** 48 - 1;

/** The highest id. */
export const maxUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * While the clock of the service does not advance, later ids are higher nevertheless: the time of
 * the machine, modulo four hours, precedes the 48 random bits.
 * @returns a new id of a time, as the clock of the service has it.
 */
export function timedUuid(at: Date): string {
  const [high = '', low = '', , , random = ''] = randomUUIDv7().split('-');
  return `${timePart(at)}-7${high.slice(-2)}${low[0]}-8${low.slice(1)}-${random}`;
}

/** @returns the lowest id of a time; no id of an earlier time is higher. */
export function firstUuidAt(at: Date): string {
  return `${timePart(at)}-0000-0000-000000000000`;
}

/** The digits of a time, as the first two groups of a UUID. */
function timePart(at: Date): string {
  const ms = Math.min(Math.max(0, at.getTime()), maxMs);
  const digits = ms.toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}
