/**
 * The banking session: one per user, holding the one provider token, sealed. An access token names
 * the session; when the session ends, every token that names it is refused.
 */
import { randomUUID } from 'node:crypto';
import type { LocalContext } from '../context.ts';
import * as queries from '../db/queries/banking-sessions.ts';
import {
  findPrincipal as principalQuery,
  type PrincipalRow,
} from '../db/queries/find-principal.ts';
import { centsFromDecimal } from '../domain/money.ts';
import type { ProviderLogin, ProviderSession } from '../provider/provider.ts';
import { AppError } from '../errors.ts';
import { SealError } from '../security/sealing.ts';
import type { VerifiedToken } from './access-tokens.ts';
import type { Payer, Principal, PrincipalAccount } from './principal.ts';
import type { LoginUser } from './users.ts';

/** @returns who is calling, or null when the session that the token names is not active. */
export async function findPrincipal(
  context: LocalContext,
  token: VerifiedToken,
): Promise<Principal | null> {
  const [row] = await context.db.query<PrincipalRow>(principalQuery, [
    token.sessionId,
    token.userId,
    context.clock.now(),
  ]);
  if (row) return principalOf(token, row);
  // Another process may have ended the session: its provider token leaves the memory here.
  context.sealer.forgetText(ownerOf(token.userId));
  return null;
}

function principalOf({ sessionId, userId }: VerifiedToken, row: PrincipalRow): Principal {
  return {
    sessionId,
    sealedToken: row.sealed_token,
    user: {
      id: userId,
      name: row.name,
      email: row.email,
      document: row.user_document,
      personType: row.person_type,
      phone: row.phone,
    },
    account: accountOf(row),
  };
}

function accountOf(row: PrincipalRow): PrincipalAccount | null {
  if (row.account_id === null) return null;
  return {
    id: row.account_id,
    provider: row.provider,
    agency: row.agency,
    accountNumber: row.account_number,
    document: row.account_document,
    status: row.account_status,
    providerCompanyId: row.provider_company_id,
    balanceCents: row.balance === null ? null : centsFromDecimal(row.balance),
  };
}

/** A user whose credentials were right. */
export interface LoggingIn extends Pick<LoginUser, 'id' | 'passwordHash'> {
  readonly clientAddress: string;
}

/**
 * Keeps the token of a successful provider login. A login while a session is active renews it, so
 * that tokens issued before go on until they expire.
 * @param user with the password hash that was checked, and the address that the login comes from.
 * @returns the session's id, or null when the user may no longer log in with that password: it was
 *   reset, or the user was disabled, while the login was under way.
 */
export async function keepProviderLogin(
  context: LocalContext,
  user: LoggingIn,
  login: ProviderLogin,
): Promise<string | null> {
  const [session] = await context.db.query<{ id: string }>(queries.renewSession, [
    randomUUID(),
    user.id,
    context.sealer.seal(login.token, ownerOf(user.id)),
    login.expiresAt,
    context.clock.now(),
    user.passwordHash,
    context.sealer.digest(user.clientAddress),
  ]);
  return session?.id ?? null;
}

/** Ends the session that a token names; it does nothing when the session has ended already. */
export async function endSession(context: LocalContext, token: VerifiedToken): Promise<void> {
  await context.db.query(queries.endSession, [token.sessionId, token.userId, context.clock.now()]);
  context.sealer.forgetText(ownerOf(token.userId));
}

/** What is needed of a stored session to call the provider in it. */
export interface StoredSession {
  readonly sessionId: string;
  readonly userId: number;
  readonly sealedToken: Buffer;
}

/** Opens a stored session for calls to the provider. */
export function providerSession(context: LocalContext, stored: StoredSession): ProviderSession {
  const open = (sealed: Buffer): string => context.sealer.openText(sealed, ownerOf(stored.userId));
  const current = async (): Promise<Buffer | null> => {
    const [row] = await context.db.query<{ sealed_token: Buffer }>(queries.sealedToken, [
      stored.sessionId,
    ]);
    return row?.sealed_token ?? null;
  };
  return {
    userId: stored.userId,
    token: open(stored.sealedToken),
    async currentToken() {
      const sealed = await current();
      return sealed && open(sealed);
    },
    async expire(refusedToken) {
      const sealed = await current();
      if (!sealed || open(sealed) !== refusedToken) return;
      await context.db.query(queries.expireSession, [
        stored.sessionId,
        sealed,
        context.clock.now(),
      ]);
      context.sealer.forgetText(ownerOf(stored.userId));
    },
  };
}

/**
 * Opens the caller's session for calls to the provider.
 * @throws AppError UNAUTHENTICATED when its token was sealed under a key that is gone.
 */
export function callerSession(context: LocalContext, caller: Payer): ProviderSession {
  try {
    return providerSession(context, {
      sessionId: caller.sessionId,
      userId: caller.user.id,
      sealedToken: caller.sealedToken,
    });
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new AppError('UNAUTHENTICATED', { cause: error });
  }
}

/** The row's owner, which seals the token to it. */
function ownerOf(userId: number): string {
  return `user:${userId}`;
}
