/** Authenticates callers by the secret id of their application, and throttles them. */
import { dayMs } from '../clock.ts';
import type { LocalContext } from '../context/context.ts';
import { AppError } from '../errors.ts';
import { findRecentApplication } from './application-repository.ts';
import type { Application } from './application-row.ts';
import { addressThrottles, countAttempt, countMiss, minuteMs } from '../auth/throttle.ts';

/** The application that a request names, and the address that it comes from. */
export interface ApplicationCaller {
  readonly applicationId: string;
  readonly clientAddress: string;
}

/** The steps of an application per minute. */
const stepsPerMinute = 30;

/** Several people may share an address: it has this many times THROTTLE_ADDRESS_PER_MINUTE. */
const applicationsPerAddress = 10;

/**
 * Finds an application. A valid id is never throttled, because others at the same address may have
 * used unknown ids. The id of a decided application expires ONBOARDING_EXPIRY_DAYS after the last
 * change.
 * @throws AppError NOT_FOUND, or THROTTLED after too many unknown ids from the address.
 */
export async function findApplication(
  context: LocalContext,
  { applicationId, clientAddress }: ApplicationCaller,
): Promise<Application> {
  const { clock, config } = context;
  const expiresAfterMs = config.retention.onboarding * dayMs;
  const decidedSince = new Date(clock.now().getTime() - expiresAfterMs);
  const application = await findRecentApplication(context, applicationId, decidedSince);
  if (application) return application;
  await countMiss(context, clientAddress);
  throw new AppError('NOT_FOUND');
}

/**
 * Finds the application of a step, and throttles the step: 30 a minute for the application, and
 * ten times THROTTLE_ADDRESS_PER_MINUTE for the address.
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
  const ofApplication = { scope: 'onboarding-step', limit: Math.min(stepsPerMinute, limit) };
  await countAttempt(context, [
    { ...ofApplication, subject: application.id, windowMs: minuteMs },
    ...addressThrottles(ofAddress, caller.clientAddress),
  ]);
  return application;
}

interface ApplicantOfPath {
  readonly path: { readonly applicationId: string };
  readonly clientAddress: string;
}

/** Refuses a step of an unknown application or over the limit, before the body is read. */
export async function admitApplicant(
  context: LocalContext,
  { path, clientAddress }: ApplicantOfPath,
): Promise<void> {
  await findApplicant(context, { ...path, clientAddress });
}
