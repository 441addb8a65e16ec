/**
 * What a status of the provider means: decided once, for every method. A status that proves nothing
 * is `unknown`; there is no default that calls a payment failed.
 */
import {
  notUnderstood,
  ProviderError,
  WRONG_VALIDATION_CODE,
  type Duplicate,
  type ProviderStatusClass,
} from '../errors.ts';
import { saysDuplicate } from '../wire-duplicates.ts';
import {
  endToEndNames,
  fieldsOf,
  firstRead,
  inner,
  readId,
  readReason,
  valuesOf,
  type Fields,
} from '../wire-reading.ts';
import type { HttpAnswer } from './client.ts';
import { timedOut } from './failure.ts';
import { placesOf } from './translate.ts';

/**
 * What a response is about, as far as its meaning depends on it. `onboarding` is every step of an
 * onboarding except `code`, the confirmation of the code that the person received.
 */
export type ResponseKind = 'login' | 'key' | 'payment' | 'onboarding' | 'code' | 'other';

/** Made outside a banking session: a 401 is a refusal like others and ends no session. */
const withoutToken: ReadonlySet<ResponseKind> = new Set(['login', 'onboarding', 'code']);

/** Being done is all that there is to answer, so the answer may be empty. */
const mayBeEmpty: ReadonlySet<ResponseKind> = new Set(['onboarding', 'code']);

/**
 * @returns the JSON of a successful answer; an empty object where it has no content (204), or where
 *   it may be empty.
 * @throws ProviderError for every other one.
 */
export function readResponse(answer: HttpAnswer, kind: ResponseKind): unknown {
  const { status } = answer;
  if (status === 204) return {};
  if (status >= 200 && status < 300) {
    if (answer.isEmpty && mayBeEmpty.has(kind)) return {};
    if (answer.json === undefined) throw notUnderstood(new Error('an answer that is no JSON'));
    return answer.json;
  }
  const reason = reasonOf(answer.json);
  if (status === 401 && !withoutToken.has(kind)) throw tokenRefused(reason);
  if (status >= 500) throw unavailable(answer, reason);
  // The server has closed a connection that stood idle, with our request on its way to it.
  if (status === 408) throw timedOut('unknown', new Error('status 408'));
  const duplicate = kind === 'payment' ? duplicateIn(answer) : null;
  if (duplicate) throw doubtful(reason, '4xx', duplicate);
  if (isRefusal(status, kind)) throw refused(answer, reason, kind);
  if (status >= 400 && status < 500) throw doubtful(reason, '4xx');
  // Redirects are not followed: what answers so is not the provider that we know.
  throw notUnderstood(new Error(`status ${status}`));
}

/**
 * The statuses that say that the request was looked at and not carried out (RFC 9110, section 15.5;
 * RFC 6585; RFC 4918 for 422 and 423). Others of the 4xx range are made up by whatever stands in
 * between, or speak of another request.
 */
const refusals: ReadonlySet<number> = new Set([
  400, 401, 402, 403, 404, 405, 406, 410, 411, 413, 414, 415, 416, 417, 421, 422, 423, 426, 428,
  429, 431, 451,
]);

function isRefusal(status: number, kind: ResponseKind): boolean {
  return refusals.has(status) || (status === 409 && kind !== 'payment');
}

/** What a refusal of a payment tells of the one that is there already; null when it is another. */
function duplicateIn({ status, json }: HttpAnswer): Duplicate | null {
  const isSaid =
    (refusals.has(status) || status === 409) &&
    saysDuplicate(placesOf(json), { describesFailure: true });
  if (!isSaid) return null;
  const places = [...placesOf(json), ...errorPlaces(json)];
  const named = new Set(valuesOf(endToEndNames, places).map(readId));
  const [endToEnd = null] = named;
  return { endToEnd: named.size === 1 ? endToEnd : null };
}

function tokenRefused(reason: string | null): ProviderError {
  return new ProviderError({
    outcome: 'not_sent',
    code: 'TOKEN_REFUSED',
    statusClass: '401',
    ...withReason(reason),
  });
}

