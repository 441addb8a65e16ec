import type { Principal } from '../auth/principal.ts';
import type { SessionOperation } from '../http/operation.ts';

/** The caller's user and account. */
export const getMe: SessionOperation<'getMe'> = {
  access: 'session',
  async run(_context, { principal }) {
    return { status: 200, body: { user: userOf(principal), account: accountOf(principal) } };
  },
};

function userOf({ user, account }: Principal) {
  return {
    id: user.id,
    name: user.name,
    email: user.email,
    document: user.document ?? account?.document ?? null,
    person_type: user.personType,
  };
}

function accountOf({ account }: Principal) {
  if (!account) return null;
  return {
    id: account.id,
    provider: account.provider,
    agency: account.agency,
    account_number: account.accountNumber,
    status: account.status,
    provider_company_id: account.providerCompanyId,
    // A secret of the provider's: it is stored sealed and stays here.
    provider_client_token: null,
  };
}
