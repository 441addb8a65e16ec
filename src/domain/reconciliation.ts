/** The words of reconciliation: the provider's statement against what is stored. */
import { calendarDay, shiftDay } from './calendar.ts';

/**
 * How a statement and what is stored differ. `MISSING_HERE`: a line without its transaction.
 * `MISSING_THERE`: a transaction without its line. `UNPROVEN`: a line that proves nothing, or that
 * contradicts what is stored in another way.
 */
export const differenceKinds = [
  'MISSING_HERE',
  'MISSING_THERE',
  'DIFFERENT_AMOUNT',
  'OTHER_STATUS',
  'UNPROVEN',
] as const;

export type DifferenceKind = (typeof differenceKinds)[number];

/** Why the statement of a user and day was not read; `MISSED`: no run has attempted it in time. */
export const unreadBecause = [
  'NO_SESSION',
  'TOKEN_REFUSED',
  'NOT_WHOLE',
  'UNAVAILABLE',
  'MISSED',
] as const;

export type UnreadBecause = (typeof unreadBecause)[number];

/** How a difference was closed: the next run has not found it, or an operator has accepted it. */
export const closures = ['EXPLAINED', 'ACCEPTED'] as const;

/** The orders that a difference blocks: it may be the payment of a lost one. */
export const blockedOrders = ['SEND', 'REFUND_OUT', 'ANY'] as const;

export type BlockedOrders = (typeof blockedOrders)[number];

const hourMs = 60 * 60_000;

/**
 * How long after its end a day may be reconciled, in ms: the provider has its last lines by then.
 */
const afterMidnightMs = hourMs;

/** @returns the last day that may be reconciled, `yyyy-mm-dd`. */
export function lastClosedDay(now: Date): string {
  return shiftDay(calendarDay(new Date(now.getTime() - afterMidnightMs)), -1);
}

/** `E` or `D`, an ISPB, `yyyyMMddHHmm` in UTC, eleven characters. There is no year 0. */
const spiId = /^[ED][0-9A-Z]{8}(?!0000)(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})[0-9A-Za-z]{11}$/;

/**
 * Reads the time of an end-to-end id or of a return id, to the minute: the instant payment system
 * (SPI) refuses a payment that differs from it by over twelve hours.
 * @returns null for another text.
 */
export function timeOfSpiId(id: string | null): Date | null {
  const [, year, month, day, hour, minute] = spiId.exec(id ?? '') ?? [];
  if (year === undefined) return null;
  const at = new Date(`${year}-${month}-${day}T${hour}:${minute}:00Z`);
  return Number.isNaN(at.getTime()) ? null : at;
}
