/** Onboarding applications in the database. */
import type { FilterQuery, InferEntity, LockOptions } from '@mikro-orm/core';
import type { LocalContext } from '../context/context.ts';
import type { OnboardingApplication as Entity } from '../db/entities/onboarding-application.ts';
import { sql, statement } from '../db/statement.ts';
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
  lock: LockOptions = {},
): Promise<Application | null> {
  const { em, OnboardingApplication } = await openUnit(db);
  const row = await em.findOne(OnboardingApplication, where, { populate: ['user'], ...lock });
  return row && toApplication(row);
}

/** The alias that MikroORM gives the applications in a statement that finds one. */
const rootAlias = 'o0';

/**
 * Locks an application until the end of the transaction. The user's row, which a login locks, is
 * read without a lock. That is enough: a change of an applicant's data deletes the application in
 * the same commit.
 * @returns null when there is no such application.
 */
export async function lockApplication(context: Store, id: string): Promise<Application | null> {
  const { LockMode } = await import('@mikro-orm/core');
  const lockMode = LockMode.PESSIMISTIC_WRITE;
  return findWhere(context, { id }, { lockMode, lockTableAliases: [rootAlias] });
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

/** A login of the user, which this waits for or which waits for this, keeps the e-mail. */
const lockEmail = statement({
  name: 'onboarding-lock-email',
  parameters: { email: 'text' },
  text: ({ email }) => sql<{ id: number }>`
    select id from users where lower(email) = lower(${email}) for update`,
});

const removeStranger = statement({
  name: 'onboarding-release-email',
  parameters: { userId: 'int', registeredBefore: 'timestamptz' },
  text: ({ userId, registeredBefore }) => sql<{ id: number }>`
    with stranger as (
      select id, user_id from onboarding_applications
       where user_id = ${userId} and created_at < ${registeredBefore} and status <> 'APPROVED'
         and not steps @> '[{"name": "electronic_validation_confirm", "status": "done"}]'
         and exists (select from users where id = ${userId} and status = 'ACTIVE')
         and not exists (select from banking_sessions where user_id = ${userId})
         and not exists (select from accounts where user_id = ${userId})
         and not exists (select from pix_transactions where user_id = ${userId})
         for update
    ), documents as (
      delete from onboarding_documents
       where application_id = any(array(select id from stranger))
    ), applications as (
      delete from onboarding_applications where id = any(array(select id from stranger))
    )
    delete from users where id = any(array(select user_id from stranger))
    returning id`,
});

/**
 * Removes the user who holds an e-mail, with the application, if it has led nowhere: it is not
 * approved, its code was never confirmed, and the user has never logged in at the provider, has
 * neither account nor transaction, and no operator has disabled them.
 * @param transaction the context of the transaction that registers another user.
 * @returns whether the e-mail is free.
 */
export async function releaseEmail(
  { db }: Store,
  { email, registeredBefore }: { readonly email: string; readonly registeredBefore: Date },
): Promise<boolean> {
  const [user] = await db.query(lockEmail, { email });
  if (!user) return true;
  const removed = await db.query(removeStranger, { userId: user.id, registeredBefore });
  return removed.length > 0;
}
