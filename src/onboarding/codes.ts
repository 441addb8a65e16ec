/**
 * The code of the electronic validation. Wrong codes are counted while the application's row is
 * locked, so that concurrent requests do not get more attempts.
 */
import type { LocalContext } from '../context.ts';
import { getStep } from '../domain/onboarding.ts';
import { invalidField, type Text } from '../errors.ts';
import type { ApplicationCaller } from './applicant.ts';
import { countCodeRequest } from './code-requests.ts';
import {
  codeConfirmed,
  countWrongCode,
  isLocked,
  matchesTestCode,
  openCodeIfReadable,
  sealCode,
  type TypedCode,
} from './sealed-code.ts';
import {
  admitStep,
  changeApplication,
  markSubmitted,
  refuseWhenFinal,
  type Application,
} from './application.ts';

const step = 'electronic_validation_confirm';

/**
 * Submits a code. With local onboarding it is compared at once; otherwise it is stored sealed until
 * the provider compares it.
 * @returns the changed application.
 * @throws AppError NOT_FOUND; VALIDATION_FAILED naming `codigo` for a wrong code and for any code
 *   while the step is locked, or `application` when it accepts no code.
 */
export async function submitCode(
  context: LocalContext,
  { applicationId, clientAddress }: ApplicationCaller,
  typed: TypedCode,
): Promise<Application> {
  let isWrong = false;
  const application = await changeApplication(context, applicationId, async (stored, em) => {
    refuseWhenFinal(stored);
    refuseWhenLocked(context, stored);
    if (!context.config.onboardingLocalOnly) {
      const after = keepCode(context, stored, typed);
      // Submitting a code may queue a failed request for the code again.
      await countCodeRequest(context, em, { before: stored, after, clientAddress });
      return after;
    }
    isWrong = !matchesTestCode(typed);
    return isWrong ? countWrongCode(context, stored) : confirm(context, stored);
  });
  // The wrong attempt is already committed.
  if (isWrong) refuseWhenLocked(context, application);
  if (isWrong) throw invalidField('codigo', wrongCode);
  return application;
}

function confirm(context: LocalContext, application: Application): Application {
  const confirmed = { ...application, ...codeConfirmed };
  const isRepeat = getStep(application, step).status === 'done';
  admitStep(application, { name: step, isRepeat });
  return isRepeat ? confirmed : markSubmitted(context, confirmed, step);
}

/** Seals a code for the provider, unless one is already confirmed or the same is queued. */
function keepCode(context: LocalContext, application: Application, typed: TypedCode): Application {
  const { status } = getStep(application, step);
  if (status === 'done') return application;
  const known = openCodeIfReadable(context, application);
  const isSame = known?.codigo === typed.codigo && known.tipo === typed.tipo;
  admitStep(application, { name: step, isRepeat: isSame });
  if (isSame && status !== 'failed') return application;
  const sealedCode = sealCode(context, application, typed);
  return markSubmitted(context, { ...application, sealedCode }, step);
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
