/**
 * What became of a call to the provider. Outcomes are decided here and nowhere else, because a
 * wrong one pays twice (a payment called "not sent" that was executed) or loses a payment.
 */
import type { ProviderErrorCode } from '../errors.ts';

/**
 * - `not_sent`: provably nothing was done (DNS, connect, TLS, open breaker, no valid token).
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
  | 'invalid';

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
  readonly cause?: unknown;
}

/** The one error that leaves the provider layer. */
export class ProviderError extends Error {
  readonly outcome: FailedOutcome;
  readonly code: ProviderErrorCode | 'TOKEN_REFUSED';
  readonly statusClass: ProviderStatusClass;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly reason: string | undefined;

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
  }
}
