/** Reads the response to a login: token, expiry, account. Other responses have an account, too. */
import { taxIdKind } from '../../domain/tax-id.ts';
import { notUnderstood } from '../errors.ts';
import type { ProviderAccount, ProviderLogin } from '../provider.ts';
import {
  type Fields,
  readFields,
  readId,
  firstId,
  firstRead,
  readInner,
  findValues,
} from '../wire-reading.ts';
import { payloadPlaces, textAt } from './translate.ts';

/** The characters and the largest length of a bearer token in a header. */
const bearerToken = /^[\x21-\x7e]{1,8192}$/;

/** @throws ProviderError when the response has no token. */
export function readLogin(json: unknown, now: Date): ProviderLogin {
  const places = payloadPlaces(json);
  const token = textAt(places, ['accesstoken', 'token']);
  if (token === null || !bearerToken.test(token)) {
    throw notUnderstood(new Error('a login response without a token'));
  }
  return { token, expiresAt: readExpiry(places, token, now), account: readAccount(places) };
}

/** `expires_in` (seconds), `expiresAt`, or the `exp` of a token that is a JWT. */
function readExpiry(places: readonly Fields[], token: string, now: Date): Date | null {
  const seconds = findValues(['expiresin'], places).find(isPositive);
  if (seconds !== undefined) return dateAfter(now, now.getTime() + Number(seconds) * 1_000);
  const at = textAt(places, ['expiresat']);
  if (at !== null) return offset.test(at) ? dateAfter(now, Date.parse(at)) : null;
  const [exp] = findValues(['exp'], [readFields(jwtPayload(token))]);
  return typeof exp === 'number' ? dateAfter(now, exp * 1_000) : null;
}

/** A time without an offset from UTC could be hours off, so the expiry is unknown. */
const offset = /T.*(?:Z|[+-]\d\d:?\d\d)$/i;

function isPositive(value: unknown): boolean {
  return (typeof value === 'number' || typeof value === 'string') && Number(value) > 0;
}

/** Ignores an expiry in the past: the token was just issued, so a clock is wrong. */
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

/** Reads the account of a response; each part may be missing. */
export function readAccount(places: readonly Fields[]): ProviderAccount {
  const all = [...places, ...places.flatMap((fields) => readInner(fields, 'account'))];
  const id = (...names: string[]): string | null => firstId(findValues(names, all));
  const number = id('accountnumber');
  const digit = id('digitaccount');
  return {
    agency: id('agency', 'agencynumber'),
    accountNumber: number === null ? null : number + (digit ?? ''),
    document: firstRead(findValues(['document', 'cpfcnpj'], all), readDocument),
    companyId: id('companyid'),
    clientToken: id('clienttoken'),
  };
}

/** Reads a CPF or a CNPJ without punctuation; a number in JSON has lost its leading zeros. */
function readDocument(value: unknown): string | null {
  const document = readId(value)?.replace(/[.\-/\s]/g, '') ?? null;
  if (typeof value !== 'number' || document === null) return document;
  const whole = [11, 14].map((length) => document.padStart(length, '0'));
  return whole.find((one) => taxIdKind(one) !== null) ?? document;
}
