/**
 * What became of a call to the provider. Outcomes are decided here and nowhere else, because a
 * wrong one pays twice (a payment called "not sent" that was executed) or loses a payment.
 */
import type { ProviderErrorCode } from '../errors.ts';

/**
 * - `not_sent`: provably nothing was done (DNS, connect, TLS, open breaker, no valid token, a
 *   document that we could not read to its end).
 * - `rejected`: the provider refused, definitively (a 4xx).
 * - `unknown`: bytes left and no trustworthy answer came back; it may have been executed.
 */
export type FailedOutcome = 'not_sent' | 'rejected' | 'unknown';

/** How the answer looked, for the timeline, the log and the metrics; never personal data. */
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
  /** The caller did not let the attempt leave. */
  | 'stopped'
  | 'unreadable'
  | 'invalid';

/** The reason of a refusal that says that the code of an electronic validation is a wrong one. */
export const WRONG_VALIDATION_CODE = 'WRONG_VALIDATION_CODE';

export interface ProviderErrorOptions {
  readonly outcome: FailedOutcome;
  /** The catalogue's code; `TOKEN_REFUSED` is the banking session's end and answers 401. */
  readonly code: ProviderErrorCode | 'TOKEN_REFUSED';
  readonly statusClass: ProviderStatusClass;
  /** Whether the same call may succeed if it is made again. */
  readonly retryable?: boolean;
  /** How long the provider asks to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The provider's own reason, such as `AC03`: logged, never echoed. */
  readonly reason?: string;
  /** Present where it says that the provider has the payment already. */
  readonly duplicate?: Duplicate;
  readonly cause?: unknown;
}

/** What a refusal tells of the payment that the provider has already. */
export interface Duplicate {
  /** The one end-to-end id that the refusal names, or null. */
  readonly endToEnd: string | null;
}

/** The one error that leaves the provider layer. */
export class ProviderError extends Error {
  readonly outcome: FailedOutcome;
  readonly code: ProviderErrorCode | 'TOKEN_REFUSED';
  readonly statusClass: ProviderStatusClass;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly reason: string | undefined;
  readonly duplicate: Duplicate | undefined;
  /** The number of attempts that the call took; whoever makes several says so. */
  attempts = 1;

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
    this.reason = options.reason;
    this.duplicate = options.duplicate;
  }
}

/**
 * What came is no answer of the provider's, or none that can be used: it says neither that
 * something was done nor that it was not.
 *
 * @param cause why it cannot be.
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
 * The caller stopped waiting, or no answer came in time. That proves nothing by itself.
 *
 * @param outcome `not_sent` only if no byte can have been sent.
 */
export function timedOut(outcome: 'not_sent' | 'unknown', cause: unknown): ProviderError {
  const code = 'PROVIDER_TIMEOUT';
  return new ProviderError({ outcome, code, statusClass: 'timeout', retryable: true, cause });
}
