/**
 * Maps the provider's statuses to outcomes, for every method but the payment, whose responses
 * `payment-response.ts` reads. A status that proves nothing is `unknown`.
 */
import {
  notUnderstood,
  ProviderError,
  timedOut,
  wrongValidationCode,
  type ProviderErrorOptions,
} from '../errors.ts';
import {
  isObject,
  readFields,
  firstRead,
  readInner,
  readReason,
  findValues,
  type Fields,
} from '../wire-reading.ts';
import type { Dialects } from '../dialect/dialects.ts';
import { readWord } from '../dialect/fields.ts';
import { readCodeAt } from '../refusals.ts';
import type { HttpResponse } from './client.ts';

/**
 * The kinds of responses whose meaning differs. `onboarding` is every step of an onboarding except
 * `code`, the confirmation of the code that the person received.
 */
export type ResponseKind = 'login' | 'key' | 'onboarding' | 'code' | 'other';

/** Calls without a banking session: a 401 is an ordinary refusal and ends no session. */
const withoutToken: ReadonlySet<ResponseKind> = new Set(['login', 'onboarding', 'code']);

/** Calls whose response may be empty. */
const mayBeEmpty: ReadonlySet<ResponseKind> = new Set(['onboarding', 'code']);

/**
 * Reads a response.
 * @returns the JSON of a successful response; an empty object for 204, or where it may be empty.
 * @throws ProviderError for every other response.
 */
export function readResponse(response: HttpResponse, kind: ResponseKind): unknown {
  const { status } = response;
  if (status === 204) return {};
  if (status >= 200 && status < 300) {
    if (response.isEmpty && mayBeEmpty.has(kind)) return {};
    if (response.json === undefined) throw notUnderstood(new Error('a response that is not JSON'));
    return response.json;
  }
  throw failure(response, kind);
}

function failure(response: HttpResponse, kind: ResponseKind): ProviderError {
  const { status, retryAfterMs, json } = response;
  const error = (options: ProviderErrorOptions): ProviderError =>
    new ProviderError({ reason: readRefusalReason(json), ...options });
  if (status === 401 && !withoutToken.has(kind)) {
    return error({ outcome: 'not_sent', code: 'TOKEN_REFUSED', statusClass: '401' });
  }
  if (status >= 500) {
    const saysUnavailable = status === 503;
    const again = { retryable: true, retryAfterMs, saysUnavailable };
    return error({
      outcome: 'unknown',
      code: 'PROVIDER_UNAVAILABLE',
      statusClass: '5xx',
      ...again,
    });
  }
  // The server closed an idle connection while the request was in transit.
  if (status === 408) return timedOut('unknown', new Error('status 408'));
  // Redirects are not followed: the provider's API does not send them.
  if (status < 400) return notUnderstood(new Error(`status ${status}`));
  const refusal = { code: 'PROVIDER_REJECTED', statusClass: '4xx' } as const;
  if (!refusals.has(status)) return error({ ...refusal, outcome: 'unknown' });
  const outcome = 'rejected';
  if (status === 429) {
    return error({ outcome, code: 'PROVIDER_RATE_LIMITED', statusClass: '429', retryAfterMs });
  }
  if (status === 404) {
    const code = kind === 'key' ? 'PIX_KEY_NOT_FOUND' : 'PROVIDER_REJECTED';
    return error({ outcome, code, statusClass: '404' });
  }
  const isWrong = kind === 'code' && isWrongCode(response);
  return error({ ...refusal, outcome, ...(isWrong && { reason: wrongValidationCode }) });
}

/**
 * Refuses a successful status whose content says that the request failed: by a declared sign beside
 * its data, or by a listed code of a refusal.
 *
 * @param declared what the active dialects declare.
 * @throws ProviderError `rejected` for such a response.
 */
export function refuseFailure(json: unknown, declared: Failures): void {
  if (saysFailure(json, declared)) throw saidFailure(json);
}

/**
 * Refuses the response to a look-up that says that it has found nothing.
 *
 * @param what what was looked up: the response about a code may repeat the code.
 * @throws ProviderError `rejected` for such a response.
 */
