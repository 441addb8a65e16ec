/**
 * Changes stored onboarding applications. A change locks the application's row, so that changes are
 * serialised, and commits together with the jobs that it queues. It never waits for the provider.
 */
import type { LocalContext } from '../context/context.ts';
import { inTransaction } from '../db/unit-of-work.ts';
import {
  beginStep,
  endStep,
  enterAnalysis,
  isFinal,
  isReady,
  newProgress,
  queueStep,
  getStep,
  stepsBeforeKyc,
  type Progress,
  type StepName,
} from '../domain/onboarding.ts';
import { AppError, invalidField, type Text } from '../errors.ts';
import { enqueueJob } from '../jobs/job-repository.ts';
import { insertApplication, lockApplication, updateApplication } from './application-repository.ts';
import type { Application } from './application-row.ts';
import { documentsStatus, completeSubmittedSteps } from './submitted-content.ts';

export type { Application };

/** Returns the changed application; it must not wait for the network. */
export type Change = (
  application: Application,
  transaction: LocalContext,
) => Application | Promise<Application>;

/**
 * Changes an application while its row is locked. The change that completes the last step starts
 * the analysis, and the jobs of steps that have become ready are queued in the same commit. With
 * local onboarding, steps that were submitted without it are completed first.
 * @param change receives the stored application, and the context of the transaction.
 * @returns the application as stored.
 * @throws AppError NOT_FOUND; an error of `change` rolls everything back.
 */
export function changeApplication(
  context: LocalContext,
  applicationId: string,
  change: Change,
): Promise<Application> {
  return inTransaction(context, async (transaction) => {
    const before = await lockApplication(transaction, applicationId);
    if (!before) throw new AppError('NOT_FOUND');
    const now = context.clock.now();
    const isLocal = context.config.onboardingLocalOnly && before.status === 'IN_PROGRESS';
    const current = isLocal ? await completeSubmittedSteps(transaction, before) : before;
    const after = enterAnalysis(await change(current, transaction), now);
    if (after === before) return before;
    await updateApplication(transaction, after);
    await queueReadySteps(transaction, { before, after });
    return after;
  });
}

/**
 * Stores a new application, with the jobs of the steps that are already submitted.
 * @param transaction the context of the transaction that registers the applicant.
 */
export async function startApplication(
  transaction: LocalContext,
  application: Application,
): Promise<void> {
  await insertApplication(transaction, application);
  await queueReadySteps(transaction, { before: newProgress(), after: application });
}

/** Queues the jobs of steps that were submitted, or whose prerequisites have been completed. */
async function queueReadySteps(
  context: LocalContext,
  { before, after }: { readonly before: Progress; readonly after: Application },
): Promise<void> {
  if (context.config.onboardingLocalOnly) return;
  for (const name of stepsBeforeKyc) {
    const was = getStep(before, name);
    const isSubmitted = was.revision !== getStep(after, name).revision;
    const hasWaited = was.status === 'queued' && !isReady(before, name);
    if (isReady(after, name) && (isSubmitted || hasWaited)) {
      await queueStepJob(context, { application: after, name });
    }
  }
}

/**
 * Queues the job of a step, once at a time. The payload names the user, because the application's
 * id is a secret.
 */
export function queueStepJob(
  context: LocalContext,
  { application, name, runAt }: { application: Application; name: StepName; runAt?: Date },
): Promise<void> {
  const userId = application.applicant.id;
  return enqueueJob(context, {
    kind: 'onboarding-step',
    uniqueKey: `onboarding:${userId}:${name}`,
    payload: { userId, step: name },
    ...(runAt && { runAt }),
  });
}

const closed: Text = {
  en: 'The application is closed and takes no more steps.',
  pt: 'A solicitação está encerrada e não aceita mais etapas.',
};

const underAnalysis: Text = {
  en: 'The application is under analysis and takes no changes.',
  pt: 'A solicitação está em análise e não aceita alterações.',
};

/** @throws AppError VALIDATION_FAILED naming `application` for one that is decided. */
export function refuseWhenFinal(application: Application): void {
  if (isFinal(application)) throw invalidField('application', closed);
}

/**
 * Requires that an application accepts a step. In progress, it accepts every step. Under analysis,
 * it accepts repeats and steps that are not done, such as a step that the provider has since
 * refused. Once decided, it accepts no step.
 * @throws AppError VALIDATION_FAILED naming `application`.
 */
export function admitStep(
  application: Application,
  { name, isRepeat }: { readonly name: StepName; readonly isRepeat: boolean },
): void {
  refuseWhenFinal(application);
  const isAccepted = isRepeat || getStep(application, name).status !== 'done';
  if (application.status !== 'IN_PROGRESS' && !isAccepted) {
    throw invalidField('application', underAnalysis);
  }
}

/**
 * Marks a step as submitted; the caller stores its content in the same change. With local
 * onboarding the step is done, otherwise it is queued for its job.
 */
export function markSubmitted(
  context: LocalContext,
  application: Application,
  name: StepName,
): Application {
  const now = context.clock.now();
  if (!context.config.onboardingLocalOnly) return queueStep(application, name, now);
  return endStep(beginStep(application, name, now), name, { now });
}

/**
 * Marks a document as submitted, which is stored in this transaction. With local onboarding the
 * step is pending until the last required document.
 */
export async function markDocumentSubmitted(
  context: LocalContext,
  application: Application,
): Promise<Application> {
  const submitted = markSubmitted(context, application, 'documents');
  if (!context.config.onboardingLocalOnly) return submitted;
  const status = await documentsStatus(context, application);
  return endStep(submitted, 'documents', { status, now: context.clock.now() });
}
