/**
 * The code of the electronic validation: seals it until it is compared, counts wrong attempts, and
 * throttles requests. For each request the provider sends a message, which costs money and may
 * reach another person's phone.
 */
import {
  countWithinLimits,
  refuseOverLimits,
  type LimitedAttempt,
} from '../auth/service-throttles.ts';
import { addressThrottles, minuteMs, type Throttle } from '../auth/throttle.ts';
import { dayMs } from '../clock.ts';
import type { LocalContext } from '../context/context.ts';
import { getStep } from '../domain/onboarding.ts';
import { AppError, invalidField, type Text } from '../errors.ts';
import { sameSecret } from '../security/digests.ts';
import { SealError } from '../security/sealing.ts';
import type { Application } from './application-row.ts';

/** The correct code where no provider sends one; see contract/README.md. */
export const homologationCode = 'ABC123';

const maxWrongCodes = 5;

const lockedForMs = 10 * 60_000;

/** A code as typed by the person. */
export interface TypedCode {
  readonly codigo: string;
  readonly tipo: number;
}

/** Whether the code is correct where no provider compares it. */
export function matchesTestCode({ codigo }: TypedCode): boolean {
  return sameSecret(codigo, homologationCode);
}

/** Counts a wrong code; the fifth in a row locks the step and resets the count. */
export function countWrongCode(context: LocalContext, application: Application): Application {
  const failures = application.validationFailures + 1;
  if (failures < maxWrongCodes) return { ...application, validationFailures: failures };
  const until = new Date(context.clock.now().getTime() + lockedForMs);
  return { ...application, validationFailures: 0, validationLockedUntil: until };
}

/** Whether the step is locked and accepts no code at present. */
export function isLocked(
  { clock }: Pick<LocalContext, 'clock'>,
  { validationLockedUntil: until }: Application,
): boolean {
  return until !== null && until > clock.now();
}

/** The changes after a correct code. */
export const codeConfirmed = {
  validationFailures: 0,
  validationLockedUntil: null,
  sealedCode: null,
} as const satisfies Partial<Application>;

/**
 * @returns the code that is to be confirmed, or null when there is none.
 * @throws SealError for a code that is damaged or was sealed with another key.
 */
export function openCode(
  { sealer }: Pick<LocalContext, 'sealer'>,
  { id, sealedCode }: Application,
): TypedCode | null {
  if (sealedCode === null) return null;
  return JSON.parse(sealer.open(sealedCode, sealingOwner(id)).toString('utf8')) as TypedCode;
}

/**
 * Opens a code for a change that must not fail because of it: the person can submit it again.
 * @returns null also for a code that cannot be opened.
 */
export function openCodeIfReadable(
  context: Pick<LocalContext, 'sealer' | 'log'>,
  application: Application,
): TypedCode | null {
  try {
    return openCode(context, application);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    context.log.warn({ error }, 'the code of an application cannot be opened');
    return null;
  }
}

/** Seals a code for its application. */
export function sealCode(
  { sealer }: Pick<LocalContext, 'sealer'>,
  { id }: Application,
  { codigo, tipo }: TypedCode,
): Buffer {
  return sealer.seal(JSON.stringify({ codigo, tipo }), sealingOwner(id));
}

function sealingOwner(applicationId: string): string {
  return `onboarding:${applicationId}`;
}

/** For an application, and for a phone. */
function ownLimits(subject: string): Throttle[] {
  return [
    { scope: 'code-minute', subject, limit: 1, windowMs: minuteMs },
    { scope: 'code-day', subject, limit: 5, windowMs: dayMs },
  ];
}

/** An address is a crowd: thousands of customers share an IPv4 address of a carrier. */
const addressLimits = [
  { scope: 'code-address-hour', limit: 100, windowMs: 60 * minuteMs },
  { scope: 'code-address', limit: 500, windowMs: dayMs },
] as const;

const brazilOnly: Text = {
  en: 'A code can be sent to a Brazilian number (+55) only.',
  pt: 'Um código só pode ser enviado a um número brasileiro (+55).',
};

interface CodeRequest {
  readonly before: Application;
  readonly after: Application;
  readonly clientAddress: string;
}

/**
 * Counts a request for a code by application, phone, address and service, if a change has made one.
 * With local onboarding no code is sent and nothing is counted.
 * @throws AppError THROTTLED, or VALIDATION_FAILED naming `phone` for a foreign number.
 */
export async function countCodeRequest(
  context: LocalContext,
  { before, after, clientAddress }: CodeRequest,
): Promise<void> {
  const [was, is] = [before, after].map((one) => getStep(one, 'electronic_validation').revision);
  if (context.config.onboardingLocalOnly || was === is) return;
  if (!after.applicant.phone.startsWith('+55')) throw invalidField('phone', brazilOnly);
  const attempt = codeLimits(context, after, clientAddress);
  await refuseOverLimits(context, attempt);
  await countWithinLimits(context, attempt);
}

/** Whether a request for a code would be accepted now. */
export async function mayRequestCode(
  context: LocalContext,
  { application, clientAddress }: { application: Application; clientAddress: string },
): Promise<boolean> {
  if (!application.applicant.phone.startsWith('+55')) return false;
  try {
    await refuseOverLimits(context, codeLimits(context, application, clientAddress));
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'THROTTLED') return false;
    throw error;
  }
}

/** Only the limit of the service applies when the throttles of addresses are off. */
function codeLimits(
  { config }: LocalContext,
  { id, applicant }: Application,
  clientAddress: string,
): LimitedAttempt {
  const { addressPerMinute, codesPerHour } = config.throttle;
  const hour = { limit: codesPerHour, windowMs: 60 * minuteMs };
  const service = { name: 'codes', little: 2, ...hour } as const;
  if (addressPerMinute === 0) return { throttles: [], service, clientAddress: null };
  const own = [id, applicant.phone].flatMap(ownLimits);
  const ofAddress = addressLimits.flatMap((limit) => addressThrottles(limit, clientAddress));
  return { throttles: [...own, ...ofAddress], service, clientAddress };
}
