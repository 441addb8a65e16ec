/** How a failed call to the provider is answered to the app. */
import { isDatabaseTrouble } from '../db/unavailable.ts';
import { AppError, type AppErrorOptions } from '../errors.ts';
import { ProviderError } from '../provider/errors.ts';

/**
 * Turns the provider layer's error into an answer: 401 where the provider has ended the banking
 * session, 503 where the database failed before that was known, otherwise a 502 with the code of
 * the catalogue. Anything else is passed on as it is.
 */
export function answerTo(error: unknown, headers: AppErrorOptions['headers'] = {}): unknown {
  if (!(error instanceof ProviderError)) return error;
  if (error.code === 'TOKEN_REFUSED') {
    // The database could not tell whether the session has a newer token: the session still stands.
    const isUnread = isDatabaseTrouble(error.cause);
    const code = isUnread ? 'DATABASE_UNAVAILABLE' : 'UNAUTHENTICATED';
    return new AppError(code, { headers, cause: error });
  }
  return new AppError(error.code, { headers: { ...headers, ...retryAfter(error) }, cause: error });
}

function retryAfter(error: ProviderError): Record<string, string> {
  if (error.retryAfterMs === undefined) return {};
  return { 'Retry-After': String(Math.max(1, Math.ceil(error.retryAfterMs / 1_000))) };
}

/** Awaits a provider call that only reads, and answers its failure to the app. */
export async function answered<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw answerTo(error);
  }
}

/**
 * Awaits a provider call that changes something, and answers its failure to the app. Where nobody
 * knows whether it was done, the answer must not say that nothing was: it is a time-out.
 */
export async function answeredChange<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const isUnsure = error instanceof ProviderError && error.outcome === 'unknown';
    if (isUnsure && error.code === 'PROVIDER_UNAVAILABLE') {
      throw new AppError('PROVIDER_TIMEOUT', { cause: error });
    }
    throw answerTo(error);
  }
}

/**
 * Reads from the provider for an answer that can be given without it.
 *
 * @returns what it tells, or null when it does not give it, for whatever reason.
 * @throws AppError UNAUTHENTICATED when the provider has ended the banking session: then nothing
 *   that is stored is shown either.
 */
export async function unlessSilent<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ProviderError) || error.code === 'TOKEN_REFUSED') throw answerTo(error);
    return null;
  }
}
