/** The limits of sends: the refusal of a send that exceeds one, and the view of the customer. */
import type { PixLimit, PixLimits } from '../../contract/types.ts';
import type { Config } from '../config/config.ts';
import { centsFromDecimal, formatReais, numberFromCents } from '../domain/money.ts';
import { limitPeriod, type LimitPeriod } from '../domain/spending-limits.ts';
import { AppError, type Text } from '../errors.ts';
import type { CurrentLimits, LimitRow, StoredLimit } from './spending-limit-repository.ts';

type Limits = Pick<Config, 'pixLimits'>;

/** Whether the bank has set a limit. */
export function limitsAreOn({ pixLimits: { day, night } }: Limits): boolean {
  return day !== null || night !== null;
}

/** The amount that the user's limit still allows. */
export interface SpendingLimit {
  /** False: the sum was out of date, and nothing was reserved for that reason. */
  readonly isCurrent: boolean;
  readonly period: LimitPeriod;
  /** What is left of the limit before this send, in centavos, at least 0; null: no limit. */
  readonly leftCents: number | null;
}

/** @returns the remaining limit at the time of the reservation. */
export function remainingLimit(row: LimitRow, now: Date): SpendingLimit {
  const limitCents = row.limit_amount === null ? null : centsFromDecimal(row.limit_amount);
  return {
    isCurrent: row.is_current,
    period: limitPeriod(now, row.night_hour),
    leftCents: leftOf(limitCents, centsFromDecimal(row.spent) ?? 0),
  };
}

function leftOf(limitCents: number | null, spentCents: number): number | null {
  return limitCents === null ? null : Math.max(0, limitCents - spentCents);
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

/** The reply of `GET` and `PUT /pix/limits`. */
export function limitsReply(limits: CurrentLimits, { pixLimits }: Limits, now: Date): PixLimits {
  const { nightHour, spentCents } = limits;
  const { isNight, nextDayAt, nextNightAt } = limitPeriod(now, nightHour.value);
  return {
    period: isNight ? 'night' : 'day',
    day: limitPart(limits.day, {
      limitCents: limits.dayCents,
      byDefault: pixLimits.day,
      spentCents: isNight ? 0 : spentCents,
      renewsAt: nextDayAt,
    }),
    night: limitPart(limits.night, {
      limitCents: limits.nightCents,
      byDefault: pixLimits.night,
      spentCents: isNight ? spentCents : 0,
      renewsAt: nextNightAt,
    }),
    night_from: nightHour.value,
    ...(nightHour.nextAt !== null && {
      pending_night_from: {
        night_from: nightHour.next,
        applies_at: nightHour.nextAt.toISOString(),
      },
    }),
  };
}

interface PartFacts {
  readonly limitCents: number | null;
  /** The default of the settings. */
  readonly byDefault: number | null;
  readonly spentCents: number;
  readonly renewsAt: Date;
}

function limitPart({ bank, own }: StoredLimit, facts: PartFacts): PixLimit {
  const { limitCents, byDefault, spentCents, renewsAt } = facts;
  return {
    limit: toReais(limitCents),
    left: toReais(leftOf(limitCents, spentCents)),
    own: toReais(own.value),
    maximum: toReais(bank.value ?? byDefault),
    renews_at: renewsAt.toISOString(),
    ...(own.nextAt !== null && {
      pending_own: { amount: toReais(own.next), applies_at: own.nextAt.toISOString() },
    }),
    ...(bank.nextAt !== null && {
      pending_maximum: {
        amount: toReais(bank.next ?? byDefault),
        applies_at: bank.nextAt.toISOString(),
      },
    }),
  };
}

function toReais(cents: number | null): number | null {
  return cents === null ? null : numberFromCents(cents);
}
