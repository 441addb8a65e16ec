/** Authentication: the app's access token, and the secret of the provider's webhooks. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Context } from '../context/context.ts';
import { AppError } from '../errors.ts';
import type { RequiredAccess } from '../context/operation.ts';
import type { VerifiedToken } from '../process/access-tokens.ts';
import { isOneOfSecrets, sha256 } from '../security/digests.ts';
import { countHeader } from './raw-headers.ts';
import { WebhookRefused } from './webhook-signature.ts';
import type { Principal } from '../domain/principal.ts';

/** `Bearer` and a token in the characters of RFC 6750, section 2.1; the scheme in any case. */
const bearerPattern = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

const usualScheme = 'Bearer ';

/** Finds the principal of a token; null when its banking session is not active. */
export type FindPrincipal = (context: Context, token: VerifiedToken) => Promise<Principal | null>;

export interface Authentication {
  readonly context: Context;
  readonly findPrincipal: FindPrincipal;
}

/** The caller, as far as the operation's access requires. */
export interface Caller {
  readonly token?: VerifiedToken;
  readonly principal?: Principal;
}

/** The headers of a request, also as they were sent. */
type SentHeaders = Pick<IncomingMessage, 'headers' | 'rawHeaders'>;

/**
 * Authenticates, without waiting, a request that needs no signature check and no session check.
 *
 * @param access what the operation requires; the webhook secret is verified by
 *   {@link requireWebhookSecret}.
 * @throws AppError UNAUTHENTICATED, or BAD_REQUEST when there are several credentials.
 */
export function authenticate(
  options: Authentication,
  access: RequiredAccess,
  { headers, rawHeaders }: SentHeaders,
): Caller | Promise<Caller> {
  if (access === 'public' || access === 'secret') return {};
  // Node takes the first of them, a proxy may have checked another one.
  if (countHeader(rawHeaders, 'authorization') > 1) throw new AppError('BAD_REQUEST');
  const { authorization = '' } = headers;
  const token = findVerified(options.context, authorization);
  if (token !== null && access === 'token') return { token };
  return authenticateLater(options, access, token ?? verify(options.context, authorization));
}

async function authenticateLater(
  options: Authentication,
  access: RequiredAccess,
  verified: VerifiedToken | Promise<VerifiedToken>,
): Promise<Caller> {
  const token = await verified;
  if (access === 'token') return { token };
  return { token, principal: await requireSession(options, token) };
}

/** @returns a token that was verified before, if the header has the usual notation. */
function findVerified({ accessTokens }: Context, authorization: string): VerifiedToken | null {
  if (!authorization.startsWith(usualScheme)) return null;
  return accessTokens.findVerified(authorization.slice(usualScheme.length));
}

async function verify({ accessTokens }: Context, authorization: string): Promise<VerifiedToken> {
  const text = bearerOf(authorization);
  if (text === null) throw new AppError('UNAUTHENTICATED');
  return accessTokens.verify(text);
}

/** @returns the token of an `Authorization` header, unverified; null when there is none. */
export function bearerOf(authorization: string | undefined): string | null {
  return bearerPattern.exec(authorization ?? '')?.[1] ?? null;
}

/**
 * @returns the principal.
 * @throws AppError UNAUTHENTICATED when the token's banking session is not active.
 */
export async function requireSession(
  { context, findPrincipal }: Authentication,
  token: VerifiedToken,
): Promise<Principal> {
  const principal = await findPrincipal(context, token);
  if (principal === null) throw new AppError('UNAUTHENTICATED');
  return principal;
}

/** Digests are computed once for each list of secrets, not for each event. */
const knownDigests = new WeakMap<readonly string[], readonly Buffer[]>();

function digestsFor(secrets: readonly string[]): readonly Buffer[] {
  const known = knownDigests.get(secrets);
  if (known !== undefined) return known;
  const digests = secrets.map(sha256);
  knownDigests.set(secrets, digests);
  return digests;
}

/**
 * Compares the webhook secret with the accepted ones; an empty list accepts every request.
 * @throws WebhookRefused
 */
export function requireWebhookSecret(
  accepted: readonly string[],
  headers: IncomingHttpHeaders,
): void {
  if (accepted.length === 0) return;
  const secret = headers['x-webhook-secret'];
  const isAccepted = isOneOfSecrets(String(secret ?? ''), digestsFor(accepted));
  if (secret === undefined) throw new WebhookRefused('missing_secret');
  if (!isAccepted) throw new WebhookRefused('wrong_secret');
}
