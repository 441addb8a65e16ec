/**
 * The errors of the provider layer, each with the outcome of its call. A wrong outcome pays twice
 * (an executed payment reported as not sent) or loses a payment.
 */
import type { ProviderErrorCode } from '../errors.ts';

/**
 * - `not_sent`: provably nothing was done (DNS, connect, TLS, open breaker, no valid token, an
 *   unreadable document).
 * - `rejected`: the provider refused definitively: a 4xx; for a payment, a listed code
 *   (`refusals.ts`).
 * - `unknown`: bytes were sent without a reliable response; the request may have been executed.
 */
export type FailedOutcome = 'not_sent' | 'rejected' | 'unknown';

/** The kind of response, for timeline, log and metrics; without personal data. */
export type ProviderStatusClass =
  | '2xx'
  | '401'
  | '4xx'
  | '404'
  | '429'
  | '5xx'
  | 'timeout'
  | 'reset'
  | 'connect'
  | 'breaker_open'
  | 'bulkhead_full'
  | 'no_token'
  /** The caller prevented the attempt. */
  | 'stopped'
  | 'unreadable'
  | 'invalid';

/** The reason of a refusal: the code of an electronic validation is wrong. */
export const wrongValidationCode = 'WRONG_VALIDATION_CODE';

export interface ProviderErrorOptions {
  readonly outcome: FailedOutcome;
  /** The catalogue's code; `TOKEN_REFUSED` ends the banking session and results in 401. */
  readonly code: ProviderErrorCode | 'TOKEN_REFUSED';
  readonly statusClass: ProviderStatusClass;
  /** Whether the same call may succeed later. */
  readonly retryable?: boolean;
  /** The wait that the provider requests, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** The provider's own reason, such as `AC03`: logged, never returned to the app. */
  readonly reason?: string | null | undefined;
  /** Whether it answered that it is unavailable, a 503. For a payment that proves nothing. */
  readonly saysUnavailable?: boolean;
  /** The status of the response to a payment. */
  readonly httpStatus?: number | null;
  /** The code of the response to a payment, in the form of `restrictCode`. */
  readonly refusalCode?: string | null;
  readonly cause?: unknown;
}

/** The only error that the provider layer throws. */
export class ProviderError extends Error {
  readonly outcome: FailedOutcome;
  readonly code: ProviderErrorCode | 'TOKEN_REFUSED';
  readonly statusClass: ProviderStatusClass;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly reason: string | undefined;
  readonly saysUnavailable: boolean;
  readonly httpStatus: number | null;
  readonly refusalCode: string | null;
  /** The number of attempts of the call. */
  attempts = 1;
  /** The error of the last attempt of the call that was made; null: none, or this error. */
  lastAttempt: ProviderError | null = null;

  constructor(options: ProviderErrorOptions) {
    super(`provider call failed: ${options.code} (${options.statusClass})`, {
      cause: options.cause,
    });
    this.name = 'ProviderError';
    this.outcome = options.outcome;
    this.code = options.code;
    this.statusClass = options.statusClass;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.reason = options.reason ?? undefined;
    this.saysUnavailable = options.saysUnavailable ?? false;
    this.httpStatus = options.httpStatus ?? null;
    this.refusalCode = options.refusalCode ?? null;
  }
}

/**
 * The response is unusable: it proves neither that something was done nor that nothing was.
 *
 * @param cause why it is unusable.
 */
export function notUnderstood(cause?: unknown): ProviderError {
  return new ProviderError({
    outcome: 'unknown',
    code: 'PROVIDER_INVALID_RESPONSE',
    statusClass: 'invalid',
    cause,
  });
}

/**
 * Provably nothing was sent, and by default the same call may succeed later.
 *
 * @param cause the client's error, if there is one.
 */
export function notSent(
  statusClass: ProviderStatusClass,
  cause?: unknown,
  retryable = true,
): ProviderError {
  const code = 'PROVIDER_UNAVAILABLE';
  return new ProviderError({ outcome: 'not_sent', code, statusClass, retryable, cause });
}

/**
 * The caller stopped waiting, or no response came in time. That proves nothing by itself.
 *
 * @param outcome `not_sent` only if no byte can have been sent.
 */
export function timedOut(outcome: 'not_sent' | 'unknown', cause: unknown): ProviderError {
  const code = 'PROVIDER_TIMEOUT';
  return new ProviderError({ outcome, code, statusClass: 'timeout', retryable: true, cause });
}
