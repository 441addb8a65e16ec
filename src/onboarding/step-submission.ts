/** Submits a step whose content is stored with the application. */
import { isDeepStrictEqual } from 'node:util';
import type { LocalContext } from '../context.ts';
import { isCodeResendDue, getStep, type StepName } from '../domain/onboarding.ts';
import type { ApplicationCaller } from './applicant.ts';
import { countCodeRequest } from './code-requests.ts';
import { admitStep, changeApplication, markSubmitted, type Application } from './application.ts';

export interface Submission {
  readonly name: StepName;
  readonly content: Partial<Pick<Application, 'address' | 'proposal' | 'validation'>>;
}

/**
 * Stores the content of a step and queues the step. A repeat of the same content changes nothing,
 * unless the step has failed, or its code was refused or has not arrived: then it runs again.
 * @returns the changed application.
 * @throws AppError NOT_FOUND, VALIDATION_FAILED when the application does not accept the step, and
 *   THROTTLED after too many requests for a code.
 */
export async function submitStep(
  context: LocalContext,
  { applicationId, clientAddress }: ApplicationCaller,
  { name, content }: Submission,
): Promise<Application> {
  return changeApplication(context, applicationId, async (application, em) => {
    const updated = { ...application, ...content };
    const { status } = getStep(application, name);
    const isRepeat = status !== 'pending' && isDeepStrictEqual(updated, application);
    admitStep(application, { name, isRepeat });
    const isNewRequest = status === 'failed' || isResendDue(context, application, name);
    if (isRepeat && !isNewRequest) return application;
    const after = markSubmitted(context, updated, name);
    await countCodeRequest(context, em, { before: application, after, clientAddress });
    return after;
  });
}

/** Whether a repeat must send another code; with local onboarding no code is sent. */
function isResendDue(context: LocalContext, application: Application, name: StepName): boolean {
  if (name !== 'electronic_validation' || context.config.onboardingLocalOnly) return false;
  return isCodeResendDue(application, context.clock.now());
}