function unavailable({ retryAfterMs }: HttpAnswer, reason: string | null): ProviderError {
  return new ProviderError({
    outcome: 'unknown',
    code: 'PROVIDER_UNAVAILABLE',
    statusClass: '5xx',
    retryable: true,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...withReason(reason),
  });
}

/** The provider lives and says no, but not that nothing was done. */
export function doubtful(
  reason: string | null,
  statusClass: ProviderStatusClass,
  duplicate?: Duplicate,
): ProviderError {
  return new ProviderError({
    outcome: 'unknown',
    code: 'PROVIDER_REJECTED',
    statusClass,
    ...withReason(reason),
    ...(duplicate && { duplicate }),
  });
}

const noFunds = /^(?:NOT_ENOUGH_BALANCE|INSUFFICIENT_(?:FUNDS|BALANCE))$/i;

function refused(answer: HttpAnswer, reason: string | null, kind: ResponseKind): ProviderError {
  const { status, retryAfterMs } = answer;
  const refusal = { outcome: 'rejected', ...withReason(reason) } as const;
  if (status === 429) {
    return new ProviderError({
      ...refusal,
      code: 'PROVIDER_RATE_LIMITED',
      statusClass: '429',
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }
  if (status === 404 && kind === 'key') {
    return new ProviderError({ ...refusal, code: 'PIX_KEY_NOT_FOUND', statusClass: '404' });
  }
  if (kind === 'payment' && reason !== null && noFunds.test(reason)) {
    return new ProviderError({ ...refusal, code: 'INSUFFICIENT_FUNDS', statusClass: '4xx' });
  }
  return new ProviderError({
    ...refusal,
    code: 'PROVIDER_REJECTED',
    statusClass: status === 404 ? '404' : '4xx',
    ...(kind === 'code' && isWrongCode(answer) && { reason: WRONG_VALIDATION_CODE }),
  });
}

/** The statuses of a request that was well understood, and whose content is at fault. */
const faultsOfContent: ReadonlySet<number> = new Set([400, 409, 422]);

const nameOfCode = 'c[óo]digo|code';
const wordForWrong = 'inv[áa]lid|incorre|wrong|errad|expir|mismatch|n[ãa]o confere';

/** `INVALID_CODE`, `Código incorreto`, in either order. */
const wrongCode = new RegExp(
  String.raw`(?:${nameOfCode}).*(?:${wordForWrong})|(?:${wordForWrong}).*(?:${nameOfCode})`,
  'i',
);

/** A refusal that names the code, by its words or by the field that is at fault. */
function isWrongCode({ status, json }: HttpAnswer): boolean {
  if (!faultsOfContent.has(status)) return false;
  const places = errorPlaces(json);
  const faults = places.map((place) => inner(place, 'errors'));
  if (valuesOf(['codigo'], faults).length > 0) return true;
  return valuesOf([...codeNames, ...sentenceNames], places).some(
    (word) => typeof word === 'string' && wrongCode.test(word.slice(0, longestSentence)),
  );
}

/** A longer text is no error message, and a pattern need not run on it. */
const longestSentence = 1_000;

function withReason(reason: string | null): { readonly reason?: string } {
  return reason === null ? {} : { reason };
}

/** The provider's own code of a refusal, wherever providers of this family put it. */
export function reasonOf(json: unknown): string | null {
  const codes = valuesOf([...codeNames, 'title'], errorPlaces(json));
  return firstRead(codes, readReason);
}

const codeNames = ['code', 'reason', 'errorcode', 'error'];

const sentenceNames = ['title', 'detail', 'message', 'description'];

function errorPlaces(json: unknown): readonly Fields[] {
  const fields = fieldsOf(json);
  const list = fields.get('errors');
  const listed: readonly unknown[] = Array.isArray(list) ? list.slice(0, 10) : [];
  return [fields, inner(fields, 'error'), ...listed.map(fieldsOf)];
}
