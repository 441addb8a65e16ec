/** The code that a person typed: how it is kept until it is compared, and how tries are counted. */
import type { LocalContext } from '../context.ts';
import { sameSecret } from '../security/digests.ts';
import { SealError } from '../security/sealing.ts';
import type { Application } from './application-row.ts';

/** The code that is right where no provider sends one; contract/README.md shows it. */
export const homologationCode = 'ABC123';

const wrongCodesAtMost = 5;

const lockedForMs = 10 * 60_000;

/** What the person typed. */
export interface TypedCode {
  readonly codigo: string;
  readonly tipo: number;
}

/** Whether the code is right where no provider compares it. */
export function isRightHere({ codigo }: TypedCode): boolean {
  return sameSecret(codigo, homologationCode);
}

/** Counts a wrong code; the fifth in a row locks the step, and counting begins anew after it. */
export function countWrongCode(context: LocalContext, application: Application): Application {
  const failures = application.validationFailures + 1;
  if (failures < wrongCodesAtMost) return { ...application, validationFailures: failures };
  const until = new Date(context.clock.now().getTime() + lockedForMs);
  return { ...application, validationFailures: 0, validationLockedUntil: until };
}

/** Whether no code is taken at present, right or wrong. */
export function isLocked(
  { clock }: Pick<LocalContext, 'clock'>,
  { validationLockedUntil: until }: Application,
): boolean {
  return until !== null && until > clock.now();
}

/** What is left when a code was right. */
export const codeConfirmed = {
  validationFailures: 0,
  validationLockedUntil: null,
  sealedCode: null,
} as const satisfies Partial<Application>;

/**
 * @returns the code that is still to be confirmed, or null when there is none.
 * @throws SealError for one that was damaged, or sealed with another key.
 */
export function openCode(
  { sealer }: Pick<LocalContext, 'sealer'>,
  { id, sealedCode }: Application,
): TypedCode | null {
  if (sealedCode === null) return null;
  return JSON.parse(sealer.open(sealedCode, ownerOf(id)).toString('utf8')) as TypedCode;
}

/**
 * Opens a code for a change that must not fail because of it: the person can give it anew.
 * @returns null for one that does not open, too.
 */
export function openCodeIfReadable(
  context: Pick<LocalContext, 'sealer' | 'log'>,
  application: Application,
): TypedCode | null {
  try {
    return openCode(context, application);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    context.log.warn({ error }, 'the code of an application does not open; it is asked for anew');
    return null;
  }
}

/** Seals a code for its application. */
export function sealCode(
  { sealer }: Pick<LocalContext, 'sealer'>,
  { id }: Application,
  { codigo, tipo }: TypedCode,
): Buffer {
  return sealer.seal(JSON.stringify({ codigo, tipo }), ownerOf(id));
}

function ownerOf(applicationId: string): string {
  return `onboarding:${applicationId}`;
}
