/** Stores what the provider reports about a user's account at every login. */
import type { LocalContext } from '../context.ts';
import { keepAccountOfLogin } from '../accounts/account-repository.ts';
import { sealClientToken } from '../auth/client-token.ts';
import type { LoginUser } from '../auth/user-repository.ts';
import { normaliseTaxId } from '../domain/tax-id.ts';
import type { ProviderAccount } from '../provider/provider.ts';
import { noteAccountOfLogin } from './open-account.ts';

/**
 * Whether the provider's account belongs to the user who logs in: at the provider, e-mail and
 * password may be another person's. The simulated bank generates the documents of unregistered
 * people, so its documents are ignored.
 * @returns false when both documents are known and differ; a document that is not a valid CPF or
 *   CNPJ, such as a masked one, is unknown.
 */
export function isHeldByUser(
  { config }: Pick<LocalContext, 'config'>,
  user: Pick<LoginUser, 'document'>,
  { document }: ProviderAccount,
): boolean {
  const named = document === null ? null : readTaxId(document);
  if (named === null || config.provider.stub) return true;
  return !user.document || user.document === named;
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
  const mayReplaceLocal = !context.config.provider.stub;
  const noted = await keepAccountOfLogin(context, { userId, ...parts, mayReplaceLocal });
  if (noted) await noteAccountOfLogin(context, noted);
}
