/**
 * Refusals of payments, for the HTTP client, the simulated bank and the reader of events. Only a
 * listed code in a status of refusals proves that a payment was not executed; anything else may
 * come from an intermediary, or report a payment that exists. The codes are data: those of
 * contract/provider/refusals.yaml, and those that the active dialects add.
 */
import { taxIdKind } from '../domain/tax-id.ts';
import { AppError, errorCodes, type ProviderErrorCode } from '../errors.ts';
import { ProviderError, type ProviderErrorOptions, type ProviderStatusClass } from './errors.ts';
import { findValues, isObject, readFields, readInner, type Fields } from './wire-reading.ts';

/** A code that means that a payment was examined and not executed. */
export interface RefusalCode {
  /** Where the code is published. */
  readonly source: string;
  /** The meaning, as the source defines it. */
  readonly meaning?: string;
  /** The error of the app; by default PROVIDER_REJECTED. */
  readonly error?: ProviderErrorCode;
}

/** By the code in upper case. */
export type RefusalCodes = ReadonlyMap<string, RefusalCode>;

/**
 * Reads a table of codes: `CODE: source`, or `CODE: {source, meaning, error}`.
 *
 * @returns the codes, and every fault as a sentence. It names a code by its place, because a text
 *   that is no code may be personal data.
 */
export function readRefusalCodes(table: Readonly<Record<string, unknown>>): {
  readonly codes: RefusalCodes;
  readonly faults: readonly string[];
} {
  const codes = new Map<string, RefusalCode>();
  const faults: string[] = [];
  for (const [index, [text, value]] of Object.entries(table).entries()) {
    const fault = (what: string): void => void faults.push(`code ${index + 1} ${what}`);
    const code = restrictCode(text);
    const { source, meaning, error, ...others } = isObject(value) ? value : { source: value };
    if (code === unreadableCode) fault('is not 1 to 32 letters, digits, or _.-');
    if (codes.has(code)) fault('is listed twice');
    if (typeof source !== 'string' || source.trim() === '') fault('has no source');
    if (error !== undefined && !isErrorCode(error))
      fault('has an error that is not in the catalogue');
    const [unknown] = Object.keys(others);
    if (unknown !== undefined) fault(`has an unknown key ${unknown}`);
    codes.set(code, { source, meaning, error } as RefusalCode);
  }
  return { codes, faults };
}

function isErrorCode(error: unknown): boolean {
  return errorCodes.some((one) => one === error && new AppError(one).status === 502);
}

/**
 * The statuses of 4xx that refuse no payment, whatever code they have: the token, a time-out, a
 * conflict with the same payment, one that came too early or too often.
 */
export const doubtfulStatuses: ReadonlySet<number> = new Set([401, 408, 409, 425, 429]);

function isRefusalStatus(status: number): boolean {
  return status >= 400 && status < 500 && !doubtfulStatuses.has(status);
}

export interface PaymentResponse {
  readonly status: number;
  /** The code at its declared place, in the form of `restrictCode`. */
  readonly code: string | null;
  /** `Retry-After` of the response, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * The error of a response to a payment that is not a receipt.
 *
 * @returns `rejected` for a listed code in a status of refusals, otherwise `unknown`. A 401 is
 *   `TOKEN_REFUSED` and `unknown`: a proxy may have repeated an executed request.
 */
export function paymentRefusal(response: PaymentResponse, codes: RefusalCodes): ProviderError {
  const { status, retryAfterMs } = response;
  if (isRefusalStatus(status) && isListed(response, codes)) return rejected(response, codes);
  // The same payment may be repeated after a failure of the provider, and after a 408.
  const retryable = status >= 500 || status === 408;
  return new ProviderError({
    ...readFacts(response),
    ...classifyDoubt(status),
    outcome: 'unknown',
    retryable,
    retryAfterMs: retryable ? retryAfterMs : undefined,
  });
}

/** The error of a receipt of this payment that reports its failure; a listed code proves it. */
export function failedReceipt(response: PaymentResponse, codes: RefusalCodes): ProviderError {
  return isListed(response, codes) ? rejected(response, codes) : paymentRefusal(response, codes);
}

function isListed({ code }: PaymentResponse, codes: RefusalCodes): boolean {
  return code !== null && codes.has(code);
}

function rejected(response: PaymentResponse, codes: RefusalCodes): ProviderError {
  return new ProviderError({
    ...readFacts(response),
    outcome: 'rejected',
    code: codes.get(response.code ?? '')?.error ?? 'PROVIDER_REJECTED',
    statusClass: response.status < 300 ? '2xx' : refusalStatusClass(response.status),
  });
}

function readFacts({ status, code }: PaymentResponse) {
  return { httpStatus: status, refusalCode: code, reason: code };
}

function classifyDoubt(status: number): Pick<ProviderErrorOptions, 'code' | 'statusClass'> {
  if (status === 401) return { code: 'TOKEN_REFUSED', statusClass: '401' };
  if (status >= 500) return { code: 'PROVIDER_UNAVAILABLE', statusClass: '5xx' };
  // The server closed an idle connection while the request was in transit.
  if (status === 408) return { code: 'PROVIDER_TIMEOUT', statusClass: 'timeout' };
  if (status >= 400) return { code: 'PROVIDER_REJECTED', statusClass: refusalStatusClass(status) };
  if (status >= 200 && status < 300) return { code: 'PROVIDER_REJECTED', statusClass: '2xx' };
  return { code: 'PROVIDER_INVALID_RESPONSE', statusClass: 'invalid' };
}

function refusalStatusClass(status: number): ProviderStatusClass {
  if (status === 404) return '404';
  return status === 429 ? '429' : '4xx';
}

/**
 * Stored instead of a code that is not in the allowed form, which may be personal data, or that may
 * be about another payment.
 */
export const unreadableCode = 'unreadable';

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
  const values = findValues(['code'], withErrors(places));
  const codes = new Set(values.map(restrictCode));
  const [code = null] = codes;
  return codes.size > 1 ? unreadableCode : code;
}

/** The objects that describe a payment, and those that describe its error. */
export function withErrors(places: readonly Fields[]): readonly Fields[] {
  return [...places, ...places.flatMap((place) => readInner(place, 'error'))];
}

/** Up to 32 letters, digits and `_.-`. */
const allowedForm = /^[A-Z0-9][A-Z0-9_.-]{0,31}$/;

/** Eight digits, whatever separates them, may be part of a document, a phone or an account. */
const manyDigits = /(?:\d[_.-]*){8}/;

const maxTextLength = 128;

/**
 * Converts a code to the form that is stored, counted and compared.
 *
 * @returns the code in upper case, or `unreadable`.
 */
export function restrictCode(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || text.length > maxTextLength) return unreadableCode;
  // ASCII only: other letters that fold into it must not spell a listed code.
  const code = text.trim().replace(/[a-z]/g, (letter) => letter.toUpperCase());
  const isCode = allowedForm.test(code) && !manyDigits.test(code) && taxIdKind(code) === null;
  return isCode ? code : unreadableCode;
}
