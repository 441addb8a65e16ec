/** What the provider says of a user's account, kept at every login. */
import type { LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';
import { decimalFromCents } from '../domain/money.ts';
import type { ProviderAccount } from '../provider/provider.ts';
import { noteAccountOfLogin } from './onboarding-account.ts';

/**
 * A part that the answer does not carry keeps its value. A user whose onboarding is not approved
 * keeps what onboarding says: only an approved applicant has an account at the provider. Nor does
 * a login change an account that was opened here: the applicant was told its number, and what the
 * provider speaks of is another one. An applicant's account is held under the document that they
 * registered with.
 * Parameters: user id, agency, account number, document, company id, client token, now. It answers
 * the application whose account this is the first to tell.
 */
const keep: Statement = {
  name: 'provider-account-keep',
  text: `
    with applicant as (
      select o.id, o.status, o.conta_bancaria_criada, u.document
        from onboarding_applications o join users u on u.id = o.user_id where o.user_id = $1
    ), kept as (
      insert into accounts as a (user_id, provider, agency, account_number, document, status,
             provider_company_id, provider_client_token, created_at, updated_at)
      select $1, 'provider', $2, $3, coalesce((select document from applicant), $4), 'ACTIVE',
             $5, $6, $7::timestamptz, $7::timestamptz
       where not exists (select from applicant where status <> 'APPROVED')
          on conflict (user_id) do update
         set agency = coalesce(excluded.agency, a.agency),
             account_number = coalesce(excluded.account_number, a.account_number),
             document = coalesce(excluded.document, a.document),
             provider_company_id = coalesce(excluded.provider_company_id, a.provider_company_id),
             provider_client_token =
               coalesce(excluded.provider_client_token, a.provider_client_token),
             updated_at = $7
       where a.provider = 'provider'
      returning agency, account_number
    )
    select applicant.id as application_id, kept.agency, kept.account_number
      from applicant, kept
     where not applicant.conta_bancaria_criada
       and kept.agency is not null and kept.account_number is not null`,
};

interface FirstTold {
  readonly application_id: string;
  readonly agency: string;
  readonly account_number: string;
}

/** Parameters: account id, balance, now. */
const keepBalance: Statement = {
  name: 'provider-balance-keep',
  text: `update accounts set balance = $2, balance_read_at = $3 where id = $1`,
};

/** Keeps what a login's answer carries of the account; one that carries nothing is no news. */
export async function keepProviderAccount(
  context: LocalContext,
  userId: number,
  account: ProviderAccount,
): Promise<void> {
  const { agency, accountNumber, document, companyId, clientToken } = account;
  const parts = [agency, accountNumber, document, companyId, clientToken];
  if (parts.every((part) => part === null)) return;
  const [told] = await context.db.query<FirstTold>(keep, [userId, ...parts, context.clock.now()]);
  if (!told) return;
  await noteAccountOfLogin(context, told.application_id, {
    agency: told.agency,
    accountNumber: told.account_number,
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
