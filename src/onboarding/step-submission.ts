/** Submits a step whose content is stored with the application, or a local proof of life. */
import { isDeepStrictEqual } from 'node:util';
import { randomUUID } from 'node:crypto';
import { ownAddress } from '../config/own-address.ts';
import type { Context, LocalContext } from '../context/context.ts';
import { isCodeResendDue, getStep, type StepName } from '../domain/onboarding.ts';
import type { ApplicationCaller } from './applicant.ts';
import { countCodeRequest } from './validation-code.ts';
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
  return changeApplication(context, applicationId, async (application, transaction) => {
    const updated = { ...application, ...content };
    const { status } = getStep(application, name);
    const isRepeat = status !== 'pending' && isDeepStrictEqual(updated, application);
    admitStep(application, { name, isRepeat });
    const isNewRequest = status === 'failed' || isResendDue(context, application, name);
    if (isRepeat && !isNewRequest) return application;
    const after = markSubmitted(context, updated, name);
    await countCodeRequest(transaction, { before: application, after, clientAddress });
    return after;
  });
}

/** Whether a repeat must send another code; with local onboarding no code is sent. */
function isResendDue(context: LocalContext, application: Application, name: StepName): boolean {
  if (name !== 'electronic_validation' || context.config.onboardingLocalOnly) return false;
  return isCodeResendDue(application, context.clock.now());
}

/**
 * The URL of a page that does not exist yet, with a name that never resolves (RFC 6761, section
 * 6.4). The route is public, so the URL reveals neither the provider's address nor this service's.
 */
export const placeholderUrl = 'https://prova-vida.invalid';

/**
 * Opens a proof-of-life session without the provider: the development page in `local`. The session
 * id is random, because URLs must not contain the secret id of the application.
 */
export function submitLocalProvaVida(context: Context, application: Application): Application {
  const session = randomUUID();
  const url = provaVidaPage(context, session) ?? `${placeholderUrl}/${session}`;
  const opened = { ...application, provaVidaSessionId: session, provaVidaUrl: url };
  return markSubmitted(context, opened, 'prova_vida');
}

/** @returns the development page that replaces the provider's; null outside `local`. */
export function provaVidaPage({ config, listening }: Context, session: string): string | null {
  const { appEnv, host } = config;
  const { port } = listening;
  return appEnv === 'local' ? `${ownAddress({ host, port })}/dev/prova-vida/${session}` : null;
}
