import type { SetPixLimitsRequest } from '../../contract/types.ts';
import { confirmPassword, keepPassword } from '../auth/own-password.ts';
import { recordSecurityEvent } from '../auth/security-event-repository.ts';
import type { LocalContext } from '../context/context.ts';
import type { SessionOperation } from '../context/operation.ts';
import { inTransaction } from '../db/unit-of-work.ts';
import { centsFromNumber, formatReais, numberFromCents } from '../domain/money.ts';
import type { ApartClass } from '../domain/payee-limits.ts';
import type { Principal } from '../domain/principal.ts';
import {
  changeClassLimit,
  changeLimit,
  changeNightHour,
  type ClassLimit,
  type PeriodName,
} from '../domain/spending-limits.ts';
import { AppError, type FieldErrors, type Text } from '../errors.ts';
import { announceLimits } from './limit-event-repository.ts';
import {
  changeLimits,
  findLimits,
  type CurrentLimits,
  type StoredLimit,
  type StoredLimits,
} from '../ledger/spending-limit-repository.ts';
import { limitsReply, maximumOf } from './spending-limits.ts';

/**
 * Changes the limits that the caller has set: less applies at once, more after 24 hours. A change
 * of one that waits replaces it; the same request again changes nothing. It needs the password,
 * because a stolen token must not keep the customer from paying.
 */
export const setPixLimits: SessionOperation<'setPixLimits'> = {
  access: 'session',
  async run(context, { input, principal, request }) {
    const { password, ...wanted } = input.body;
    const { clientAddress, signal } = request;
    const stated = { principal, password, clientAddress, signal };
    const confirmed = await confirmPassword(context, stated);
    const limits = await inTransaction(context, async (transaction) => {
      await keepPassword(transaction, confirmed);
      return changeOwnLimits(transaction, { user: principal.user, clientAddress, wanted });
    });
    return { status: 200, body: limitsReply(limits, context.config, context.clock.now()) };
  },
};

interface LimitsChange {
  readonly user: Principal['user'];
  readonly clientAddress: string;
  readonly wanted: WantedLimits;
}

type WantedLimits = Omit<SetPixLimitsRequest, 'password'>;

/**
 * Changes the own limits of a user in a transaction: a security event and an app event.
 * @returns the limits with the change.
 * @throws AppError VALIDATION_FAILED for each amount over what the bank allows now.
 */
export async function changeOwnLimits(
  transaction: LocalContext,
  { user, clientAddress, wanted }: LimitsChange,
): Promise<CurrentLimits> {
  const { id: userId, email } = user;
  const isChanged = await changeLimits(transaction, { userId, by: 'customer' }, (stored) =>
    applyChange(transaction, stored, wanted),
  );
  if (isChanged) {
    const event = { kind: 'limits_changed', userId, email, clientAddress } as const;
    await recordSecurityEvent(transaction, event);
    await announceLimits(transaction, userId);
  }
  return findLimits(transaction, userId);
}

/** @throws AppError VALIDATION_FAILED for each amount over what the bank allows now. */
function applyChange(
  { clock, config }: LocalContext,
  stored: StoredLimits,
  wanted: WantedLimits,
): StoredLimits {
  const now = clock.now();
  const errors: Record<string, readonly Text[]> = {};
  const inCents = (path: string, reais: number | null, maximumCents: number | null) => {
    const cents = reais === null ? null : centsFromNumber(reais);
    if (cents !== null && maximumCents !== null && cents > maximumCents) {
      errors[path] = [overMaximum(maximumCents)];
    }
    return cents;
  };
  const changeShared = (period: PeriodName): StoredLimit => {
    const { [period]: reais } = wanted;
    const limit = stored[period];
    if (reais === undefined) return limit;
    const defaultCents = maximumOf(stored, config, { payee: 'person', period });
    const cents = inCents(period, reais, defaultCents);
    return { ...limit, own: changeLimit(limit.own, cents, { now, defaultCents }) };
  };
  const changeClass = (payee: ApartClass, period: PeriodName): ClassLimit => {
    const { [period]: reais } = wanted[fieldOfClass[payee]] ?? {};
    const limit = stored.byPayee[payee][period];
    if (reais === undefined) return limit;
    const maximumCents = maximumOf(stored, config, { payee, period });
    const cents = inCents(`${fieldOfClass[payee]}.${period}`, reais, maximumCents);
    const { value: sharedCents } = stored[period].own;
    return changeClassLimit(limit, cents, { now, sharedCents, maximumCents });
  };
  const bothPeriods = (payee: ApartClass) => ({
    day: changeClass(payee, 'day'),
    night: changeClass(payee, 'night'),
  });
  const { nightHour } = stored;
  const { night_from: hour } = wanted;
  const changed = {
    day: changeShared('day'),
    night: changeShared('night'),
    byPayee: { company: bothPeriods('company'), own: bothPeriods('own') },
    nightHour: hour === undefined ? nightHour : changeNightHour(nightHour, hour, now),
  };
  refuse(errors);
  return changed;
}

/** The field of the request for each class. */
const fieldOfClass = { company: 'companies', own: 'own_document' } as const;

function refuse(fields: FieldErrors): void {
  if (Object.keys(fields).length > 0) throw new AppError('VALIDATION_FAILED', { fields });
}

function overMaximum(cents: number): Text {
  const reais = numberFromCents(cents);
  return {
    en: `The bank allows you at most ${formatReais(reais, 'en-US')}.`,
    pt: `O banco permite no máximo ${formatReais(reais, 'pt-BR')}.`,
  };
}
