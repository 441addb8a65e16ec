/**
 * The account of an applicant: opened once at the end of an onboarding, in the transaction of the
 * change, and updated at every login from what the provider reports.
 */
import {
  type AccountOfApplication,
  insertLocalAccount,
  upsertAccountFromLogin,
  storeProviderAccount,
} from '../accounts/account-repository.ts';
import type { LoginUser } from '../auth/user-repository.ts';
import { isLoopbackHost } from '../config/own-address.ts';
import type { LocalContext } from '../context/context.ts';
import { localAgency, newAccountNumber } from '../domain/account.ts';
import { accountOpened } from '../domain/onboarding.ts';
import { normaliseTaxId } from '../domain/tax-id.ts';
import type { ProviderAccount } from '../provider/provider.ts';
import { type Application, changeApplication } from './application.ts';

/** With nine million numbers, so many collisions in a row indicate a defect. */
const maxDraws = 20;

/** Opens a local account for an application that has just been approved. */
export async function openLocalAccount(
  context: LocalContext,
  application: Application,
): Promise<Application> {
  const { applicant } = application;
  for (let draw = 0; draw < maxDraws; draw += 1) {
    const accountNumber = newAccountNumber();
    const account = { agency: localAgency, accountNumber, document: applicant.document };
    if (await insertLocalAccount(context, { userId: applicant.id, ...account })) {
      return {
        ...accountOpened(application, context.clock.now()),
        agency: localAgency,
        accountNumber,
      };
    }
  }
  throw new Error('no free account number was drawn');
}

interface ProviderAccountNumber {
  readonly agency: string;
  readonly accountNumber: string;
}

/** Stores the account that the provider has opened for an approved application. */
export async function openProviderAccount(
  context: LocalContext,
  {
    application,
    account,
  }: { readonly application: Application; readonly account: ProviderAccountNumber },
): Promise<Application> {
  const { applicant, clientToken } = application;
  await storeProviderAccount(context, {
    userId: applicant.id,
    document: applicant.document,
    clientToken,
    ...account,
  });
  return { ...accountOpened(application, context.clock.now()), ...account };
}

/**
 * Records on an approved application the account that a login has stored.
 * If it replaces a local account, the application gets the new number.
 */
async function copyAccountToApplication(
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

/**
 * Whether the provider's account belongs to the user who logs in: at the provider, e-mail and
 * password may be another person's. A developer's simulated bank makes up the documents of people
 * whom onboarding does not register with it: there its documents are ignored.
 * @returns false when both documents are known and differ; a document that is not a valid CPF or
 *   CNPJ, such as a masked one, is unknown.
 */
export function isHeldByUser(
  { config }: Pick<LocalContext, 'config'>,
  user: Pick<LoginUser, 'document'>,
  { document }: ProviderAccount,
): boolean {
  const named = document === null ? null : readTaxId(document);
  if (named === null || !user.document || user.document === named) return true;
  return config.appEnv === 'local' && config.onboardingLocalOnly && isSimulated(config.provider);
}

/** Whether the provider is the stub, or the sandbox of this machine. */
function isSimulated({ stub, baseUrl = '' }: LocalContext['config']['provider']): boolean {
  const host = URL.parse(baseUrl)?.hostname ?? '';
  return stub || isLoopbackHost(host.replace(/^\[(.+)\]$/, '$1'));
}

/** Restores leading zeros, which a document written as a number has lost. */
function readTaxId(document: string): string | null {
  return normaliseTaxId(document.padStart(document.length > 11 ? 14 : 11, '0'));
}

/** Stores what a login's response contains about the account, if anything. */
export async function keepProviderAccount(
  context: LocalContext,
  userId: number,
  account: ProviderAccount,
): Promise<void> {
  const { agency, accountNumber, document, companyId } = account;
  const clientToken = sealClientToken(context, userId, account.clientToken);
  const parts = { agency, accountNumber, document, companyId, clientToken };
  if (Object.values(parts).every((part) => part === null)) return;
  const noted = await upsertAccountFromLogin(context, { userId, ...parts });
  if (noted) await copyAccountToApplication(context, noted);
}

/**
 * Seals the provider's client token for its user, as it is stored; null stays null. The mark
 * distinguishes it from the plain tokens that earlier versions stored.
 */
export function sealClientToken(
  { sealer }: Pick<LocalContext, 'sealer'>,
  userId: number,
  token: string | null,
): string | null {
  if (token === null) return null;
  return `sealed:${sealer.seal(token, `client-token:${userId}`).toString('base64')}`;
}
