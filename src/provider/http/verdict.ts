/**
 * What a status of the provider means: decided once, for every method. A status that proves nothing
 * is `unknown`; there is no default that calls a payment failed.
 */
import { ProviderError } from '../outcome.ts';
import { fieldsOf, inner, readReason, valuesOf } from '../wire-reading.ts';
import type { HttpAnswer } from './client.ts';

/** What is asked for, as far as it changes what a refusal means. */
export type Asked = 'login' | 'key' | 'payment' | 'other';

/**
 * @returns the JSON of a successful answer.
 * @throws ProviderError for every other one.
 */
export function jsonOf(answer: HttpAnswer, asked: Asked): unknown {
  const { status } = answer;
  if (status === 204) return {};
  if (status >= 200 && status < 300) {
    if (answer.json === undefined) throw notUnderstood();
    return answer.json;
  }
  if (status === 401 && asked !== 'login') throw tokenRefused();
  if (status >= 500) throw unavailable(answer);
  if (status >= 400 && !saysNothing(status, asked)) throw refused(answer, asked);
  // Redirects are not followed: what answers so is not the provider that we know.
  throw notUnderstood();
}

/**
 * 408 and 425 speak of the connection, and 409 of another request with the same ids, which may have
 * been carried out: none of them proves that a payment was not.
 */
function saysNothing(status: number, asked: Asked): boolean {
  return status === 408 || status === 425 || (status === 409 && asked === 'payment');
}

/** An answer that is no answer of the provider's. */
export function notUnderstood(cause?: unknown): ProviderError {
  return new ProviderError({
    outcome: 'unknown',
    code: 'PROVIDER_INVALID_RESPONSE',
    statusClass: 'invalid',
    cause,
  });
}

function tokenRefused(): ProviderError {
  return new ProviderError({ outcome: 'not_sent', code: 'TOKEN_REFUSED', statusClass: '401' });
}

function unavailable({ retryAfterMs }: HttpAnswer): ProviderError {
  return new ProviderError({
    outcome: 'unknown',
    code: 'PROVIDER_UNAVAILABLE',
    statusClass: '5xx',
    retryable: true,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

const noFunds = /^(?:NOT_ENOUGH_BALANCE|INSUFFICIENT_(?:FUNDS|BALANCE))$/i;

function refused(answer: HttpAnswer, asked: Asked): ProviderError {
  const { status, retryAfterMs } = answer;
  const reason = reasonOf(answer.json);
  const refusal = { outcome: 'rejected', ...(reason !== null && { reason }) } as const;
  if (status === 429) {
    return new ProviderError({
      ...refusal,
      code: 'PROVIDER_RATE_LIMITED',
      statusClass: '429',
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }
  if (status === 404 && asked === 'key') {
    return new ProviderError({ ...refusal, code: 'PIX_KEY_NOT_FOUND', statusClass: '404' });
  }
  if (asked === 'payment' && reason !== null && noFunds.test(reason)) {
    return new ProviderError({ ...refusal, code: 'INSUFFICIENT_FUNDS', statusClass: '4xx' });
  }
  return new ProviderError({
    ...refusal,
    code: 'PROVIDER_REJECTED',
    statusClass: status === 404 ? '404' : '4xx',
  });
}

/** The provider's own code of a refusal, wherever providers of this family put it. */
function reasonOf(json: unknown): string | null {
  const fields = fieldsOf(json);
  const places = [fields, inner(fields, 'error')];
  const codes = valuesOf(['code', 'reason', 'errorcode', 'title'], places);
  return codes.map(readReason).find((code) => code !== null) ?? null;
}
