/** Seals the code that a person typed until it is compared, and counts wrong attempts. */
import type { LocalContext } from '../context.ts';
import { sameSecret } from '../security/digests.ts';
import { SealError } from '../security/sealing.ts';
import type { Application } from './application-row.ts';

/** The correct code where no provider sends one; see contract/README.md. */
export const homologationCode = 'ABC123';

const wrongCodesAtMost = 5;

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
  if (failures < wrongCodesAtMost) return { ...application, validationFailures: failures };
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
