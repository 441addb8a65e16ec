import type { Bank } from '../domain/bank.ts';
import type { Principal } from '../domain/principal.ts';
import type { SessionOperation } from '../context/operation.ts';

/** Returns the caller's user and account. */
export const getMe: SessionOperation<'getMe'> = {
  access: 'session',
  async run({ config }, { principal }) {
    const account = accountReply(principal, config.provider.bank);
    return { status: 200, body: { user: userReply(principal), account } };
  },
};

function userReply({ user, account }: Principal) {
  return {
    id: user.id,
    name: user.name,
    email: user.email,
    document: user.document ?? account?.document ?? null,
    person_type: user.personType,
  };
}

function accountReply({ account }: Principal, bank: Bank) {
  if (!account) return null;
  return {
    id: account.id,
    provider: account.provider,
    agency: account.agency,
    account_number: account.accountNumber,
    status: account.status,
    bank,
    provider_company_id: account.providerCompanyId,
    // A secret of the provider: never returned.
    provider_client_token: null,
  };
}
