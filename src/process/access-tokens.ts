/**
 * Access tokens: JWTs signed with RS256, with `typ` `at+jwt` (RFC 9068). A valid token identifies
 * the caller; whether its banking session is active is decided by the database.
 */
import { randomUUID } from 'node:crypto';
import { jwtVerify, SignJWT, type JWK, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { SigningKeys } from '../security/signing-keys.ts';

export interface AccessTokensOptions {
  readonly keys: SigningKeys;
  readonly issuer: string;
  readonly audience: string;
  readonly ttlSeconds: number;
  readonly clock: Clock;
}

/** Whom a token is issued to. */
export interface TokenSubject {
  readonly userId: number;
  readonly sessionId: string;
}

export interface VerifiedToken extends TokenSubject {
  readonly tokenId: string;
  readonly expiresAt: Date;
}

export interface AccessTokens {
  issue(subject: TokenSubject): Promise<string>;
  /** @throws AppError UNAUTHENTICATED for any invalid token. */
  verify(token: string): Promise<VerifiedToken>;
  /** @returns whom a token was issued to, even if it has expired; null for an invalid one. */
  identify(token: string): Promise<VerifiedToken | null>;
  /** @returns the result of `verify` without waiting if it is cached; otherwise null. */
  findVerified(token: string): VerifiedToken | null;
  /** The public keys, as `GET /.well-known/jwks.json` publishes them. */
  jwks(): { readonly keys: readonly JWK[] };
}

const algorithm = 'RS256';
const type = 'at+jwt';

/** The largest difference between the clocks of two instances. */
const clockSkewSeconds = 30;

/** Far longer than any issued token. */
const maxTokenLength = 8 * 1024;

/** About 10 MB. */
const maxKnownTokens = 10_000;

/** Issues and verifies tokens with these keys; the time comes from `clock`. */
export function createAccessTokens(options: AccessTokensOptions): AccessTokens {
  const published = { keys: publicJwks(options.keys) };
  const getKey = keyByKid(options.keys);
  const known = new VerifiedTokens();
  return {
    issue: (subject) => issue(options, subject),
    findVerified: (token) => known.find(token, options.clock.now()),
    async verify(token) {
      const before = known.find(token, options.clock.now());
      if (before) return before;
      try {
        const verified = await verify(options, getKey, { token, now: options.clock.now() });
        known.add(token, verified);
        return verified;
      } catch (error) {
        throw new AppError('UNAUTHENTICATED', { cause: error });
      }
    },
    async identify(token) {
      try {
        return await verify(options, getKey, { token, now: new Date(0) });
      } catch {
        return null;
      }
    },
    jwks: () => published,
  };
}

/**
 * Caches the tokens whose signature is valid, so that it is verified once and not for each request.
 * The expiry is checked each time; the banking session is checked elsewhere.
 */
class VerifiedTokens {
  readonly #byText = new Map<string, VerifiedToken>();

  find(text: string, now: Date): VerifiedToken | null {
    const token = this.#byText.get(text);
    if (!token) return null;
    if (now.getTime() < token.expiresAt.getTime() + clockSkewSeconds * 1_000) return token;
    this.#byText.delete(text);
    return null;
  }

  /** Evicts the oldest token when the cache is full. */
  add(text: string, token: VerifiedToken): void {
    if (this.#byText.size >= maxKnownTokens) {
      const [oldest = ''] = this.#byText.keys();
      this.#byText.delete(oldest);
    }
    this.#byText.set(text, token);
  }
}

function publicJwks(keys: SigningKeys): JWK[] {
  return [...keys.publicKeys].map(([kid, key]) => {
    const { kty, n, e } = key.export({ format: 'jwk' }) as JWK;
    return { kty, n, e, kid, alg: algorithm, use: 'sig' } as JWK;
  });
}

/** Keys come from the configuration alone: `jwk`, `jku` and `x5u` in a header are ignored. */
function keyByKid(keys: SigningKeys): JWTVerifyGetKey {
  return ({ kid }) => {
    const key = typeof kid === 'string' ? keys.publicKeys.get(kid) : undefined;
    if (!key) throw new Error('the token names an unknown key');
    return key;
  };
}

function issue(options: AccessTokensOptions, subject: TokenSubject): Promise<string> {
  const { keys, issuer, audience, ttlSeconds, clock } = options;
  const issuedAt = Math.floor(clock.now().getTime() / 1000);
  return new SignJWT({ sid: subject.sessionId })
    .setProtectedHeader({ alg: algorithm, kid: keys.kid, typ: type })
    .setSubject(String(subject.userId))
    .setIssuer(issuer)
    .setAudience(audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + ttlSeconds)
    .setJti(randomUUID())
    .sign(keys.privateKey);
}

/**
 * @param input the token, and the time at which it must not have expired.
 * @throws Error for an invalid token.
 */
async function verify(
  options: AccessTokensOptions,
  getKey: JWTVerifyGetKey,
  { token, now }: { readonly token: string; readonly now: Date },
): Promise<VerifiedToken> {
  if (token.length > maxTokenLength) throw new Error('the token is too long');
  const { payload } = await jwtVerify(token, getKey, {
    algorithms: [algorithm],
    typ: type,
    issuer: options.issuer,
    audience: options.audience,
    requiredClaims: ['exp', 'iat', 'iss', 'aud', 'sub', 'sid', 'jti'],
    clockTolerance: clockSkewSeconds,
    currentDate: now,
  });
  refuseForeignIssue(payload, options.clock.now());
  return verifiedToken(payload);
}

/** This service issues tokens for one audience and never in the future. */
function refuseForeignIssue({ iat, aud }: JWTPayload, now: Date): void {
  const latestSeconds = now.getTime() / 1_000 + clockSkewSeconds;
  if (typeof iat !== 'number' || iat > latestSeconds) throw new Error('issued in the future');
  if (typeof aud !== 'string') throw new Error('several audiences');
}

/** The largest id that a user can have: PostgreSQL's integer. */
const maxUserId = 2 ** 31 - 1;

const sessionIdForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Refuses malformed ids, for which the database would report an error. */
function verifiedToken({ sub, sid, jti, exp }: JWTPayload): VerifiedToken {
  const userId = typeof sub === 'string' && /^[1-9]\d*$/.test(sub) ? Number(sub) : NaN;
  if (!(userId <= maxUserId)) throw new Error('no user id in sub');
  if (typeof sid !== 'string' || !sessionIdForm.test(sid)) throw new Error('no session in sid');
  if (typeof jti !== 'string' || exp === undefined) throw new Error('no id or no end');
  return { userId, sessionId: sid, tokenId: jti, expiresAt: new Date(exp * 1000) };
}
