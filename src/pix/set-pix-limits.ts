import type { SetPixLimitsRequest } from '../../contract/types.ts';
import { recordSecurityEvent } from '../auth/security-event-repository.ts';
import type { Context } from '../context/context.ts';
import type { SessionOperation } from '../context/operation.ts';
import { inTransaction } from '../db/unit-of-work.ts';
import { centsFromNumber, formatReais, numberFromCents } from '../domain/money.ts';
import { changeLimit, changeNightHour } from '../domain/spending-limits.ts';
import { AppError, type FieldErrors, type Text } from '../errors.ts';
import { announceLimits } from './limit-event-repository.ts';
import {
  changeLimits,
  findLimits,
  type StoredLimit,
  type StoredLimits,
} from './spending-limit-repository.ts';
import { limitsReply } from './spending-limits.ts';

/**
 * Changes the limits that the caller has set: less applies at once, more after 24 hours. A change
 * of one that waits replaces it; the same request again changes nothing.
 */
export const setPixLimits: SessionOperation<'setPixLimits'> = {
  access: 'session',
  async run(context, { input, principal, request }) {
    const { id: userId, email } = principal.user;
    const limits = await inTransaction(context, async (transaction) => {
      const isChanged = await changeLimits(transaction, userId, (stored) =>
        applyChange(context, stored, input.body),
      );
      if (isChanged) {
        const { clientAddress } = request;
        await recordSecurityEvent(transaction, {
          kind: 'limits_changed',
          userId,
          email,
          clientAddress,
        });
        await announceLimits(transaction, userId);
      }
      return findLimits(transaction, userId);
    });
    return { status: 200, body: limitsReply(limits, context.config, context.clock.now()) };
  },
};

/** @throws AppError VALIDATION_FAILED for each amount over what the bank allows now. */
function applyChange(
  { clock, config: { pixLimits } }: Context,
  { day, night, nightHour }: StoredLimits,
  { day: dayReais, night: nightReais, night_from: hour }: SetPixLimitsRequest,
): StoredLimits {
  const now = clock.now();
  const errors: Record<string, readonly Text[]> = {};
  const changeOwn = (
    field: 'day' | 'night',
    limit: StoredLimit,
    reais: number | null | undefined,
  ): StoredLimit => {
    if (reais === undefined) return limit;
    const maximumCents = limit.bank.value ?? pixLimits[field];
    const cents = reais === null ? null : centsFromNumber(reais);
    if (cents !== null && maximumCents !== null && cents > maximumCents) {
      errors[field] = [overMaximum(maximumCents)];
    }
    return { ...limit, own: changeLimit(limit.own, cents, { now, defaultCents: maximumCents }) };
  };
  const changed = {
    day: changeOwn('day', day, dayReais),
    night: changeOwn('night', night, nightReais),
    nightHour: hour === undefined ? nightHour : changeNightHour(nightHour, hour, now),
  };
  refuse(errors);
  return changed;
}

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
