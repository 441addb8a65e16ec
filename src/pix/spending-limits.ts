/** The limits of sends: the refusal of a send that exceeds one, and the view of the customer. */
import type { PixLimit, PixLimits } from '../../contract/types.ts';
import type { Config } from '../config/config.ts';
import { formatReais, numberFromCents } from '../domain/money.ts';
import {
  findAllowance,
  widestAllowance,
  type Allowance,
  type ApartClass,
  type ApartLimit,
  type PayeeClass,
  type PeriodLimits,
} from '../domain/payee-limits.ts';
import {
  limitPeriod,
  type ClassLimit,
  type LimitPeriod,
  type PeriodName,
  type Timed,
} from '../domain/spending-limits.ts';
import { ruleRefusal, type OrderRefusal } from './rule-refusal.ts';
import type { CurrentLimits, StoredLimits } from '../ledger/spending-limit-repository.ts';

type Limits = Pick<Config, 'pixLimits' | 'pixLimitsByPayee'>;

/** Whether the bank has set a limit. */
export function limitsAreOn(config: Limits): boolean {
  const { day, night } = config.pixLimits;
  return day !== null || night !== null || settingsDifferByPayee(config);
}

/** Whether the settings have a limit for one class of payees. */
export function settingsDifferByPayee({ pixLimitsByPayee }: Pick<Config, 'pixLimitsByPayee'>) {
  return Object.values(pixLimitsByPayee).some(({ day, night }) => day !== null || night !== null);
}

/** The amount that the user's limit still allows. */
export interface SpendingLimit {
  readonly period: LimitPeriod;
  /** What is left of the limit before this send, in centavos, at least 0; null: no limit. */
  readonly leftCents: number | null;
}

/**
 * @param payees the classes that the payee may have.
 * @returns the remaining limit of the class that may get most.
 */
export function limitOfPayees(
  limits: CurrentLimits,
  config: Limits,
  { payees, now }: { readonly payees: readonly PayeeClass[]; readonly now: Date },
): SpendingLimit {
  const period = limitPeriod(now, limits.nightHour.value);
  const setters = settersOf(limits, config, period.isNight ? 'night' : 'day');
  const found = payees.map((payee) => findAllowance(setters, limits.spent, payee));
  return { period, leftCents: widestAllowance(found).leftCents };
}

/**
 * What the service and what the customer has set for a period. A limit that an operator has set for
 * the user replaces the settings for every class.
 */
function settersOf(
  limits: StoredLimits,
  { pixLimits, pixLimitsByPayee }: Limits,
  period: PeriodName,
): readonly [service: PeriodLimits, customer: PeriodLimits] {
  const { bank, own } = limits[period];
  const setting = (one: ApartClass): ApartLimit | null => {
    const cents = bank.value === null ? pixLimitsByPayee[one][period] : null;
    return cents === null ? null : { cents, isShared: false };
  };
  const set = (one: ApartClass): ApartLimit | null => {
    const { value: cents, sharedUntil } = limits.byPayee[one][period];
    return cents === null ? null : { cents, isShared: sharedUntil !== null };
  };
  return [
    {
      shared: bank.value ?? pixLimits[period],
      apart: { company: setting('company'), own: setting('own') },
    },
    { shared: own.value, apart: { company: set('company'), own: set('own') } },
  ];
}

/** @returns what the bank allows a class of payees in a period, in centavos; null: no limit. */
export function maximumOf(
  limits: StoredLimits,
  config: Limits,
  { payee, period }: { readonly payee: PayeeClass; readonly period: PeriodName },
): number | null {
  const [{ shared, apart }] = settersOf(limits, config, period);
  return payee === 'person' ? shared : (apart[payee]?.cents ?? shared);
}

/** @returns the limit that applies to a class of payees in a period, with what is left now. */
export function allowanceOf(
  limits: CurrentLimits,
  config: Limits,
  { payee, period }: { readonly payee: PayeeClass; readonly period: PeriodName },
): Allowance {
  return findAllowance(settersOf(limits, config, period), limits.spent, payee);
}

/**
 * @param amountCents of the send.
 * @returns the refusal for `amount`, with what is left and until when; null: within the limit.
 */
export function refuseOverLimit(
  { leftCents, period }: SpendingLimit,
  amountCents: number,
): OrderRefusal | null {
  if (leftCents === null || amountCents <= leftCents) return null;
  const { isNight, endHour } = period;
  const left = numberFromCents(leftCents);
  const [en, pt] = isNight ? ['at night', 'noturno'] : ['during the day', 'diurno'];
  const [leftEn, leftPt] = [formatReais(left, 'en-US'), formatReais(left, 'pt-BR')];
  return ruleRefusal('LIMIT_EXCEEDED', 'amount', {
    en: `The amount exceeds your limit ${en}: ${leftEn} are left until ${endHour}:00.`,
    pt: `O valor excede o seu limite ${pt}: restam ${leftPt} até as ${endHour}h.`,
  });
}

/** The reply of `GET` and `PUT /pix/limits`. */
export function limitsReply(limits: CurrentLimits, config: Limits, now: Date): PixLimits {
  const { nightHour } = limits;
  const { isNight, nextDayAt, nextNightAt } = limitPeriod(now, nightHour.value);
  const ofPayee = (payee: PayeeClass) => ({
    day: limitPart(limits, config, { payee, period: 'day', isNow: !isNight, at: nextDayAt }),
    night: limitPart(limits, config, { payee, period: 'night', isNow: isNight, at: nextNightAt }),
  });
  return {
    period: isNight ? 'night' : 'day',
    ...ofPayee('person'),
    companies: ofPayee('company'),
    own_document: ofPayee('own'),
    night_from: nightHour.value,
    ...(nightHour.nextAt !== null && {
      pending_night_from: {
        night_from: nightHour.next,
        applies_at: nightHour.nextAt.toISOString(),
      },
    }),
  };
}

interface Part {
  readonly payee: PayeeClass;
  readonly period: PeriodName;
  /** Whether the period is the one that it is now. */
  readonly isNow: boolean;
  /** When the next period of its kind begins. */
  readonly at: Date;
}

const nothing = { person: 0, company: 0, own: 0, anyone: 0, unjudged: 0 } as const;

function limitPart(limits: CurrentLimits, config: Limits, { isNow, at, ...part }: Part): PixLimit {
  const { payee, period } = part;
  const counted = isNow ? limits : { ...limits, spent: nothing };
  const { limitCents, leftCents } = allowanceOf(counted, config, part);
  const { bank } = limits[period];
  const own: Timed<number | null> | ClassLimit =
    payee === 'person' ? limits[period].own : limits.byPayee[payee][period];
  const due = { ...limits, [period]: { ...limits[period], bank: { ...bank, value: bank.next } } };
  return {
    limit: toReais(limitCents),
    left: toReais(leftCents),
    own: toReais(own.value),
    maximum: toReais(maximumOf(limits, config, part)),
    renews_at: at.toISOString(),
    ...(own.nextAt !== null && {
      pending_own: { amount: toReais(own.next), applies_at: own.nextAt.toISOString() },
    }),
    ...(bank.nextAt !== null && {
      pending_maximum: {
        amount: toReais(maximumOf(due, config, part)),
        applies_at: bank.nextAt.toISOString(),
      },
    }),
  };
}

function toReais(cents: number | null): number | null {
  return cents === null ? null : numberFromCents(cents);
}
