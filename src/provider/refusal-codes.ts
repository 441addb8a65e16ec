/**
 * The codes that mean that the provider has examined a payment and not executed it. The table is
 * the only one: the HTTP client, the simulated bank and the reader of events use it. A code that
 * is not listed proves nothing, because a list of doubtful codes is never complete.
 *
 * Not listed are codes of duplicates (AM05, DU01 to DU05, DUPL), of time-outs whose end is open
 * (AB11, DS24), of requests in progress, and generic ones (ED05).
 */
import { taxIdKind } from '../domain/tax-id.ts';
import type { ProviderErrorCode } from '../errors.ts';
import { findValues, readFields, readInner, type Fields } from './wire-reading.ts';

export interface RefusalCode {
  /** The meaning, as the source defines it. */
  readonly meaning: string;
  /** Where the code is published. */
  readonly source: string;
  /** The error of the app; by default PROVIDER_REJECTED. */
  readonly error?: ProviderErrorCode;
}

/** ISO 20022 External Code Sets, ExternalStatusReason1Code; the central bank's SPI uses them. */
const iso = 'ISO 20022, ExternalStatusReason1Code';

const woovi = 'developers.woovi.com/docs/flows/error-codes-payment (codes of SPI)';

export const refusalCodes: Readonly<Record<string, RefusalCode>> = {
  AB03: { meaning: 'settlement aborted after a time-out in SPI', source: iso },
  AB09: { meaning: "stopped by an error of the payee's institution", source: iso },
  AC03: { meaning: "the payee's account number is invalid or missing", source: iso },
  AC06: { meaning: 'the account is blocked', source: iso },
  AC07: { meaning: "the payee's account is closed", source: iso },
  AC14: { meaning: "the type of the payee's account is invalid or missing", source: iso },
  AG03: { meaning: 'the account does not support this type of transaction', source: iso },
  AG12: { meaning: 'a transfer within one institution is not allowed', source: iso },
  AM01: { meaning: 'the amount is zero', source: iso },
  AM02: { meaning: 'the amount is greater than the allowed maximum', source: iso },
  AM04: { meaning: "the funds of the payer's institution are insufficient", source: iso },
  AM12: { meaning: 'the amount is invalid or missing', source: iso },
  BE01: { meaning: 'the person is not the holder of the account', source: iso },
  BE17: { meaning: "the payee's identification code is invalid, or its QR code", source: iso },
  CH11: { meaning: "the payee's identifier is incorrect", source: iso },
  CH16: { meaning: 'the content is incorrect', source: iso },
  DS04: { meaning: "the payee's institution rejected the order", source: iso },
  DS0G: { meaning: 'the institution may not sign this operation', source: iso },
  FF08: { meaning: 'the end-to-end id is invalid or missing', source: woovi },
  FRAD: { meaning: 'fraud is suspected', source: iso },
  RR04: { meaning: 'a regulatory reason', source: iso },
  INSUFFICIENT_FUNDS: {
    meaning: 'the balance is too low',
    source: 'developers-business.picpay.com, business errors',
    error: 'INSUFFICIENT_FUNDS',
  },
  NOT_ENOUGH_BALANCE: {
    meaning: 'the balance is too low',
    source: 'contract/provider.yaml, Problem',
    error: 'INSUFFICIENT_FUNDS',
  },
};

/** Stored instead of a code that is not in the allowed form, which may be personal data. */
export const unreadableCode = 'unreadable';

/** Whether a code means that a payment was examined and not executed. */
export function isRefusalCode(code: string | null): code is string {
  return code !== null && Object.hasOwn(refusalCodes, code);
}

/** The listed codes, for statements. */
export const listedCodes: readonly string[] = Object.keys(refusalCodes);

/**
 * Reads the code of a refusal at its declared places: `code` and `error.code`.
 *
 * @param body the JSON of a response; anything but an object has no code.
 * @returns the code in upper case; null without one; `unreadable` for a code that is not in the
 *   allowed form, or when two places differ.
 */
export function readRefusalCode(body: unknown): string | null {
  return readCodeAt([readFields(body)]);
}

/** Reads the code of a refusal at the declared places of the objects that describe the payment. */
export function readCodeAt(places: readonly Fields[]): string | null {
  const values = findValues(
    ['code'],
    places.flatMap((place) => [place, readInner(place, 'error')]),
  );
  const codes = new Set(values.map(restrictCode));
  const [code = null] = codes;
  return codes.size > 1 ? unreadableCode : code;
}

/** Up to 32 letters, digits and `_.-`. */
const allowedForm = /^[A-Z0-9][A-Z0-9_.-]{0,31}$/;

/** Eight digits, whatever separates them, may be part of a document, a phone or an account. */
const manyDigits = /(?:\d[_.-]*){8}/;

/**
 * Converts a code to the form that is stored, counted and compared.
 *
 * @returns the code in upper case, or `unreadable`.
 */
export function restrictCode(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || text.length > longestText) return unreadableCode;
  // ASCII only: other letters that fold into it must not spell a listed code.
  const code = text.trim().replace(/[a-z]/g, (letter) => letter.toUpperCase());
  const isCode = allowedForm.test(code) && !manyDigits.test(code) && taxIdKind(code) === null;
  return isCode ? code : unreadableCode;
}

const longestText = 128;
