/** Giving a step of an application whose whole content is what was given. */
import { isDeepStrictEqual } from 'node:util';
import type { LocalContext } from '../context.ts';
import { isCodeWanted, stepOf, type StepName } from '../domain/onboarding.ts';
import type { ApplicationCaller } from './applicant.ts';
import { countCodeRequest } from './code-requests.ts';
import { admitStep, changeApplication, giveStep, type Application } from './application.ts';

export interface Submission {
  readonly name: StepName;
  readonly content: Partial<Pick<Application, 'address' | 'proposal' | 'validation'>>;
}

/**
 * Stores what a step was given and has it carried out. The same content again changes nothing,
 * unless the step has failed, or the code that it sent was refused or did not come: then it is
 * tried again.
 * @returns the application as it stands then.
 * @throws AppError NOT_FOUND, VALIDATION_FAILED when it takes no such step now, and THROTTLED for
 *   one request of a code too many.
 */
export async function submitStep(
  context: LocalContext,
  { applicationId, clientAddress }: ApplicationCaller,
  { name, content }: Submission,
): Promise<Application> {
  return changeApplication(context, applicationId, async (application, em) => {
    const given = { ...application, ...content };
    const { status } = stepOf(application, name);
    const isRepeat = status !== 'pending' && isDeepStrictEqual(given, application);
    admitStep(application, { name, isRepeat });
    const isNewRequest = status === 'failed' || wantsCode(context, application, name);
    if (isRepeat && !isNewRequest) return application;
    const after = giveStep(context, given, name);
    await countCodeRequest(context, em, { before: application, after, clientAddress });
    return after;
  });
}

/** Where onboarding is local nobody sends a code. */
function wantsCode(context: LocalContext, application: Application, name: StepName): boolean {
  if (name !== 'electronic_validation' || context.config.onboardingLocalOnly) return false;
  return isCodeWanted(application, context.clock.now());
}
