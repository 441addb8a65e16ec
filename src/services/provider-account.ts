/** What the provider says of a user's account, kept at every login. */
import type { Context } from '../context.ts';
import type { Statement } from '../db/database.ts';
import { decimalFromCents } from '../domain/money.ts';
import type { ProviderAccount } from '../provider/provider.ts';

/**
 * A part that the answer does not carry keeps its value. A user whose onboarding is not approved
 * keeps what onboarding says: only an approved applicant has an account at the provider.
 * Parameters: user id, agency, account number, document, company id, client token, now.
 */
const keep: Statement = {
  name: 'provider-account-keep',
  text: `
    insert into accounts as a (user_id, provider, agency, account_number, document, status,
           provider_company_id, provider_client_token, created_at, updated_at)
    select $1, 'provider', $2, $3, $4, 'ACTIVE', $5, $6, $7, $7
     where not exists (select from onboarding_applications o
                        where o.user_id = $1 and o.status <> 'APPROVED')
        on conflict (user_id) do update
       set agency = coalesce(excluded.agency, a.agency),
           account_number = coalesce(excluded.account_number, a.account_number),
           document = coalesce(excluded.document, a.document),
           provider_company_id = coalesce(excluded.provider_company_id, a.provider_company_id),
           provider_client_token =
             coalesce(excluded.provider_client_token, a.provider_client_token),
           updated_at = $7`,
};

/** Parameters: account id, balance, now. */
const keepBalance: Statement = {
  name: 'provider-balance-keep',
  text: `update accounts set balance = $2, balance_read_at = $3 where id = $1`,
};

/** Keeps what a login's answer carries of the account; one that carries nothing is no news. */
export async function keepProviderAccount(
  context: Context,
  userId: number,
  account: ProviderAccount,
): Promise<void> {
  const { agency, accountNumber, document, companyId, clientToken } = account;
  const parts = [agency, accountNumber, document, companyId, clientToken];
  if (parts.every((part) => part === null)) return;
  await context.db.query(keep, [userId, ...parts, context.clock.now()]);
}

/** Keeps a balance reading, in centavos, for when the provider does not answer. */
export async function keepProviderBalance(
  context: Context,
  accountId: number,
  balanceCents: number,
): Promise<void> {
  await context.db.query(keepBalance, [
    accountId,
    decimalFromCents(balanceCents),
    context.clock.now(),
  ]);
}
