/** The limits of sends: parameters and result of the reserving statement, and the refusal. */
import type { Config } from '../config/config.ts';
import {
  centsFromDecimal,
  decimalFromCents,
  formatReais,
  numberFromCents,
} from '../domain/money.ts';
import { limitPeriod, type LimitPeriod, type NightHour } from '../domain/spending-limits.ts';
import { AppError, type Text } from '../errors.ts';

type Limits = Pick<Config, 'pixLimits'>;

/** Whether the bank has set a limit. */
export function limitsAreOn({ pixLimits: { day, night } }: Limits): boolean {
  return day !== null || night !== null;
}

/** The columns of a limited reservation: the limit that applies, and the sum of its period. */
export interface LimitColumns {
  /** False: another send of the user was reserved after the statement began. */
  readonly is_counted: boolean;
  readonly night_hour: NightHour;
  /** Null: no limit in this period. */
  readonly limit_amount: string | null;
  readonly spent: string;
}

/** The amount that the user's limit still allows. */
export interface SpendingLimit {
  /** False: the sum was out of date, and nothing was reserved for that reason. */
  readonly isCurrent: boolean;
  readonly period: LimitPeriod;
  /** What is left of the limit before this send, in centavos, at least 0; null: no limit. */
  readonly leftCents: number | null;
}

/** @returns the parameters that only the limited reservation has. */
export function limitParameters({ pixLimits }: Limits, now: Date) {
  const [from20, from22] = [limitPeriod(now, 20), limitPeriod(now, 22)];
  return {
    day: toDecimal(pixLimits.day),
    night: toDecimal(pixLimits.night),
    isNight20: from20.isNight,
    began20: from20.beganAt,
    isNight22: from22.isNight,
    began22: from22.beganAt,
  };
}

function toDecimal(cents: number | null): string | null {
  return cents === null ? null : decimalFromCents(cents);
}

/** Whether a row is an answer of the limited reservation. */
export function isLimitedRow(row: object): row is LimitColumns {
  return Object.hasOwn(row, 'spent');
}

/** @returns the remaining limit at the time of the reservation. */
export function remainingLimit(row: LimitColumns, now: Date): SpendingLimit {
  const limitCents = row.limit_amount === null ? null : centsFromDecimal(row.limit_amount);
  return {
    isCurrent: row.is_counted,
    period: limitPeriod(now, row.night_hour),
    leftCents:
      limitCents === null ? null : Math.max(0, limitCents - (centsFromDecimal(row.spent) ?? 0)),
  };
}

/**
 * @param amountCents of the send.
 * @throws AppError VALIDATION_FAILED for `amount`, with what is left and until when. The outcome is
 *   unknown: the same request may pass later, when a payment has failed or the period is over.
 */
export function refuseOverLimit({ leftCents, period }: SpendingLimit, amountCents: number): void {
  if (leftCents === null || amountCents <= leftCents) return;
  const { isNight, endHour } = period;
  const left = numberFromCents(leftCents);
  const [en, pt] = isNight ? ['at night', 'noturno'] : ['during the day', 'diurno'];
  const [leftEn, leftPt] = [formatReais(left, 'en-US'), formatReais(left, 'pt-BR')];
  const text: Text = {
    en: `The amount exceeds your limit ${en}: ${leftEn} are left until ${endHour}:00.`,
    pt: `O valor excede o seu limite ${pt}: restam ${leftPt} até as ${endHour}h.`,
  };
  const headers = { 'Pix-Outcome': 'unknown' };
  throw new AppError('VALIDATION_FAILED', { fields: { amount: [text] }, headers });
}
