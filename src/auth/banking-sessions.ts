/**
 * The banking session: one per user, holding the one provider token, sealed. An access token names
 * the session; when the session ends, every token that names it is refused.
 */
import { randomUUID } from 'node:crypto';
import type { LocalContext } from '../context/context.ts';
import type { ProviderLogin, ProviderSession } from '../provider/provider.ts';
import { AppError } from '../errors.ts';
import { SealError } from '../security/sealing.ts';
import type { VerifiedToken } from '../process/access-tokens.ts';
import type { Payer, Principal } from '../domain/principal.ts';
import { digestsOf } from './security-event-repository.ts';
import * as sessions from './session-repository.ts';
import type { LoginUser } from './user-repository.ts';

/** @returns the caller, or null when the session that the token names is not active. */
export async function findPrincipal(
  context: LocalContext,
  token: VerifiedToken,
): Promise<Principal | null> {
  const principal = await sessions.readPrincipal(context, token);
  // Another process may have ended the session: the provider token is dropped from the cache.
  if (principal === null) forgetToken(context, token.userId);
  return principal;
}

/** A user whose credentials are correct. */
export interface LoggingIn extends Pick<LoginUser, 'id' | 'email' | 'passwordHash'> {
  readonly clientAddress: string;
}

/**
 * Stores the token of a successful provider login, and its security event with the same commit. A
 * login while a session is active renews it, so that earlier access tokens stay valid until they
 * expire.
 * @param user with the verified password hash, and the client's address.
 * @returns the session's id, or null when the user may no longer log in with that password: it was
 *   reset, or the user was disabled, during the login.
 */
export async function saveSession(
  context: LocalContext,
  user: LoggingIn,
  login: ProviderLogin,
): Promise<string | null> {
  return sessions.renewSession(context, {
    newId: randomUUID(),
    userId: user.id,
    sealedToken: context.sealer.seal(login.token, sealingOwner(user.id)),
    tokenExpiresAt: login.expiresAt,
    passwordHash: user.passwordHash,
    addressDigest: context.sealer.identify(user.clientAddress),
    ...digestsOf(context, user),
  });
}

/** Ends the session of a token; a session that has ended is unchanged. */
export async function endSession(context: LocalContext, token: VerifiedToken): Promise<void> {
  await sessions.endSession(context, token);
  forgetToken(context, token.userId);
}

/** The fields of a stored session that provider calls need. */
export interface StoredSession {
  readonly sessionId: string;
  readonly userId: number;
  readonly sealedToken: Buffer;
}

/** Opens a stored session for calls to the provider. */
export function providerSession(context: LocalContext, stored: StoredSession): ProviderSession {
  const { sessionId, userId } = stored;
  const open = (sealed: Buffer): string => context.sealer.openText(sealed, sealingOwner(userId));
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
      forgetToken(context, userId);
    },
  };
}

/** Drops the token of a session that has ended, perhaps by another process, from the cache. */
export function forgetToken({ sealer }: Pick<LocalContext, 'sealer'>, userId: number): void {
  sealer.forgetText(sealingOwner(userId));
}

/**
 * Whether this process has opened the token of a user, so that to open it again cannot fail unless
 * it was renewed.
 */
export function hasOpenedToken({ sealer }: Pick<LocalContext, 'sealer'>, userId: number): boolean {
  return sealer.hasText(sealingOwner(userId));
}

/**
 * Opens the caller's session for calls to the provider.
 * @throws AppError UNAUTHENTICATED when its token was sealed with a key that is no longer
 *   configured.
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

/** The token is sealed for its user. */
function sealingOwner(userId: number): string {
  return `user:${userId}`;
}
