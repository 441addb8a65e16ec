import type { Context, LocalContext } from '../context/context.ts';
import { getStep } from '../domain/onboarding.ts';
import { cleanPasted } from '../domain/text.ts';
import { fieldRequired } from '../domain/validation-errors.ts';
import { invalidField, type Text } from '../errors.ts';
import type { PublicOperation } from '../context/operation.ts';
import { admitApplicant, type ApplicationCaller } from './applicant.ts';
import { applicationReply } from './application-reply.ts';
import {
  admitStep,
  type Application,
  changeApplication,
  type Change,
  markSubmitted,
  refuseWhenFinal,
} from './application.ts';
import {
  codeConfirmed,
  countCodeRequest,
  countWrongCode,
  homologationCode,
  isLocked,
  matchesTestCode,
  openCodeIfReadable,
  sealCode,
  type TypedCode,
} from './validation-code.ts';

const message = { en: 'The confirmation was received.', pt: 'A confirmação foi recebida.' };

/** Submits the code that the person received. Outside production it is optional. */
export const confirmElectronicValidation: PublicOperation<'confirmElectronicValidation'> = {
  access: 'public',
  admit: admitApplicant,
  checkRefused(context, { body }) {
    if (body.codigo === undefined) defaultCode(context);
  },
  async run(context, { input, request }) {
    const { codigo = defaultCode(context), tipo = 1 } = input.body ?? {};
    const caller = { ...input.path, clientAddress: request.clientAddress };
    const typed = { codigo: cleanPasted(codigo), tipo };
    const application = await submitCode(context, caller, typed);
    return {
      status: 202,
      body: { message: message[request.locale], application: applicationReply(application) },
    };
  },
};

function defaultCode({ config }: Context): string {
  if (config.appEnv === 'production') throw invalidField('codigo', fieldRequired);
  return homologationCode;
}

const step = 'electronic_validation_confirm';

/**
 * Submits a code. With local onboarding it is compared at once; otherwise it is stored sealed until
 * the provider compares it.
 * @returns the changed application.
 * @throws AppError NOT_FOUND; VALIDATION_FAILED naming `codigo` for a wrong code and for any code
 *   while the step is locked, or `application` when it accepts no code.
 */
async function submitCode(
  context: LocalContext,
  { applicationId, clientAddress }: ApplicationCaller,
  typed: TypedCode,
): Promise<Application> {
  let isWrong = false;
  const change: Change = async (stored, transaction) => {
    refuseWhenFinal(stored);
    refuseWhenLocked(context, stored);
    if (!context.config.onboardingLocalOnly) {
      const after = saveCode(context, stored, typed);
      // Submitting a code may queue a failed request for the code again.
      await countCodeRequest(transaction, { before: stored, after, clientAddress });
      return after;
    }
    isWrong = !matchesTestCode(typed);
    return isWrong ? countWrongCode(context, stored) : confirm(context, stored);
  };
  const application = await changeApplication(context, applicationId, change);
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
function saveCode(context: LocalContext, application: Application, typed: TypedCode): Application {
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
