/** Opens the account at the end of an onboarding, once, in the transaction of the change. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';
import { queryIn } from '../db/query-in.ts';
import { localAgency, newAccountNumber } from '../domain/account-number.ts';
import { accountOpened } from '../domain/onboarding.ts';
import { changeApplication, type Application } from './application.ts';

/** Parameters: user id, agency, account number, document, now. */
const openLocal: Statement = {
  name: 'account-open-local',
  text: `
    insert into accounts
           (user_id, provider, agency, account_number, document, status, created_at, updated_at)
    values ($1, 'local', $2, $3, $4, 'ACTIVE', $5, $5)
        on conflict (agency, account_number) where provider = 'local' do nothing
    returning account_number`,
};

/**
 * A login may already have stored the account; the decision's data are newer.
 * Parameters: user id, agency, account number, document, client token, now.
 */
const openAtProvider: Statement = {
  name: 'account-open-at-provider',
  text: `
    insert into accounts as a (user_id, provider, agency, account_number, document, status,
           provider_client_token, created_at, updated_at)
    values ($1, 'provider', $2, $3, $4, 'ACTIVE', $5, $6, $6)
        on conflict (user_id) do update
       set agency = excluded.agency, account_number = excluded.account_number,
           provider_client_token =
             coalesce(excluded.provider_client_token, a.provider_client_token),
           updated_at = excluded.updated_at
     where a.provider = 'provider'
    returning id`,
};

/** With nine million numbers, so many collisions in a row indicate a defect. */
const drawsAtMost = 20;

/** Opens a local account for an application that has just been approved. */
export async function openLocalAccount(
  context: LocalContext,
  em: EntityManager,
  application: Application,
): Promise<Application> {
  const { applicant } = application;
  const now = context.clock.now();
  for (let draw = 0; draw < drawsAtMost; draw += 1) {
    const accountNumber = newAccountNumber();
    const terms = [applicant.id, localAgency, accountNumber, applicant.document, now];
    const [account] = await queryIn(em, openLocal, terms);
    if (account) {
      return { ...accountOpened(application, now), agency: localAgency, accountNumber };
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
  const { agency, accountNumber } = account;
  const now = context.clock.now();
  await queryIn(em, openAtProvider, [
    applicant.id,
    agency,
    accountNumber,
    applicant.document,
    clientToken,
    now,
  ]);
  return { ...accountOpened(application, now), agency, accountNumber };
}

/**
 * Records on an approved application the account that a login has stored.
 * @param account `replacesLocal`: whether it replaces a local account.
 */
export async function noteAccountOfLogin(
  context: LocalContext,
  applicationId: string,
  account: ProviderAccountNumber & { readonly replacesLocal: boolean },
): Promise<void> {
  const { agency, accountNumber, replacesLocal } = account;
  await changeApplication(context, applicationId, (application) => {
    const opened = accountOpened(application, context.clock.now());
    return opened === application && !replacesLocal
      ? application
      : { ...opened, agency, accountNumber };
  });
}
