/** Onboarding applications in the database. */
import type { FilterQuery, InferEntity } from '@mikro-orm/core';
import type { LocalContext } from '../context/context.ts';
import type { OnboardingApplication as Entity } from '../db/entities/onboarding-application.ts';
import { openUnit } from '../db/unit-of-work.ts';
import { toApplication, toColumns, type Application } from './application-row.ts';

type Store = Pick<LocalContext, 'db'>;

/** @returns the application of a user, or null. */
export function findApplicationByUser(context: Store, userId: number): Promise<Application | null> {
  return findWhere(context, { user: userId });
}

/** @returns an application that is not decided yet, or has changed since a time; otherwise null. */
export function findRecentApplication(
  context: Store,
  id: string,
  decidedSince: Date,
): Promise<Application | null> {
  return findWhere(context, {
    id,
    $or: [{ status: { $nin: ['APPROVED', 'REJECTED'] } }, { updatedAt: { $gt: decidedSince } }],
  });
}

async function findWhere(
  { db }: Store,
  where: FilterQuery<InferEntity<typeof Entity>>,
): Promise<Application | null> {
  const { em, OnboardingApplication } = await openUnit(db);
  const row = await em.findOne(OnboardingApplication, where, { populate: ['user'] });
  return row && toApplication(row);
}

/**
 * Locks an application until the end of the transaction.
 * @returns null when there is no such application.
 */
export async function lockApplication({ db }: Store, id: string): Promise<Application | null> {
  const [{ em, OnboardingApplication }, { LockMode }] = await Promise.all([
    openUnit(db),
    import('@mikro-orm/core'),
  ]);
  const lockMode = LockMode.PESSIMISTIC_WRITE;
  const row = await em.findOne(OnboardingApplication, { id }, { lockMode });
  if (!row) return null;
  await em.populate(row, ['user']);
  return toApplication(row);
}

/** Stores a changed application, with the commit of the transaction that has locked it. */
export async function updateApplication(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  application: Application,
): Promise<void> {
  const { em, OnboardingApplication } = await openUnit(db);
  const row = em.getReference(OnboardingApplication, application.id);
  Object.assign(row, toColumns(application), { updatedAt: clock.now() });
}

/** Stores a new application. */
export async function insertApplication(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  application: Application,
): Promise<void> {
  const { em, OnboardingApplication } = await openUnit(db);
  const { id, applicant, personType } = application;
  const now = clock.now();
  await em.insert(OnboardingApplication, {
    id,
    user: applicant.id,
    personType,
    createdAt: now,
    updatedAt: now,
    ...toColumns(application),
  });
}
