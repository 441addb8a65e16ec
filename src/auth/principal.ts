/**
 * Who is calling: the user, the account and the banking session behind an access token, from one
 * indexed read that the session check and the operation share.
 */
import type { AccountStatus } from '../domain/account.ts';

export interface PrincipalUser {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly document: string | null;
  readonly personType: string | null;
  readonly phone: string | null;
}

export interface PrincipalAccount {
  readonly id: number;
  readonly provider: string;
  readonly agency: string | null;
  readonly accountNumber: string | null;
  readonly document: string | null;
  readonly status: AccountStatus;
  readonly providerCompanyId: string | null;
  /** The last balance that the provider told, in centavos, or null when it never did. */
  readonly balanceCents: number | null;
}

export interface Principal {
  readonly sessionId: string;
  readonly user: PrincipalUser;
  readonly account: PrincipalAccount | null;
  /** The provider's token as stored: sealed for this user. */
  readonly sealedToken: Buffer;
}

/** As much of a principal as takes to pay, and to call the provider for it. */
export interface Payer extends Pick<Principal, 'sessionId' | 'sealedToken'> {
  readonly user: Pick<PrincipalUser, 'id' | 'document'>;
  readonly account: Pick<
    PrincipalAccount,
    'provider' | 'agency' | 'accountNumber' | 'document' | 'status'
  > | null;
}
