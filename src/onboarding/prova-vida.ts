/** The proof of life: where the person shows a face to the provider's page. */
import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { endStep, isReady, stepOf } from '../domain/onboarding.ts';
import { ownAddress } from '../config/own-address.ts';
import type { CallOptions } from '../provider/provider.ts';
import { findApplicant, type ApplicationCaller } from './applicant.ts';
import { carryOutStep } from './run-step.ts';
import {
  admitStep,
  changeApplication,
  giveStep,
  queueStepJob,
  type Application,
} from './application.ts';
import { answerTo } from '../auth/provider-failure.ts';

/** How long after a request for a session its job looks whether the request has died. */
const takenUpAfterMs = 60_000;

/**
 * Stands for a page that is not there, by a name that never resolves (RFC 6761, section 6.4). The
 * route is public, so the address shows neither where the provider's API is nor where this listens.
 */
const placeholder = 'https://prova-vida.invalid';

export interface ProvaVida {
  readonly application: Application;
  /** The page to show. */
  readonly urlIframe: string;
}

/**
 * Opens the person's session, or answers the one that is open. Where onboarding is local that is a
 * page of ours. Otherwise the provider is asked within the request, because the app waits for the
 * page; a provider that does not know the person yet is asked as soon as it does, and the app gets
 * a placeholder until then.
 * @throws AppError NOT_FOUND, THROTTLED, VALIDATION_FAILED naming `application`, and the
 *   provider's failure; then the step has failed, and may be asked for again.
 */
export async function startProvaVida(
  context: Context,
  caller: ApplicationCaller,
  options: CallOptions = {},
): Promise<ProvaVida> {
  const { id } = await findApplicant(context, caller);
  const asked = await changeApplication(context, id, async (application, em) => {
    const isRepeat = application.provaVidaUrl !== null;
    admitStep(application, { name: 'prova_vida', isRepeat });
    if (isRepeat) return application;
    if (context.config.onboardingLocalOnly) return openLocally(context, application);
    const { status } = stepOf(application, 'prova_vida');
    if (stepOf(application, 'registration').status !== 'done') {
      return status === 'queued' ? application : giveStep(context, application, 'prova_vida');
    }
    const runAt = new Date(context.clock.now().getTime() + takenUpAfterMs);
    await queueStepJob(context, em, { application, name: 'prova_vida', runAt });
    return endStep(application, 'prova_vida', { status: 'queued', now: context.clock.now() });
  });
  if (!isReady(asked, 'prova_vida')) return shown(asked);
  return askProvider(context, asked, options);
}

async function askProvider(
  context: Context,
  { id, applicant }: Application,
  options: CallOptions,
): Promise<ProvaVida> {
  const work = { userId: applicant.id, name: 'prova_vida', options } as const;
  const failure = await carryOutStep(context, work);
  const application = await changeApplication(context, id, (stored) => stored);
  // Of requests at once, one may fail and another succeed: the session is open then.
  if (failure && application.provaVidaUrl === null) throw answerTo(failure);
  return shown(application);
}

function shown(application: Application): ProvaVida {
  return { application, urlIframe: application.provaVidaUrl ?? placeholder };
}

/** The session's name is random: the application's id is a secret, and addresses get around. */
export function openLocally(context: Context, application: Application): Application {
  const session = randomUUID();
  const { appEnv } = context.config;
  const url =
    appEnv === 'local'
      ? `${listeningAt(context)}/dev/prova-vida/${session}`
      : `${placeholder}/${session}`;
  const opened = { ...application, provaVidaSessionId: session, provaVidaUrl: url };
  return giveStep(context, opened, 'prova_vida');
}

function listeningAt({ config: { host }, listening: { port } }: Context): string {
  return ownAddress({ host, port });
}
