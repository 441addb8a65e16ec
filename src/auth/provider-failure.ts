/** The replies to the app when a call to the provider fails. */
import { isDatabaseTrouble } from '../db/unavailable.ts';
import { AppError, type ProviderErrorCode, type RefusedOrder } from '../errors.ts';
import { ProviderError } from '../provider/errors.ts';

/**
 * Maps a ProviderError to the catalogue of errors: 401 when the provider has ended the banking
 * session, 503 when the database failed before that was certain, otherwise 502.
 * @param order what the error says of the order that the call was made for.
 * @returns any other thrown value unchanged.
 */
export function toAppError(error: unknown, order?: RefusedOrder): unknown {
  if (!(error instanceof ProviderError)) return error;
  const of = order && { order };
  if (error.code === 'TOKEN_REFUSED') {
    // Whether the session has a newer token could not be read: the session remains.
    const isUnread = isDatabaseTrouble(error.cause);
    const code = isUnread ? 'DATABASE_UNAVAILABLE' : 'UNAUTHENTICATED';
    return new AppError(code, { ...of, cause: error });
  }
  return new AppError(error.code, { ...of, headers: retryAfter(error), cause: error });
}

function retryAfter(error: ProviderError): Record<string, string> {
  if (error.retryAfterMs === undefined) return {};
  return { 'Retry-After': String(Math.max(1, Math.ceil(error.retryAfterMs / 1_000))) };
}

/** Awaits a call that only reads. @throws AppError */
export async function readFromProvider<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw toAppError(error);
  }
}

/**
 * Awaits a call that changes something at the provider.
 * @param codes the codes of refusals by the provider's reason; others are PROVIDER_REJECTED.
 * @throws AppError PROVIDER_TIMEOUT when the outcome is unknown, unless the provider answered that
 *   it is unavailable: PROVIDER_UNAVAILABLE says that nothing was done.
 */
export async function changeAtProvider<T>(
  call: Promise<T>,
  codes: ReadonlyMap<string, ProviderErrorCode> = new Map(),
): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const { outcome, code, reason = '' } = error;
    const named = outcome === 'rejected' ? codes.get(reason) : undefined;
    if (named !== undefined) throw new AppError(named, { cause: error });
    const isUnsure = outcome === 'unknown' && code === 'PROVIDER_UNAVAILABLE';
    if (isUnsure && !error.saysUnavailable)
      throw new AppError('PROVIDER_TIMEOUT', { cause: error });
    throw toAppError(error);
  }
}

/**
 * Reads from the provider for a reply that does not depend on it.
 * @returns null when the provider fails.
 * @throws AppError UNAUTHENTICATED when the provider has ended the banking session: then stored
 *   data is not shown either.
 */
export async function readIfAvailable<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ProviderError) || error.code === 'TOKEN_REFUSED')
      throw toAppError(error);
    return null;
  }
}
