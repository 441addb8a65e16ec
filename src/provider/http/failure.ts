/**
 * Classifies requests without a complete response. Only one fact decides about money: whether any
 * byte can have been sent. Error codes do not tell, because `ECONNRESET` and `EHOSTUNREACH` occur
 * in both cases.
 */
import { notUnderstood, ProviderError } from '../errors.ts';

/**
 * No byte was sent: a connection could not be established (DNS, TCP, TLS), or none was free.
 *
 * @param cause the client's error.
 */
export function notSent(cause: unknown): ProviderError {
  return new ProviderError({
    outcome: 'not_sent',
    code: 'PROVIDER_UNAVAILABLE',
    statusClass: 'connect',
    // An invalid request fails again.
    retryable: errorCode(cause) !== 'UND_ERR_INVALID_ARG',
    cause,
  });
}

/** The client is closed. */
export function closed(): ProviderError {
  return new ProviderError({
    outcome: 'not_sent',
    code: 'PROVIDER_UNAVAILABLE',
    statusClass: 'connect',
    cause: new Error('the HTTP client is closed'),
  });
}

/** The caller stopped waiting. */
export function timedOut(outcome: 'not_sent' | 'unknown', cause: unknown): ProviderError {
  return new ProviderError({
    outcome,
    code: 'PROVIDER_TIMEOUT',
    statusClass: 'timeout',
    retryable: true,
    cause,
  });
}

/** The connection broke after bytes may have been sent: the outcome is unknown. */
export function broken(cause: unknown): ProviderError {
  const code = errorCode(cause);
  if (code?.endsWith('_TIMEOUT')) return timedOut('unknown', cause);
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || isNoHttp(cause)) return notUnderstood(cause);
  return new ProviderError({
    outcome: 'unknown',
    code: 'PROVIDER_UNAVAILABLE',
    statusClass: 'reset',
    retryable: true,
    cause,
  });
}

/**
 * undici's parser errors have no code; at the end of a connection they mean a broken connection.
 */
function isNoHttp(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'HTTPParserError') return false;
  return !error.message.includes('EOF');
}

function errorCode(error: unknown): string | null {
  const isCoded = error instanceof Error && 'code' in error && typeof error.code === 'string';
  return isCoded ? (error.code as string) : null;
}