export function refuseLookUp(json: unknown, { signs }: Failures, what: 'key' | 'code'): void {
  const objects = [json, ...innerObjects(json, lookUpPlaces)];
  if (signs.saysNotFound(objects, { hasCode: what === 'key' })) throw saidFailure(json);
}

function saidFailure(json: unknown): ProviderError {
  const reason = readRefusalReason(json);
  const code = 'PROVIDER_REJECTED';
  return new ProviderError({ outcome: 'rejected', code, statusClass: '2xx', reason });
}

/** Whether a response with a successful status says that its request has failed. */
export function saysFailure(
  json: unknown,
  { signs, refusals: codes, endWords }: Failures,
): boolean {
  const inner = innerObjects(json);
  const objects = [json, ...inner].map((one) => withoutWords(one, endWords));
  const code = readCodeAt([readFields(json), ...inner.map(readFields)]);
  return signs.saysFailure(objects) || (code !== null && codes.has(code));
}

/** The objects of a response that describe what was asked for, beside the response itself. */
function innerObjects(json: unknown, names: readonly string[] = ['data', 'result']): unknown[] {
  const top = readFields(json);
  return names.flatMap((name) => top.get(name) ?? []);
}

const lookUpPlaces = ['data', 'result', 'response', 'status', 'meta', 'entry'];

/** What the active dialects declare of failures. */
export interface Failures extends Pick<Dialects, 'signs' | 'refusals'> {
  /** Words that are what was asked for, and no sign of a failure; none by default. */
  readonly endWords?: ReadonlySet<string>;
}

function withoutWords(value: unknown, words: ReadonlySet<string> = new Set()): unknown {
  if (words.size === 0 || !isObject(value)) return value;
  const fields = Object.entries(value).filter(([, one]) => !words.has(readWord(one) ?? ''));
  return Object.fromEntries(fields);
}

/**
 * The statuses that mean that the request was examined and not executed (RFC 9110, section 15.5;
 * RFC 6585; RFC 4918 for 422 and 423). Other statuses of the 4xx range come from intermediaries, or
 * concern another request.
 */
const refusals: ReadonlySet<number> = new Set([
  400, 401, 402, 403, 404, 405, 406, 409, 410, 411, 413, 414, 415, 416, 417, 421, 422, 423, 426,
  428, 429, 431, 451,
]);

/** The statuses of a well-formed request with invalid content. */
const contentErrorStatuses: ReadonlySet<number> = new Set([400, 409, 422]);

const codePattern = 'c[óo]digo|code';
const wrongPattern = 'inv[áa]lid|incorre|wrong|errad|expir|mismatch|n[ãa]o confere';

/** `INVALID_CODE`, `Código incorreto`, in either order. */
const wrongCode = new RegExp(
  String.raw`(?:${codePattern}).*(?:${wrongPattern})|(?:${wrongPattern}).*(?:${codePattern})`,
  'i',
);

/** Whether a refusal concerns the code, by its message or by the invalid field. */
function isWrongCode({ status, json }: HttpResponse): boolean {
  if (!contentErrorStatuses.has(status)) return false;
  const places = errorPlaces(json);
  const fieldErrors = places.flatMap((place) => readInner(place, 'errors'));
  if (findValues(['codigo'], fieldErrors).length > 0) return true;
  return findValues([...codeNames, ...sentenceNames], places).some(
    (word) => typeof word === 'string' && wrongCode.test(word.slice(0, maxSentenceLength)),
  );
}

/** Longer texts are truncated before the pattern is applied. */
const maxSentenceLength = 1_000;

/** Reads the provider's own code of a refusal, from all known fields. */
function readRefusalReason(json: unknown): string | null {
  const codes = findValues([...codeNames, 'title'], errorPlaces(json));
  return firstRead(codes, readReason);
}

const codeNames = ['code', 'reason', 'errorcode', 'error'];

const sentenceNames = ['title', 'detail', 'message', 'description'];

function errorPlaces(json: unknown): readonly Fields[] {
  const fields = readFields(json);
  const [list] = fields.get('errors') ?? [];
  const listed: readonly unknown[] = Array.isArray(list) ? list.slice(0, 10) : [];
  return [fields, ...readInner(fields, 'error'), ...listed.map(readFields)];
}
