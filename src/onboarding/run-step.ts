/**
 * Carrying out a step at the provider. What is to be sent is read and the try is counted, then the
 * provider is called, with no transaction open; what became of it is stored only if the step still
 * asks for what was sent. Otherwise it stays queued, and its job runs again.
 */
import type { Context, LocalContext } from '../context.ts';
import {
  beginStep,
  endStep,
  failStep,
  isReady,
  stepOf,
  type StepName,
} from '../domain/onboarding.ts';
import { ProviderError, WRONG_VALIDATION_CODE } from '../provider/errors.ts';
import type { CallOptions } from '../provider/provider.ts';
import { sealClientToken } from '../auth/client-token.ts';
import { forwardDocuments } from './document-submission.ts';
import { isRefusal, stepErrorOf } from './step-failure.ts';
import { documentsStatus } from './submitted-content.ts';
import { codeConfirmed, countWrongCode, isLocked, openCode } from './sealed-code.ts';
import { changeApplication, findApplicationOf, type Application } from './application.ts';

/** The steps that an applicant gives. */
export type GivenStep = Exclude<StepName, 'kyc' | 'account'>;

export interface StepWork {
  readonly userId: number;
  readonly name: GivenStep;
  readonly options?: CallOptions;
}

/**
 * Carries out a step that is ready; one that is not is left alone. It may be done again.
 * @returns the provider's failure, or null when there was none.
 */
export async function carryOutStep(
  context: Context,
  { userId, name, options = {} }: StepWork,
): Promise<ProviderError | null> {
  const application = await begin(context, userId, name);
  if (!application) return null;
  const work = { application, name };
  try {
    const learnt = await send[name](context, application, options);
    await succeeded(context, work, learnt);
    return null;
  } catch (error) {
    if (!(error instanceof ProviderError) || isCutShort(context, error)) throw error;
    await failed(context, work, error);
    return error;
  }
}

/** The service stops: the job is put back, and another process takes it up. */
function isCutShort({ stopping }: Context, { outcome }: ProviderError): boolean {
  return stopping.aborted && outcome !== 'rejected';
}

/** @returns the application with what is to be sent, or null when there is nothing to do. */
async function begin(
  context: LocalContext,
  userId: number,
  name: GivenStep,
): Promise<Application | null> {
  const found = await findApplicationOf(context, userId);
  if (!found || !isReady(found, name)) return null;
  const now = context.clock.now();
  const begun = await changeApplication(context, found.id, (application) => {
    if (!isReady(application, name)) return application;
    if (name === 'electronic_validation_confirm' && isLocked(context, application)) {
      const forgotten = { ...application, sealedCode: null };
      return failStep(forgotten, name, { error: 'CODE_LOCKED', now });
    }
    // The registration of an application that was begun without the provider was never sent.
    if (name !== 'registration' && application.pessoaFisicaId === null) {
      return failStep(application, name, { error: 'EARLIER_STEP_FAILED', now });
    }
    return beginStep(application, name, now);
  });
  return isReady(begun, name) ? begun : null;
}

/** What an answer tells of an application. */
type Learnt = Partial<
  Pick<
    Application,
    | 'pessoaFisicaId'
    | 'clientToken'
    | 'agency'
    | 'accountNumber'
    | 'provaVidaSessionId'
    | 'provaVidaUrl'
  >
>;

type Send = (context: Context, application: Application, options: CallOptions) => Promise<Learnt>;

const send: Readonly<Record<GivenStep, Send>> = {
  async registration(context, { applicant }, options) {
    const { id, name, email, document, phone } = applicant;
    const person = { name, email, document, phone };
    const registered = await context.provider.registerPerson({ ...person, ...options });
    const clientToken = sealClientToken(context, id, registered.clientToken);
    return { ...registered, clientToken };
  },
  async address({ provider }, application, options) {
    const address = given(application.address);
    await provider.submitAddress({ personId: personOf(application), address, ...options });
    return {};
  },
  async documents(context, application, options) {
    await forwardDocuments(context, application, options);
    return {};
  },
  async proposal({ provider }, application, options) {
    const proposal = given(application.proposal);
    await provider.submitProposal({ personId: personOf(application), proposal, ...options });
    return {};
  },
  async electronic_validation({ provider }, application, options) {
    const { tipo } = given(application.validation);
    await provider.requestValidation({ personId: personOf(application), tipo, ...options });
    return {};
  },
  async electronic_validation_confirm(context, application, options) {
    const code = given(openCode(context, application));
    await context.provider.confirmValidation({
      personId: personOf(application),
      ...code,
      ...options,
    });
    return {};
  },
  async prova_vida({ provider }, application, options) {
    const session = await provider.startLivenessCheck({
      personId: personOf(application),
      ...options,
    });
    return { provaVidaSessionId: session.sessionId, provaVidaUrl: session.urlIframe };
  },
};

function personOf({ pessoaFisicaId }: Application): string {
  return given(pessoaFisicaId);
}

/** @throws Error for what a step that is ready cannot be without. */
function given<T>(value: T | null): T {
  if (value === null) throw new Error('a step is ready and its content is missing');
  return value;
}

interface Sent {
  /** As it was when the provider was called. */
  readonly application: Application;
  readonly name: GivenStep;
}

/** Whether the step still asks for what was sent. */
function isCurrent(stored: Application, { application, name }: Sent): boolean {
  const step = stepOf(stored, name);
  return step.status === 'queued' && step.revision === stepOf(application, name).revision;
}

async function succeeded(context: LocalContext, sent: Sent, learnt: Learnt): Promise<void> {
  const { application, name } = sent;
  await changeApplication(context, application.id, async (stored, em) => {
    if (!isCurrent(stored, sent)) return stored;
    const status = name === 'documents' ? await documentsStatus(em, stored) : 'done';
    const code = name === 'electronic_validation_confirm' ? codeConfirmed : {};
    const end = { status, now: context.clock.now() };
    return endStep({ ...stored, ...learnt, ...code }, name, end);
  });
}

async function failed(context: LocalContext, sent: Sent, error: ProviderError): Promise<void> {
  const { application, name } = sent;
  const now = context.clock.now();
  await changeApplication(context, application.id, (stored) => {
    // Whatever the provider calls a wrong code: what it refuses for good is not to be guessed on.
    if (name !== 'electronic_validation_confirm' || !isRefusal(error)) {
      return isCurrent(stored, sent)
        ? failStep(stored, name, { error: stepErrorOf(error), now })
        : stored;
    }
    // The try counts even where another code has come meanwhile.
    const counted = countWrongCode(context, stored);
    const isWrong = error.reason === WRONG_VALIDATION_CODE;
    const word = isWrong ? 'WRONG_CODE' : stepErrorOf(error);
    return isCurrent(stored, sent)
      ? failStep({ ...counted, sealedCode: null }, name, { error: word, now })
      : counted;
  });
}
