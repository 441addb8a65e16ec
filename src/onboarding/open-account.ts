/** Opens the account at the end of an onboarding, once, in the transaction of the change. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { LocalContext } from '../context.ts';
import { inUnit } from '../db/unit-of-work.ts';
import {
  insertLocalAccount,
  storeProviderAccount,
  type AccountOfApplication,
} from '../accounts/account-repository.ts';
import { localAgency, newAccountNumber } from '../domain/account-number.ts';
import { accountOpened } from '../domain/onboarding.ts';
import { changeApplication, type Application } from './application.ts';

/** With nine million numbers, so many collisions in a row indicate a defect. */
const drawsAtMost = 20;

/** Opens a local account for an application that has just been approved. */
export async function openLocalAccount(
  context: LocalContext,
  em: EntityManager,
  application: Application,
): Promise<Application> {
  const { applicant } = application;
  for (let draw = 0; draw < drawsAtMost; draw += 1) {
    const accountNumber = newAccountNumber();
    const account = { agency: localAgency, accountNumber, document: applicant.document };
    if (await insertLocalAccount(inUnit(context, em), { userId: applicant.id, ...account })) {
      return {
        ...accountOpened(application, context.clock.now()),
        agency: localAgency,
        accountNumber,
      };
    }
  }
  throw new Error('no free account number was drawn');
}

export interface ProviderAccountNumber {
  readonly agency: string;
  readonly accountNumber: string;
}

/** Stores the account that the provider has opened for an approved application. */
export async function openProviderAccount(
  context: LocalContext,
  em: EntityManager,
  {
    application,
    account,
  }: { readonly application: Application; readonly account: ProviderAccountNumber },
): Promise<Application> {
  const { applicant, clientToken } = application;
  await storeProviderAccount(inUnit(context, em), {
    ...{ userId: applicant.id, document: applicant.document, clientToken },
    ...account,
  });
  return { ...accountOpened(application, context.clock.now()), ...account };
}

/**
 * Records on an approved application the account that a login has stored.
 * If it replaces a local account, the application gets the new number.
 */
export async function noteAccountOfLogin(
  context: LocalContext,
  { applicationId, agency, accountNumber, replacesLocal }: AccountOfApplication,
): Promise<void> {
  await changeApplication(context, applicationId, (application) => {
    const opened = accountOpened(application, context.clock.now());
    return opened === application && !replacesLocal
      ? application
      : { ...opened, agency, accountNumber };
  });
}
