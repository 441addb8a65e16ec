/** Callers who are known only by knowing the id of their application, and how often they may. */
import { dayMs } from '../clock.ts';
import type { LocalContext } from '../context.ts';
import { AppError } from '../errors.ts';
import { readApplication, type Application } from './application.ts';
import { addressThrottles, countAttempt, minuteMs, refuseWhenUsedUp } from '../auth/throttle.ts';

/** Which application a request names, and where the request comes from. */
export interface ApplicationCaller {
  readonly applicationId: string;
  readonly clientAddress: string;
}

/** Ids cannot be guessed, and nobody gets to try many. */
const missesPerMinute = 60;

/** Several people may apply from one address: it has the steps of so many applications. */
const applicationsPerAddress = 10;

/**
 * Finds an application. A right id is never refused: behind the same address others may have
 * missed. The id of a decided application expires ONBOARDING_EXPIRY_DAYS after the last change.
 * @throws AppError NOT_FOUND, or THROTTLED after too many of these from the address.
 */
export async function findApplication(
  context: LocalContext,
  { applicationId, clientAddress }: ApplicationCaller,
): Promise<Application> {
  const { clock, config } = context;
  const expiresAfterMs = config.retention.onboarding * dayMs;
  const application = await readApplication(context, {
    id: applicationId,
    $or: [
      { status: { $nin: ['APPROVED', 'REJECTED'] } },
      { updatedAt: { $gt: new Date(clock.now().getTime() - expiresAfterMs) } },
    ],
  });
  if (application) return application;
  const isLifted = config.throttle.addressPerMinute === 0;
  const limit = isLifted ? 0 : missesPerMinute;
  const misses = { scope: 'onboarding-404', limit, windowMs: minuteMs };
  const throttles = addressThrottles(misses, clientAddress);
  await refuseWhenUsedUp(context, throttles);
  await countAttempt(context, throttles);
  throw new AppError('NOT_FOUND');
}

/**
 * Finds the application that a step is for, and counts the step: THROTTLE_ADDRESS_PER_MINUTE for
 * the application, ten times as many for the address.
 * @throws AppError NOT_FOUND or THROTTLED.
 */
export async function findApplicant(
  context: LocalContext,
  caller: ApplicationCaller,
): Promise<Application> {
  const application = await findApplication(context, caller);
  const limit = context.config.throttle.addressPerMinute;
  const ofAddress = {
    scope: 'onboarding-address',
    limit: applicationsPerAddress * limit,
    windowMs: minuteMs,
  };
  await countAttempt(context, [
    { scope: 'onboarding-step', subject: application.id, limit, windowMs: minuteMs },
    ...addressThrottles(ofAddress, caller.clientAddress),
  ]);
  return application;
}

interface ApplicantOfPath {
  readonly path: { readonly applicationId: string };
  readonly clientAddress: string;
}

/** Refuses a step of an unknown application, and one too many, before the body is read. */
export async function admitApplicant(
  context: LocalContext,
  { path, clientAddress }: ApplicantOfPath,
): Promise<void> {
  await findApplicant(context, { ...path, clientAddress });
}
