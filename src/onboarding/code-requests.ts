/**
 * Throttles requests for the code of the electronic validation. For each, the provider sends a
 * message, which costs money and may reach another person's phone.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { dayMs } from '../clock.ts';
import type { LocalContext } from '../context.ts';
import { getStep } from '../domain/onboarding.ts';
import { AppError, invalidField, type Text } from '../errors.ts';
import type { Application } from './application-row.ts';
import {
  addressThrottles,
  countAttempt,
  minuteMs,
  refuseWhenUsedUp,
  type Throttle,
} from '../auth/throttle.ts';

const limits: readonly Omit<Throttle, 'subject'>[] = [
  { scope: 'code-minute', limit: 1, windowMs: minuteMs },
  { scope: 'code-day', limit: 5, windowMs: dayMs },
];

const brazilOnly: Text = {
  en: 'A code can be sent to a Brazilian number (+55) only.',
  pt: 'Um código só pode ser enviado a um número brasileiro (+55).',
};

export interface CodeRequest {
  readonly before: Application;
  readonly after: Application;
  readonly clientAddress: string;
}

/**
 * Counts a request for a code by application, phone and address, if a change has made one. With
 * local onboarding no code is sent and nothing is counted.
 * @param em the transaction of the change.
 * @throws AppError THROTTLED, or VALIDATION_FAILED naming `phone` for a foreign number.
 */
export async function countCodeRequest(
  context: LocalContext,
  em: EntityManager,
  { before, after, clientAddress }: CodeRequest,
): Promise<void> {
  const [was, is] = [before, after].map((one) => getStep(one, 'electronic_validation').revision);
  if (context.config.onboardingLocalOnly || was === is) return;
  if (!after.applicant.phone.startsWith('+55')) throw invalidField('phone', brazilOnly);
  const throttles = codeThrottles(context, after, clientAddress);
  await refuseWhenUsedUp(context, throttles, em);
  await countAttempt(context, throttles, em);
}

/** Whether a request for a code would be accepted now. */
export async function mayRequestCode(
  context: LocalContext,
  em: EntityManager,
  { application, clientAddress }: { application: Application; clientAddress: string },
): Promise<boolean> {
  if (!application.applicant.phone.startsWith('+55')) return false;
  try {
    await refuseWhenUsedUp(context, codeThrottles(context, application, clientAddress), em);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'THROTTLED') return false;
    throw error;
  }
}

/** No throttle applies when the throttles of addresses are off. */
function codeThrottles(
  { config }: LocalContext,
  { id, applicant }: Application,
  clientAddress: string,
): Throttle[] {
  if (config.throttle.addressPerMinute === 0) return [];
  return limits.flatMap(({ scope, limit, windowMs }) => {
    const own = [id, applicant.phone].map((subject) => ({ scope, subject, limit, windowMs }));
    return own.concat(addressThrottles({ scope, limit, windowMs }, clientAddress));
  });
}
