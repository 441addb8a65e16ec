/**
 * The code of the electronic validation. Wrong ones are counted with the application's row held, so
 * that many at once do not get more tries than one after another.
 */
import type { LocalContext } from '../context.ts';
import { stepOf } from '../domain/onboarding.ts';
import { invalidField, type Text } from '../errors.ts';
import { sameSecret } from '../security/digests.ts';
import type { ApplicationCaller } from './onboarding-steps.ts';
import {
  admitStep,
  changeApplication,
  findApplication,
  giveStep,
  type Application,
} from './onboarding.ts';

/** The code that is right where no provider sends one; the README tells it. */
export const homologationCode = 'ABC123';

const wrongCodesAtMost = 5;

const lockedForMs = 10 * 60_000;

const step = 'electronic_validation_confirm';

/** What the person typed. */
export interface TypedCode {
  readonly codigo: string;
  readonly tipo: number;
}

/**
 * Takes a code: it is compared at once where onboarding is local, otherwise the provider compares
 * it, and it is sealed until then.
 * @returns the application as it stands then.
 * @throws AppError NOT_FOUND, THROTTLED, and VALIDATION_FAILED naming `codigo` for a wrong code and
 *   for any code while the step is locked, or `application` when it takes no code now.
 */
export async function takeCode(
  context: LocalContext,
  { applicationId, clientAddress }: ApplicationCaller,
  typed: TypedCode,
): Promise<Application> {
  await findApplication(context, applicationId, clientAddress);
  let isWrong = false;
  const application = await changeApplication(context, applicationId, (stored) => {
    admitStep(stored, { isRepeat: true });
    refuseWhenLocked(context, stored);
    if (!context.config.onboardingLocalOnly) return keepCode(context, stored, typed);
    isWrong = !sameSecret(typed.codigo, homologationCode);
    return isWrong ? countWrongCode(context, stored) : confirm(context, stored);
  });
  // The wrong try is committed by now: it counts, whatever becomes of the answer.
  if (isWrong) refuseWhenLocked(context, application);
  if (isWrong) throw invalidField('codigo', wrongCode);
  return application;
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

/** @returns the code that is still to be confirmed, or null when there is none. */
export function openCode(
  { sealer }: Pick<LocalContext, 'sealer'>,
  { id, sealedCode }: Application,
): TypedCode | null {
  if (sealedCode === null) return null;
  return JSON.parse(sealer.open(sealedCode, ownerOf(id)).toString('utf8')) as TypedCode;
}

function confirm(context: LocalContext, application: Application): Application {
  const confirmed = { ...application, ...codeConfirmed };
  const isRepeat = stepOf(application, step).status === 'done';
  admitStep(application, { isRepeat });
  return isRepeat ? confirmed : giveStep(context, confirmed, step);
}

/** A code that the provider has confirmed is not asked for again. */
function keepCode(context: LocalContext, application: Application, typed: TypedCode): Application {
  const { status } = stepOf(application, step);
  if (status === 'done') return application;
  const known = openCode(context, application);
  const isSame = known?.codigo === typed.codigo && known.tipo === typed.tipo;
  admitStep(application, { isRepeat: isSame });
  if (isSame && status !== 'failed') return application;
  const { codigo, tipo } = typed;
  const sealedCode = context.sealer.seal(JSON.stringify({ codigo, tipo }), ownerOf(application.id));
  return giveStep(context, { ...application, sealedCode }, step);
}

function ownerOf(applicationId: string): string {
  return `onboarding:${applicationId}`;
}

const wrongCode: Text = { en: 'The code is wrong.', pt: 'O código está incorreto.' };

function refuseWhenLocked(context: LocalContext, application: Application): void {
  const { validationLockedUntil: until } = application;
  if (until === null || !isLocked(context, application)) return;
  const minutes = Math.ceil((until.getTime() - context.clock.now().getTime()) / 60_000);
  throw invalidField('codigo', lockedText(minutes));
}

function lockedText(minutes: number): Text {
  const isOne = minutes === 1;
  return {
    en: `Too many wrong codes. Try again in ${minutes} ${isOne ? 'minute' : 'minutes'}.`,
    pt: `Muitos códigos incorretos. Tente novamente em ${minutes} ${isOne ? 'minuto' : 'minutos'}.`,
  };
}
