/**
 * The banking session: one per user, holding the one provider token, sealed. An access token names
 * the session; when the session ends, every token that names it is refused.
 */
import { randomUUID } from 'node:crypto';
import type { LocalContext } from '../context.ts';
import type { ProviderLogin, ProviderSession } from '../provider/provider.ts';
import { AppError } from '../errors.ts';
import { SealError } from '../security/sealing.ts';
import type { VerifiedToken } from './access-tokens.ts';
import type { Payer, Principal } from './principal.ts';
import * as sessions from './session-repository.ts';
import type { LoginUser } from './user-repository.ts';

/** @returns the caller, or null when the session that the token names is not active. */
export async function findPrincipal(
  context: LocalContext,
  token: VerifiedToken,
): Promise<Principal | null> {
  const principal = await sessions.readPrincipal(context, token);
  // Another process may have ended the session: its provider token leaves the memory here.
  if (principal === null) context.sealer.forgetText(ownerOf(token.userId));
  return principal;
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
  return sessions.renewSession(context, {
    newId: randomUUID(),
    userId: user.id,
    sealedToken: context.sealer.seal(login.token, ownerOf(user.id)),
    tokenExpiresAt: login.expiresAt,
    passwordHash: user.passwordHash,
    addressDigest: context.sealer.digest(user.clientAddress),
  });
}

/** Ends the session that a token names; it does nothing when the session has ended already. */
export async function endSession(context: LocalContext, token: VerifiedToken): Promise<void> {
  await sessions.endSession(context, token);
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
  const { sessionId, userId } = stored;
  const open = (sealed: Buffer): string => context.sealer.openText(sealed, ownerOf(userId));
  const current = () => sessions.readSealedToken(context, sessionId);
  return {
    userId,
    token: open(stored.sealedToken),
    async currentToken() {
      const sealed = await current();
      return sealed && open(sealed);
    },
    async expire(refusedToken) {
      const sealed = await current();
      if (!sealed || open(sealed) !== refusedToken) return;
      await sessions.expireSession(context, { sessionId, sealedToken: sealed });
      context.sealer.forgetText(ownerOf(userId));
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
