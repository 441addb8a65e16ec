/**
 * Runs a step at the provider: reads the content and counts the attempt, calls the provider without
 * an open transaction, then stores the result. If the step was submitted again meanwhile, the
 * result is dropped; the step stays queued and its job runs again.
 */
import type { Context, LocalContext } from '../context/context.ts';
import {
  beginStep,
  endStep,
  failStep,
  isReady,
  getStep,
  type StepName,
} from '../domain/onboarding.ts';
import { ProviderError, wrongValidationCode } from '../provider/errors.ts';
import type { CallOptions } from '../provider/provider.ts';
import { sealClientToken } from './account.ts';
import { forwardDocuments } from './document-submission.ts';
import { isRefusal, toStepError } from './step-failure.ts';
import { provaVidaPage } from './step-submission.ts';
import { documentsStatus } from './submitted-content.ts';
import { codeConfirmed, countWrongCode, isLocked, openCode } from './validation-code.ts';
import { findApplicationByUser } from './application-repository.ts';
import { changeApplication, type Application } from './application.ts';

/** The steps that an applicant submits. */
export type ApplicantStep = Exclude<StepName, 'kyc' | 'account'>;

export interface StepWork {
  readonly userId: number;
  readonly name: ApplicantStep;
  readonly options?: CallOptions;
}

/**
 * Runs a step if it is ready. It may be called again.
 * @returns the provider's failure, or null when there was none.
 */
export async function runStep(
  context: Context,
  { userId, name, options = {} }: StepWork,
): Promise<ProviderError | null> {
  const application = await begin(context, userId, name);
  if (!application) return null;
  const work = { application, name };
  try {
    const facts = await send[name](context, application, options);
    await succeeded(context, work, facts);
    return null;
  } catch (error) {
    if (!(error instanceof ProviderError) || isCutShort(context, error)) throw error;
    await failed(context, work, error);
    return error;
  }
}

/** Whether the call was interrupted by a shutdown: another process will run the job. */
function isCutShort({ stopping }: Context, { outcome }: ProviderError): boolean {
  return stopping.aborted && outcome !== 'rejected';
}

/** @returns the application with the content to send, or null when there is nothing to do. */
async function begin(
  context: LocalContext,
  userId: number,
  name: ApplicantStep,
): Promise<Application | null> {
  const found = await findApplicationByUser(context, userId);
  if (!found || !isReady(found, name)) return null;
  const now = context.clock.now();
  const begun = await changeApplication(context, found.id, (application) => {
    if (!isReady(application, name)) return application;
    if (name === 'electronic_validation_confirm' && isLocked(context, application)) {
      const withoutCode = { ...application, sealedCode: null };
      return failStep(withoutCode, name, { error: 'CODE_LOCKED', now });
    }
    // An application that began without the provider was never registered there.
    if (name !== 'registration' && application.pessoaFisicaId === null) {
      return failStep(application, name, { error: 'EARLIER_STEP_FAILED', now });
    }
    return beginStep(application, name, now);
  });
  return isReady(begun, name) ? begun : null;
}

/** What the provider's response contains about an application. */
type ProviderFacts = Partial<
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

type Send = (
  context: Context,
  application: Application,
  options: CallOptions,
) => Promise<ProviderFacts>;

const send: Readonly<Record<ApplicantStep, Send>> = {
  async registration(context, { applicant }, options) {
    const { id, name, email, document, phone } = applicant;
    const person = { name, email, document, phone };
    const registered = await context.provider.registerPerson({ ...person, ...options });
    const clientToken = sealClientToken(context, id, registered.clientToken);
    return { ...registered, clientToken };
  },
  async address({ provider }, application, options) {
    const address = required(application.address);
    await provider.submitAddress({ personId: requirePersonId(application), address, ...options });
    return {};
  },
  async documents(context, application, options) {
    await forwardDocuments(context, application, options);
    return {};
  },
  async proposal({ provider }, application, options) {
    const proposal = required(application.proposal);
    await provider.submitProposal({ personId: requirePersonId(application), proposal, ...options });
    return {};
  },
  async electronic_validation({ provider }, application, options) {
    const { tipo } = required(application.validation);
    await provider.requestValidation({ personId: requirePersonId(application), tipo, ...options });
    return {};
  },
  async electronic_validation_confirm(context, application, options) {
    const code = required(openCode(context, application));
    await context.provider.confirmValidation({
      personId: requirePersonId(application),
      ...code,
      ...options,
    });
    return {};
  },
  async prova_vida(context, application, options) {
    const { sessionId, urlIframe } = await context.provider.startLivenessCheck({
      personId: requirePersonId(application),
      ...options,
    });
    const { stub } = context.config.provider;
    // The simulated bank has no page.
    const page = stub && sessionId !== null ? provaVidaPage(context, sessionId) : null;
    return { provaVidaSessionId: sessionId, provaVidaUrl: page ?? urlIframe };
  },
};

function requirePersonId({ pessoaFisicaId }: Application): string {
  return required(pessoaFisicaId);
}

/** @throws Error when content that a ready step must have is missing. */
function required<T>(value: T | null): T {
  if (value === null) throw new Error('a step is ready and its content is missing');
  return value;
}

interface Sent {
  /** The application when the provider was called. */
  readonly application: Application;
  readonly name: ApplicantStep;
}

/** Whether the step still has the content that was sent. */
function isCurrent(stored: Application, { application, name }: Sent): boolean {
  const step = getStep(stored, name);
  return step.status === 'queued' && step.revision === getStep(application, name).revision;
}

async function succeeded(context: LocalContext, sent: Sent, facts: ProviderFacts): Promise<void> {
  const { application, name } = sent;
  await changeApplication(context, application.id, async (stored, transaction) => {
    if (!isCurrent(stored, sent)) return stored;
    const status = name === 'documents' ? await documentsStatus(transaction, stored) : 'done';
    const code = name === 'electronic_validation_confirm' ? codeConfirmed : {};
    const end = { status, now: context.clock.now() };
    return endStep({ ...stored, ...facts, ...code }, name, end);
  });
}

async function failed(context: LocalContext, sent: Sent, error: ProviderError): Promise<void> {
  const { application, name } = sent;
  const now = context.clock.now();
  await changeApplication(context, application.id, (stored) => {
    // Every refusal counts as a wrong code, whatever its reason, to prevent guessing.
    if (name !== 'electronic_validation_confirm' || !isRefusal(error)) {
      return isCurrent(stored, sent)
        ? failStep(stored, name, { error: toStepError(error), now })
        : stored;
    }
    // The attempt counts even if another code was submitted meanwhile.
    const counted = countWrongCode(context, stored);
    const isWrong = error.reason === wrongValidationCode;
    const stepError = isWrong ? 'WRONG_CODE' : toStepError(error);
    return isCurrent(stored, sent)
      ? failStep({ ...counted, sealedCode: null }, name, { error: stepError, now })
      : counted;
  });
}
