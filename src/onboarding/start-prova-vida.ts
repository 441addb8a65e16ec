import { toAppError } from '../auth/provider-failure.ts';
import type { Context } from '../context/context.ts';
import { endStep, getStep, isReady } from '../domain/onboarding.ts';
import type { PublicOperation } from '../context/operation.ts';
import type { CallOptions } from '../provider/provider.ts';
import { type ApplicationCaller, findApplicant } from './applicant.ts';
import { applicationReply } from './application-reply.ts';
import {
  admitStep,
  type Application,
  changeApplication,
  markSubmitted,
  queueStepJob,
} from './application.ts';
import { runStep } from './run-step.ts';
import { placeholderUrl, submitLocalProvaVida } from './step-submission.ts';

/** Opens the proof-of-life session, or returns the open one. */
export const startProvaVida: PublicOperation<'startProvaVida'> = {
  access: 'public',
  async run(context, { input, request }) {
    const { application, urlIframe } = await openProvaVida(
      context,
      { ...input.path, clientAddress: request.clientAddress },
      request.callOptions,
    );
    return {
      status: 202,
      body: { application: applicationReply(application), url_iframe: urlIframe },
    };
  },
};

/** How long after a request for a session its job runs, in case the request has failed. */
const takenUpAfterMs = 60_000;

interface ProvaVida {
  readonly application: Application;
  /** The page to show. */
  readonly urlIframe: string;
}

/**
 * Opens the person's session, or returns the open one. With local onboarding it is a page of this
 * service. Otherwise the provider is called within the request, because the app waits for the page.
 * Until the provider knows the person, the app receives a placeholder.
 * @throws AppError NOT_FOUND, THROTTLED, VALIDATION_FAILED naming `application`, and the provider's
 *   failure, after which the step may be requested again.
 */
export async function openProvaVida(
  context: Context,
  caller: ApplicationCaller,
  options: CallOptions = {},
): Promise<ProvaVida> {
  const { id } = await findApplicant(context, caller);
  const requested = await changeApplication(context, id, async (application, transaction) => {
    const isRepeat = application.provaVidaUrl !== null;
    admitStep(application, { name: 'prova_vida', isRepeat });
    if (isRepeat) return application;
    if (context.config.onboardingLocalOnly) return submitLocalProvaVida(context, application);
    const { status } = getStep(application, 'prova_vida');
    if (getStep(application, 'registration').status !== 'done') {
      return status === 'queued' ? application : markSubmitted(context, application, 'prova_vida');
    }
    const runAt = new Date(context.clock.now().getTime() + takenUpAfterMs);
    await queueStepJob(transaction, { application, name: 'prova_vida', runAt });
    return endStep(application, 'prova_vida', { status: 'queued', now: context.clock.now() });
  });
  if (!isReady(requested, 'prova_vida')) return shown(requested);
  return askProvider(context, requested, options);
}

async function askProvider(
  context: Context,
  { id, applicant }: Application,
  options: CallOptions,
): Promise<ProvaVida> {
  const work = { userId: applicant.id, name: 'prova_vida', options } as const;
  const failure = await runStep(context, work);
  const application = await changeApplication(context, id, (stored) => stored);
  // A concurrent request may have succeeded: then the session is open.
  if (failure && application.provaVidaUrl === null) throw toAppError(failure);
  return shown(application);
}

function shown(application: Application): ProvaVida {
  return { application, urlIframe: application.provaVidaUrl ?? placeholderUrl };
}
