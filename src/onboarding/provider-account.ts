/** What the provider says of a user's account, kept at every login. */
import type { LocalContext } from '../context.ts';
import { keepAccountOfLogin } from '../accounts/account-repository.ts';
import { sealClientToken } from '../auth/client-token.ts';
import type { LoginUser } from '../auth/user-repository.ts';
import { normaliseTaxId } from '../domain/tax-id.ts';
import type { ProviderAccount } from '../provider/provider.ts';
import { noteAccountOfLogin } from './open-account.ts';

/**
 * Whether the account of a login is held by the user who logs in: the e-mail and the password may
 * be another person's at the provider. The simulated bank makes up the documents of people who have
 * not registered with it, so they prove nothing.
 * @returns false when both documents are known and differ; one that is no CPF and no CNPJ, such as
 *   a masked one, is not known.
 */
export function isHeldByUser(
  { config }: Pick<LocalContext, 'config'>,
  user: Pick<LoginUser, 'document'>,
  { document }: ProviderAccount,
): boolean {
  const named = document === null ? null : taxIdOf(document);
  if (named === null || config.provider.stub) return true;
  return !user.document || user.document === named;
}

/** A document that is written as a number has lost its leading zeros. */
function taxIdOf(document: string): string | null {
  return normaliseTaxId(document.padStart(document.length > 11 ? 14 : 11, '0'));
}

/** Keeps what a login's answer carries of the account; one that carries nothing is no news. */
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
