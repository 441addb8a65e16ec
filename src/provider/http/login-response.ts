/** The answer to a login: the token, when it ends, and what it tells of the account. */
import { notUnderstood } from '../errors.ts';
import type { ProviderLogin } from '../provider.ts';
import { fieldsOf, valuesOf, type Fields } from '../wire-reading.ts';
import { readAccount } from './account-answer.ts';
import { placesOf, textAt } from './translate.ts';

/** What can stand in a header after `Bearer `; longer than any token that a server accepts. */
const bearerToken = /^[\x21-\x7e]{1,8192}$/;

/** Reads the answer to a login. */
export function readLogin(json: unknown, now: Date): ProviderLogin {
  const places = placesOf(json);
  const token = textAt(places, ['accesstoken', 'token']);
  if (token === null || !bearerToken.test(token)) {
    throw notUnderstood(new Error('a login answer without a token'));
  }
  return { token, expiresAt: readExpiry(places, token, now), account: readAccount(places) };
}

/** `expires_in` (seconds), `expiresAt`, or the `exp` of a token that is a JWT. */
function readExpiry(places: readonly Fields[], token: string, now: Date): Date | null {
  const seconds = valuesOf(['expiresin'], places).find(isPositive);
  if (seconds !== undefined) return dateAfter(now, now.getTime() + Number(seconds) * 1_000);
  const at = textAt(places, ['expiresat']);
  if (at !== null) return offset.test(at) ? dateAfter(now, Date.parse(at)) : null;
  const exp = fieldsOf(jwtPayload(token)).get('exp');
  return typeof exp === 'number' ? dateAfter(now, exp * 1_000) : null;
}

/** A time that does not say its offset from UTC could be hours off: then the end is not known. */
const offset = /T.*(?:Z|[+-]\d\d:?\d\d)$/i;

function isPositive(value: unknown): boolean {
  return (typeof value === 'number' || typeof value === 'string') && Number(value) > 0;
}

/** A token that has just been issued has not ended: an earlier end is a clock that goes wrong. */
function dateAfter(now: Date, epochMs: number): Date | null {
  const date = new Date(epochMs);
  return date.getTime() > now.getTime() ? date : null;
}

function jwtPayload(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}
