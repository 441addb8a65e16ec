/**
 * Maps every response that does not accept a payment, for the HTTP client and the simulated bank.
 * Only a listed code in a status of refusals proves that a payment was not executed; anything else
 * may come from an intermediary, or report a payment that exists.
 */
import { ProviderError, type ProviderErrorOptions, type ProviderStatusClass } from './errors.ts';
import { isRefusalCode, refusalCodes } from './refusal-codes.ts';

/** The statuses with which the provider refuses a payment, by its description. */
export const paymentRefusalStatuses: ReadonlySet<number> = new Set([400, 422]);

export interface PaymentAnswer {
  readonly status: number;
  /** The code at its declared place, in the form of `restrictCode`. */
  readonly code: string | null;
  /** `Retry-After` of the response, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * The error of a response to a payment that is not a receipt.
 *
 * @returns `rejected` for a listed code in a listed status, otherwise `unknown`. A 401 is
 *   `TOKEN_REFUSED` and `unknown`: a proxy may have repeated an executed request.
 */
export function paymentRefusal({ status, code, retryAfterMs }: PaymentAnswer): ProviderError {
  const facts = { httpStatus: status, refusalCode: code, ...(code !== null && { reason: code }) };
  if (paymentRefusalStatuses.has(status) && isRefusalCode(code)) {
    const error = refusalCodes[code]?.error ?? 'PROVIDER_REJECTED';
    return new ProviderError({ ...facts, outcome: 'rejected', code: error, statusClass: '4xx' });
  }
  const unknown = { ...facts, outcome: 'unknown' } as const;
  return new ProviderError({ ...unknown, ...doubtOf(status), ...retry(status, retryAfterMs) });
}

function doubtOf(status: number): Pick<ProviderErrorOptions, 'code' | 'statusClass'> {
  if (status === 401) return { code: 'TOKEN_REFUSED', statusClass: '401' };
  if (status >= 500) return { code: 'PROVIDER_UNAVAILABLE', statusClass: '5xx' };
  // The server closed an idle connection while the request was in transit.
  if (status === 408) return { code: 'PROVIDER_TIMEOUT', statusClass: 'timeout' };
  if (status >= 400) return { code: 'PROVIDER_REJECTED', statusClass: classOf(status) };
  if (status >= 200 && status < 300) return { code: 'PROVIDER_REJECTED', statusClass: '2xx' };
  return { code: 'PROVIDER_INVALID_RESPONSE', statusClass: 'invalid' };
}

function classOf(status: number): ProviderStatusClass {
  if (status === 404) return '404';
  return status === 429 ? '429' : '4xx';
}

/** The same payment may be repeated after a failure of the provider, and after a 408. */
function retry(
  status: number,
  retryAfterMs: number | undefined,
): Pick<ProviderErrorOptions, 'retryable' | 'retryAfterMs'> {
  if (status < 500 && status !== 408) return {};
  return { retryable: true, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}
