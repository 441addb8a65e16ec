/** Trying again what was given and is not done. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Context, LocalContext } from '../context.ts';
import {
  endStep,
  failStep,
  isReady,
  queueStep,
  stepOf,
  stepsBeforeKyc,
  type StepName,
} from '../domain/onboarding.ts';
import { findApplicant, type ApplicationCaller } from './applicant.ts';
import { countCodeRequest, mayRequestCode } from './code-requests.ts';
import { hasContent } from './submitted-content.ts';
import { isDueForDecision, openEnd } from './kyc.ts';
import { openLocally } from './prova-vida.ts';
import {
  changeApplication,
  queueStepJob,
  refuseWhenFinal,
  type Application,
} from './application.ts';

/**
 * Queues every step that was given and is not done, the registration first, and the provider's
 * decision where it is due. Where onboarding is local, what was given while it was not is carried
 * out at once.
 * @returns the application as it stands then.
 * @throws AppError NOT_FOUND, THROTTLED, and VALIDATION_FAILED for an application that is closed.
 */
export async function syncApplication(
  context: Context,
  caller: ApplicationCaller,
): Promise<Application> {
  const { id } = await findApplicant(context, caller);
  return changeApplication(context, id, async (application, em) => {
    const end = openEnd(application);
    if (end === null) refuseWhenFinal(application);
    if (context.config.onboardingLocalOnly) return openAskedPage(context, application);
    if (end !== null && (end === 'account' || isDueForDecision(application))) {
      await queueStepJob(context, em, { application, name: end });
      return application;
    }
    const { clientAddress } = caller;
    const synced = await queueGivenSteps(context, em, { application, clientAddress });
    await countCodeRequest(context, em, { before: application, after: synced, clientAddress });
    return synced;
  });
}

/** Every change carries out the other steps; whoever had asked for a page is shown one of ours. */
function openAskedPage(context: Context, application: Application): Application {
  const { status } = stepOf(application, 'prova_vida');
  const isOpen = status === 'queued' || status === 'failed';
  return isOpen && application.provaVidaUrl === null
    ? openLocally(context, application)
    : application;
}

async function queueGivenSteps(
  context: LocalContext,
  em: EntityManager,
  { application, clientAddress }: { application: Application; clientAddress: string },
): Promise<Application> {
  const now = context.clock.now();
  let synced = application;
  for (const name of stepsBeforeKyc) {
    // A limit of the code that failed keeps no other step from being tried again.
    const isCode =
      name === 'electronic_validation' && stepOf(application, name).status === 'failed';
    if (isCode && !(await mayRequestCode(context, em, { application, clientAddress }))) continue;
    if (isToTryAgain(application, name)) {
      synced = tryAgain(synced, name, now);
    } else if (isReady(application, name)) {
      // Its job may have died; an open one is not doubled.
      await queueStepJob(context, em, { application, name });
    }
  }
  const hasFailed = stepsBeforeKyc.some((name) => stepOf(synced, name).status === 'failed');
  if (openEnd(synced) !== 'kyc' || synced === application || hasFailed) return synced;
  return endStep(synced, 'kyc', { status: 'queued', now });
}

/** Of an application that was begun without the provider, what is done was never sent. */
function isToTryAgain(application: Application, name: StepName): boolean {
  const { status } = stepOf(application, name);
  if (status === 'done') return application.pessoaFisicaId === null;
  // A code that was refused is gone: another one has to be given.
  return status === 'failed' && hasContent(application, name);
}

function tryAgain(application: Application, name: StepName, now: Date): Application {
  if (!hasContent(application, name)) {
    return failStep(application, name, { error: 'CONTENT_MISSING', now });
  }
  const queued = queueStep(application, name, now);
  // A page of ours proves nothing to the provider.
  return name === 'prova_vida'
    ? { ...queued, provaVidaSessionId: null, provaVidaUrl: null }
    : queued;
}
