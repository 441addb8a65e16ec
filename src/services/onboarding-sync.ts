/** Trying again what was given and is not done. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { LocalContext } from '../context.ts';
import { isReady, queueStep, stepOf, stepsBeforeKyc, type StepName } from '../domain/onboarding.ts';
import { openEnd } from './onboarding-kyc.ts';
import type { ApplicationCaller } from './onboarding-steps.ts';
import {
  admitStep,
  changeApplication,
  findApplication,
  queueStepJob,
  type Application,
} from './onboarding.ts';

/**
 * Queues every step that was given and is not done, the registration first, and the provider's
 * decision where it is due. Where onboarding is local there is nothing of the kind.
 * @returns the application as it stands then.
 * @throws AppError NOT_FOUND, THROTTLED, and VALIDATION_FAILED for an application that is closed.
 */
export async function syncApplication(
  context: LocalContext,
  { applicationId, clientAddress }: ApplicationCaller,
): Promise<Application> {
  await findApplication(context, applicationId, clientAddress);
  return changeApplication(context, applicationId, async (application, em) => {
    const end = openEnd(application);
    if (end === null) admitStep(application, { isRepeat: true });
    if (context.config.onboardingLocalOnly) return application;
    if (end !== null) {
      await queueStepJob(context, em, { application, name: end });
      return application;
    }
    return queueGivenSteps(context, em, application);
  });
}

async function queueGivenSteps(
  context: LocalContext,
  em: EntityManager,
  application: Application,
): Promise<Application> {
  let synced = application;
  for (const name of stepsBeforeKyc) {
    if (isToTryAgain(application, name)) {
      synced = queueStep(synced, name, context.clock.now());
    } else if (isReady(application, name)) {
      // Its job may have died; an open one is not doubled.
      await queueStepJob(context, em, { application, name });
    }
  }
  return synced;
}

function isToTryAgain(application: Application, name: StepName): boolean {
  const { status } = stepOf(application, name);
  const { pessoaFisicaId, sealedCode } = application;
  // Of an application that was begun without the provider it is done, and was never sent.
  if (name === 'registration' && status === 'done') return pessoaFisicaId === null;
  // A code that was refused is gone: another one has to be given.
  if (name === 'electronic_validation_confirm' && sealedCode === null) return false;
  return status === 'failed';
}
