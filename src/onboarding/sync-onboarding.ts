import type { Context, LocalContext } from '../context/context.ts';
import {
  endStep,
  failStep,
  getStep,
  isReady,
  queueStep,
  type StepName,
  stepsBeforeKyc,
} from '../domain/onboarding.ts';
import type { PublicOperation } from '../context/operation.ts';
import { type ApplicationCaller, findApplicant } from './applicant.ts';
import { applicationReply } from './application-reply.ts';
import {
  type Application,
  changeApplication,
  queueStepJob,
  refuseWhenFinal,
} from './application.ts';
import { isDueForDecision, openEnd } from './kyc.ts';
import { submitLocalProvaVida } from './step-submission.ts';
import { hasContent } from './submitted-content.ts';
import { countCodeRequest, mayRequestCode } from './validation-code.ts';

const message = {
  en: 'The synchronisation has started.',
  pt: 'A sincronização foi iniciada.',
};

/** Resumes the submitted steps that are not done. */
export const syncOnboarding: PublicOperation<'syncOnboarding'> = {
  access: 'public',
  async run(context, { input, request }) {
    const caller = { ...input.path, clientAddress: request.clientAddress };
    const application = await syncApplication(context, caller);
    return {
      status: 202,
      body: { message: message[request.locale], application: applicationReply(application) },
    };
  },
};

/**
 * Queues every submitted step that is not done, the registration first, and the provider's decision
 * if it is due. With local onboarding, such steps are completed at once.
 * @returns the changed application.
 * @throws AppError NOT_FOUND, THROTTLED, and VALIDATION_FAILED for an application that is closed.
 */
async function syncApplication(context: Context, caller: ApplicationCaller): Promise<Application> {
  const { id } = await findApplicant(context, caller);
  return changeApplication(context, id, async (application, transaction) => {
    const end = openEnd(application);
    if (end === null) refuseWhenFinal(application);
    if (context.config.onboardingLocalOnly) return openRequestedPage(context, application);
    if (end !== null && (end === 'account' || isDueForDecision(application))) {
      await queueStepJob(transaction, { application, name: end });
      return application;
    }
    const { clientAddress } = caller;
    const synced = await queueSubmittedSteps(transaction, { application, clientAddress });
    await countCodeRequest(transaction, { before: application, after: synced, clientAddress });
    return synced;
  });
}

/** Opens a local page if one was requested; every change completes the other steps. */
function openRequestedPage(context: Context, application: Application): Application {
  const { status } = getStep(application, 'prova_vida');
  const isOpen = status === 'queued' || status === 'failed';
  return isOpen && application.provaVidaUrl === null
    ? submitLocalProvaVida(context, application)
    : application;
}

async function queueSubmittedSteps(
  context: LocalContext,
  { application, clientAddress }: { application: Application; clientAddress: string },
): Promise<Application> {
  const now = context.clock.now();
  let synced = application;
  for (const name of stepsBeforeKyc) {
    // The throttle of codes must not prevent the retry of other steps.
    const isCode =
      name === 'electronic_validation' && getStep(application, name).status === 'failed';
    if (isCode && !(await mayRequestCode(context, { application, clientAddress }))) continue;
    if (needsRetry(application, name)) {
      synced = retryStep(synced, name, now);
    } else if (isReady(application, name)) {
      // Its job may be dead; an open job is not duplicated.
      await queueStepJob(context, { application, name });
    }
  }
  const hasFailed = stepsBeforeKyc.some((name) => getStep(synced, name).status === 'failed');
  if (openEnd(synced) !== 'kyc' || synced === application || hasFailed) return synced;
  return endStep(synced, 'kyc', { status: 'queued', now });
}

/** A step that was done before the application was known to the provider was never sent. */
function needsRetry(application: Application, name: StepName): boolean {
  const { status } = getStep(application, name);
  if (status === 'done') return application.pessoaFisicaId === null;
  // A refused code was deleted, so another one must be submitted.
  return status === 'failed' && hasContent(application, name);
}

function retryStep(application: Application, name: StepName, now: Date): Application {
  if (!hasContent(application, name)) {
    return failStep(application, name, { error: 'CONTENT_MISSING', now });
  }
  const queued = queueStep(application, name, now);
  // The provider needs its own page instead of a local one.
  return name === 'prova_vida'
    ? { ...queued, provaVidaSessionId: null, provaVidaUrl: null }
    : queued;
}
