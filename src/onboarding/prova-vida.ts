/** The proof of life: the person shows their face on the provider's page. */
import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { endStep, isReady, getStep } from '../domain/onboarding.ts';
import { ownAddress } from '../config/own-address.ts';
import type { CallOptions } from '../provider/provider.ts';
import { findApplicant, type ApplicationCaller } from './applicant.ts';
import { runStep } from './run-step.ts';
import {
  admitStep,
  changeApplication,
  markSubmitted,
  queueStepJob,
  type Application,
} from './application.ts';
import { answerTo } from '../auth/provider-failure.ts';

/** How long after a request for a session its job runs, in case the request has failed. */
const takenUpAfterMs = 60_000;

/**
 * The URL of a page that does not exist yet, with a name that never resolves (RFC 6761, section
 * 6.4). The route is public, so the URL reveals neither the provider's address nor this service's.
 */
const placeholder = 'https://prova-vida.invalid';

export interface ProvaVida {
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
export async function startProvaVida(
  context: Context,
  caller: ApplicationCaller,
  options: CallOptions = {},
): Promise<ProvaVida> {
  const { id } = await findApplicant(context, caller);
  const requested = await changeApplication(context, id, async (application, em) => {
    const isRepeat = application.provaVidaUrl !== null;
    admitStep(application, { name: 'prova_vida', isRepeat });
    if (isRepeat) return application;
    if (context.config.onboardingLocalOnly) return openLocally(context, application);
    const { status } = getStep(application, 'prova_vida');
    if (getStep(application, 'registration').status !== 'done') {
      return status === 'queued' ? application : markSubmitted(context, application, 'prova_vida');
    }
    const runAt = new Date(context.clock.now().getTime() + takenUpAfterMs);
    await queueStepJob(context, em, { application, name: 'prova_vida', runAt });
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
  if (failure && application.provaVidaUrl === null) throw answerTo(failure);
  return shown(application);
}

function shown(application: Application): ProvaVida {
  return { application, urlIframe: application.provaVidaUrl ?? placeholder };
}

/** The session id is random, because URLs must not contain the secret id of the application. */
export function openLocally(context: Context, application: Application): Application {
  const session = randomUUID();
  const { appEnv } = context.config;
  const url =
    appEnv === 'local'
      ? `${listeningAt(context)}/dev/prova-vida/${session}`
      : `${placeholder}/${session}`;
  const opened = { ...application, provaVidaSessionId: session, provaVidaUrl: url };
  return markSubmitted(context, opened, 'prova_vida');
}

function listeningAt({ config: { host }, listening: { port } }: Context): string {
  return ownAddress({ host, port });
}
