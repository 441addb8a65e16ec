/**
 * The code of the electronic validation. Wrong ones are counted with the application's row held, so
 * that many at once do not get more tries than one after another.
 */
import type { LocalContext } from '../context.ts';
import { stepOf } from '../domain/onboarding.ts';
import { invalidField, type Text } from '../errors.ts';
import type { ApplicationCaller } from './applicant.ts';
import { countCodeRequest } from './code-requests.ts';
import {
  codeConfirmed,
  countWrongCode,
  isLocked,
  isRightHere,
  openCodeIfReadable,
  sealCode,
  type TypedCode,
} from './sealed-code.ts';
import {
  admitStep,
  changeApplication,
  giveStep,
  refuseWhenFinal,
  type Application,
} from './application.ts';

const step = 'electronic_validation_confirm';

/**
 * Takes a code: it is compared at once where onboarding is local, otherwise the provider compares
 * it, and it is sealed until then.
 * @returns the application as it stands then.
 * @throws AppError NOT_FOUND, and VALIDATION_FAILED naming `codigo` for a wrong code and
 *   for any code while the step is locked, or `application` when it takes no code now.
 */
export async function takeCode(
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
      // The code that a failed step did not send is requested again, too.
      await countCodeRequest(context, em, { before: stored, after, clientAddress });
      return after;
    }
    isWrong = !isRightHere(typed);
    return isWrong ? countWrongCode(context, stored) : confirm(context, stored);
  });
  // The wrong try is committed by now: it counts, whatever becomes of the answer.
  if (isWrong) refuseWhenLocked(context, application);
  if (isWrong) throw invalidField('codigo', wrongCode);
  return application;
}

function confirm(context: LocalContext, application: Application): Application {
  const confirmed = { ...application, ...codeConfirmed };
  const isRepeat = stepOf(application, step).status === 'done';
  admitStep(application, { name: step, isRepeat });
  return isRepeat ? confirmed : giveStep(context, confirmed, step);
}

/** A code that the provider has confirmed is not asked for again. */
function keepCode(context: LocalContext, application: Application, typed: TypedCode): Application {
  const { status } = stepOf(application, step);
  if (status === 'done') return application;
  const known = openCodeIfReadable(context, application);
  const isSame = known?.codigo === typed.codigo && known.tipo === typed.tipo;
  admitStep(application, { name: step, isRepeat: isSame });
  if (isSame && status !== 'failed') return application;
  const sealedCode = sealCode(context, application, typed);
  return giveStep(context, { ...application, sealedCode }, step);
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
