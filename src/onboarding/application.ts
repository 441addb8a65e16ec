/**
 * The onboarding application as it is stored: how it is found and changed. A change holds
 * the application's row, so that changes come one after another, and commits together with the jobs
 * that follow from it. Nothing waits for the network in it.
 */
import type { FilterQuery, InferEntity } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { LocalContext } from '../context.ts';
import type { OnboardingApplication } from '../db/entities/onboarding-application.ts';
import { loadEntities } from '../db/unit-of-work.ts';
import {
  beginStep,
  endStep,
  enterAnalysis,
  isFinal,
  isReady,
  newProgress,
  queueStep,
  stepOf,
  stepsBeforeKyc,
  type Progress,
  type StepName,
} from '../domain/onboarding.ts';
import { AppError, invalidField, type Text } from '../errors.ts';
import { enqueueJobIn } from '../jobs/queue.ts';
import { applicationOf, columnsOf, type Application } from './application-row.ts';
import { documentsStatus, endGivenSteps } from './submitted-content.ts';

export type { Application };

async function applications() {
  return (await loadEntities()).OnboardingApplication;
}

/** @returns the application of a user, or null. */
export function findApplicationOf(
  context: LocalContext,
  userId: number,
): Promise<Application | null> {
  return readApplication(context, { user: userId });
}

/** @returns the application that a condition finds, or null. */
export async function readApplication(
  { db }: LocalContext,
  where: FilterQuery<InferEntity<typeof OnboardingApplication>>,
): Promise<Application | null> {
  const em = await db.em();
  const row = await em.findOne(await applications(), where, { populate: ['user'] });
  return row && applicationOf(row);
}

/** What a change makes of an application; it must not wait for the network. */
export type Change = (
  application: Application,
  em: EntityManager,
) => Application | Promise<Application>;

/**
 * Changes an application while its row is held. The analysis begins with the change that completes
 * it, and the jobs of the steps that have become ready are queued in the same commit. Where
 * onboarding is local, what was given while it was not is carried out first.
 * @param change takes what is stored, and the transaction for what else belongs to the commit.
 * @returns what is stored then.
 * @throws AppError NOT_FOUND; what `change` throws undoes all of it.
 */
export async function changeApplication(
  context: LocalContext,
  applicationId: string,
  change: Change,
): Promise<Application> {
  const unit = await context.db.em();
  const { LockMode } = await import('@mikro-orm/core');
  return unit.transactional(async (em) => {
    const row = await em.findOne(
      await applications(),
      { id: applicationId },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (!row) throw new AppError('NOT_FOUND');
    await em.populate(row, ['user']);
    const before = applicationOf(row);
    const now = context.clock.now();
    const isLocal = context.config.onboardingLocalOnly && before.status === 'IN_PROGRESS';
    const current = isLocal ? await endGivenSteps(context, em, before) : before;
    const after = enterAnalysis(await change(current, em), now);
    if (after === before) return before;
    Object.assign(row, columnsOf(after), { updatedAt: now });
    await queueReadySteps(context, em, { before, after });
    return after;
  });
}

/** Stores a new application, with the jobs of what it was given already. */
export async function insertApplication(
  context: LocalContext,
  em: EntityManager,
  application: Application,
): Promise<void> {
  const { id, applicant, personType } = application;
  const now = context.clock.now();
  await em.insert(await applications(), {
    ...{ id, user: applicant.id, personType, createdAt: now, updatedAt: now },
    ...columnsOf(application),
  });
  await queueReadySteps(context, em, { before: newProgress(), after: application });
}

/** The job of a step is queued when it was given anew, and when what it waited for is done. */
async function queueReadySteps(
  context: LocalContext,
  em: EntityManager,
  { before, after }: { readonly before: Progress; readonly after: Application },
): Promise<void> {
  if (context.config.onboardingLocalOnly) return;
  for (const name of stepsBeforeKyc) {
    const was = stepOf(before, name);
    const isGiven = was.revision !== stepOf(after, name).revision;
    const hasWaited = was.status === 'queued' && !isReady(before, name);
    if (isReady(after, name) && (isGiven || hasWaited)) {
      await queueStepJob(context, em, { application: after, name });
    }
  }
}

/**
 * Queues the job of a step: one, however often it is asked for. It names the user, because the
 * application's id is a secret.
 */
export function queueStepJob(
  context: LocalContext,
  em: EntityManager,
  { application, name, runAt }: { application: Application; name: StepName; runAt?: Date },
): Promise<void> {
  const userId = application.applicant.id;
  return enqueueJobIn(em, context.clock, {
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
 * Lets a step pass that an application takes now: anything while it is in progress, what it has
 * already or still lacks while it is under analysis, nothing when it is decided. What it lacks then
 * is what the provider, which was not asked before, has refused or has to be given anew.
 * @throws AppError VALIDATION_FAILED naming `application`.
 */
export function admitStep(
  application: Application,
  { name, isRepeat }: { readonly name: StepName; readonly isRepeat: boolean },
): void {
  refuseWhenFinal(application);
  const isTaken = isRepeat || stepOf(application, name).status !== 'done';
  if (application.status !== 'IN_PROGRESS' && !isTaken) {
    throw invalidField('application', underAnalysis);
  }
}

/**
 * Notes that a step was given, with a new content that is stored in the same change. Where
 * onboarding is local it is done with that; otherwise its job does it.
 */
export function giveStep(
  context: LocalContext,
  application: Application,
  name: StepName,
): Application {
  const now = context.clock.now();
  if (!context.config.onboardingLocalOnly) return queueStep(application, name, now);
  return endStep(beginStep(application, name, now), name, { now });
}

/**
 * Notes that a document was given and is stored in this transaction. Where onboarding is local the
 * step is done with the last document that is needed, and pending until then.
 */
export async function giveDocument(
  context: LocalContext,
  em: EntityManager,
  application: Application,
): Promise<Application> {
  const given = giveStep(context, application, 'documents');
  if (!context.config.onboardingLocalOnly) return given;
  const status = await documentsStatus(em, application);
  return endStep(given, 'documents', { status, now: context.clock.now() });
}
