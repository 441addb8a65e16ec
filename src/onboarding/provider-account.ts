/** What the provider says of a user's account, kept at every login. */
import type { LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';
import { decimalFromCents } from '../domain/money.ts';
import { normaliseTaxId } from '../domain/tax-id.ts';
import type { ProviderAccount } from '../provider/provider.ts';
import { sealClientToken } from '../auth/client-token.ts';
import { noteAccountOfLogin } from './open-account.ts';
import type { LoginUser } from '../auth/user-repository.ts';

/**
 * A part that the answer does not carry keeps its value. A user whose onboarding is not approved
 * keeps what onboarding says: only an approved applicant has an account at the provider. An
 * applicant's account is held under the document that they registered with.
 *
 * A local account has a number that this service made up. The simulated bank does not know the
 * number, and the account stays as it is. The complete account of a real provider replaces it; a
 * part of one does not, because the rest would be made up still.
 *
 * Parameters: user id, agency, account number, document, company id, client token, now, whether a
 * local account is replaced. It answers the application whose account this is the first to tell.
 */
const keep: Statement = {
  name: 'provider-account-keep',
  text: `
    with applicant as (
      select o.id, o.status, o.conta_bancaria_criada, u.document
        from onboarding_applications o join users u on u.id = o.user_id where o.user_id = $1
    ), before as (
      select provider = 'local' as is_local from accounts where user_id = $1
    ), kept as (
      insert into accounts as a (user_id, provider, agency, account_number, document, status,
             provider_company_id, provider_client_token, created_at, updated_at)
      select $1, 'provider', $2, $3, coalesce((select document from applicant), $4), 'ACTIVE',
             $5, $6, $7::timestamptz, $7::timestamptz
       where not exists (select from applicant where status <> 'APPROVED')
          on conflict (user_id) do update
         set provider = 'provider',
             balance = case when a.provider = 'provider' then a.balance end,
             balance_read_at = case when a.provider = 'provider' then a.balance_read_at end,
             pix_keys = case when a.provider = 'provider'
                              and a.agency = coalesce(excluded.agency, a.agency)
                              and a.account_number =
                                  coalesce(excluded.account_number, a.account_number)
                             then a.pix_keys end,
             agency = coalesce(excluded.agency, a.agency),
             account_number = coalesce(excluded.account_number, a.account_number),
             document = coalesce(excluded.document, a.document),
             provider_company_id = coalesce(excluded.provider_company_id, a.provider_company_id),
             provider_client_token =
               coalesce(excluded.provider_client_token, a.provider_client_token),
             updated_at = $7
       where a.provider = 'provider'
          or ($8 and excluded.agency <> '' and excluded.account_number <> '')
      returning agency, account_number
    )
    select applicant.id as application_id, kept.agency, kept.account_number,
           coalesce(before.is_local, false) as replaces_local
      from applicant cross join kept left join before on true
     where (not applicant.conta_bancaria_criada or before.is_local)
       and kept.agency is not null and kept.account_number is not null`,
};

interface FirstTold {
  readonly application_id: string;
  readonly agency: string;
  readonly account_number: string;
  readonly replaces_local: boolean;
}

/** Parameters: account id, balance, now. */
const keepBalance: Statement = {
  name: 'provider-balance-keep',
  text: `update accounts set balance = $2, balance_read_at = $3 where id = $1`,
};

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
  const parts = [agency, accountNumber, document, companyId, clientToken];
  if (parts.every((part) => part === null)) return;
  const [told] = await context.db.query<FirstTold>(keep, [
    userId,
    ...parts,
    context.clock.now(),
    !context.config.provider.stub,
  ]);
  if (!told) return;
  await noteAccountOfLogin(context, told.application_id, {
    agency: told.agency,
    accountNumber: told.account_number,
    replacesLocal: told.replaces_local,
  });
}

/** Keeps a balance reading, in centavos, for when the provider does not answer. */
export async function keepProviderBalance(
  context: LocalContext,
  accountId: number,
  balanceCents: number,
): Promise<void> {
  await context.db.query(keepBalance, [
    accountId,
    decimalFromCents(balanceCents),
    context.clock.now(),
  ]);
}
