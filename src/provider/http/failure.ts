/**
 * What a request that got no whole answer proves. One fact decides about money: whether anything of
 * it can have left. Codes of errors only say how it looked, because the same code means either, as
 * `ECONNRESET` and `EHOSTUNREACH` do.
 */
import { notUnderstood, ProviderError } from '../errors.ts';

/**
 * Nothing of the request has left: no connection was made, whatever kept it (DNS, TCP, TLS), or
 * none was free.
 *
 * @param cause how the client failed.
 */
export function notSent(cause: unknown): ProviderError {
  return new ProviderError({
    outcome: 'not_sent',
    code: 'PROVIDER_UNAVAILABLE',
    statusClass: 'connect',
    // A request that cannot be written is no better the next time.
    retryable: codeOf(cause) !== 'UND_ERR_INVALID_ARG',
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

/** The caller waited no longer. */
export function timedOut(outcome: 'not_sent' | 'unknown', cause: unknown): ProviderError {
  return new ProviderError({
    outcome,
    code: 'PROVIDER_TIMEOUT',
    statusClass: 'timeout',
    retryable: true,
    cause,
  });
}

/** The exchange broke after the request may have left: it is never known what became of it. */
export function broken(cause: unknown): ProviderError {
  const code = codeOf(cause);
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

/** Undici's parser gives its errors no code; at the end of a connection they mean a broken one. */
function isNoHttp(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'HTTPParserError') return false;
  return !error.message.includes('EOF');
}

function codeOf(error: unknown): string | null {
  const isCoded = error instanceof Error && 'code' in error && typeof error.code === 'string';
  return isCoded ? (error.code as string) : null;
}
