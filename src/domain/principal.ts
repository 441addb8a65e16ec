/**
 * The authenticated caller: user, account and banking session of an access token, from the one read
 * that the session check and the operation share.
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
  /** That of the user, if the account has none. */
  readonly document: string | null;
  readonly status: AccountStatus;
  readonly providerCompanyId: string | null;
  /** The last balance that the provider reported, in centavos; null before the first one. */
  readonly balanceCents: number | null;
}

export interface Principal {
  readonly sessionId: string;
  readonly user: PrincipalUser;
  readonly account: PrincipalAccount | null;
  /** The stored provider token, sealed for this user. */
  readonly sealedToken: Buffer;
}

/** The fields of a principal that a payment needs. */
export interface Payer extends Pick<Principal, 'sessionId' | 'sealedToken'> {
  readonly user: Pick<PrincipalUser, 'id'>;
  readonly account: Pick<
    PrincipalAccount,
    'provider' | 'agency' | 'accountNumber' | 'document' | 'status'
  > | null;
}
