/**
 * Handles a provider token that the provider refuses (401), for every method that is called in a
 * banking session. Each user has one provider token.
 *
 * This layer wraps the resilient one: `withTokenRefresh(withResilience(client).provider)`. Reading
 * the session therefore does not occupy a bulkhead, use the time of an attempt, or count for a
 * breaker, and the second call passes the breaker like any other. The money rule still holds: a 401
 * to a payment proves nothing, because a proxy may have repeated an executed request. The second
 * call then reports its first attempt as a repeat (`beforeAttempt`), and unless it is accepted, the
 * outcome stays `unknown`. Any other 401 proves that nothing was done.
 *
 * At a bank that may execute a repeat as a second payment (PROVIDER_PAYMENT_RETRIES=0), a payment
 * has no second call.
 */
import { type Clock, pause } from '../../clock.ts';
import { withJitter } from '../../domain/call-duration.ts';
import { ProviderError, type ProviderErrorOptions } from '../errors.ts';
import type { Provider, ProviderMethod, ProviderRequest, ProviderSession } from '../provider.ts';
import { callPolicy, type ProviderCall, wrapProvider } from './call-policy.ts';

export interface TokenRefreshOptions {
  readonly clock: Clock;
  /** Whether a payment or a return whose token is refused has a second call; by default it has. */
  readonly repeatsPayments?: boolean;
  /** Ends the wait; the call is then not repeated. */
  readonly shutdown?: AbortSignal;
  /** A number from 0 up to 1, for the jitter. */
  readonly random?: () => number;
}

/** The longest wait before a second attempt with the same token, in milliseconds. */
const maxWaitMs = 200;

/**
 * Wraps a provider so that a call is repeated once when its token is refused.
 *
 * The session is read again, because another login may have renewed it. The call is repeated at
 * once with the newer token, or after a wait with the same one. A second refusal marks the session
 * as expired and throws `TOKEN_REFUSED`. So does a session that has ended meanwhile, and, with the
 * failure as its cause, a session that cannot be read or marked. When the caller disconnects or the
 * service stops before the second attempt, the error is `PROVIDER_UNAVAILABLE` and the session
 * remains. Concurrent refused calls share one read and one mark.
 */
export function withTokenRefresh(provider: Provider, options: TokenRefreshOptions): Provider {
  const refresh = new TokenRefresh(options);
  const { repeatsPayments = true } = options;
  return wrapProvider(provider, (method, call) => async (request) => {
    try {
      return await call(request);
    } catch (thrown) {
      if (!request.session) throw thrown;
      const refusal = tokenRefusal(thrown);
      // The session remains: one refusal may be transient.
      if (callPolicy(method).debits && !repeatsPayments) throw refusal;
      return refresh.repeat({ method, call, request, session: request.session }, refusal);
    }
  });
}

interface RefusedCall<Request extends ProviderRequest, Response> {
  readonly method: ProviderMethod;
  readonly call: ProviderCall<Request, Response>;
  readonly request: Request;
  readonly session: ProviderSession;
}

class TokenRefresh {
  readonly #options: TokenRefreshOptions;
  readonly #reads = new SharedWork<string | null>();
  readonly #endings = new SharedWork<void>();

  constructor(options: TokenRefreshOptions) {
    this.#options = options;
  }

  async repeat<Request extends ProviderRequest, Response>(
    refused: RefusedCall<Request, Response>,
    refusal: ProviderError,
  ): Promise<Response> {
    const { session } = refused;
    const token = await this.#currentToken(session, refusal);
    if (token === null) throw refusal;
    if (token === session.token && !(await this.#wait(refused))) {
      // One refusal does not end the session, and the app may retry.
      const code = 'PROVIDER_UNAVAILABLE';
      throw changed(refusal, { code, retryable: true, cause: refusal });
    }
    const current = withToken(session, token);
    const request = { ...refused.request, ...afterRefusal(refused.request, refusal) };
    try {
      return await refused.call({ ...request, session: current });
    } catch (thrown) {
      const error = thrown instanceof ProviderError ? afterBoth(refusal, thrown) : thrown;
      return this.#end(current, tokenRefusal(error));
    }
  }

  async #currentToken(session: ProviderSession, refusal: ProviderError): Promise<string | null> {
    try {
      return await this.#reads.run(sessionKey(session), () => session.currentToken());
    } catch (cause) {
      // A failing database must not log users out.
      throw changed(refusal, { cause });
    }
  }

  async #end(session: ProviderSession, refusal: ProviderError): Promise<never> {
    try {
      await this.#endings.run(sessionKey(session), () => session.expire(session.token));
    } catch (cause) {
      throw changed(refusal, { cause });
    }
    throw refusal;
  }

  /** @returns false when the service stops, or the caller of a read has disconnected. */
  async #wait({
    method,
    request,
  }: Pick<RefusedCall<ProviderRequest, unknown>, 'method' | 'request'>) {
    const { clock, shutdown, random = Math.random } = this.#options;
    const caller = callPolicy(method).abortable ? request.signal : undefined;
    const stops = [caller, shutdown].filter((signal) => signal !== undefined);
    await pause(clock, withJitter(maxWaitMs, random), AbortSignal.any(stops));
    return stops.every((signal) => !signal.aborted);
  }
}

/** @returns the refusal of a token. @throws any other value unchanged. */
function tokenRefusal(thrown: unknown): ProviderError {
  if (thrown instanceof ProviderError && thrown.code === 'TOKEN_REFUSED') return thrown;
  throw thrown;
}

/** The first attempt of the second call follows the refused one. */
function afterRefusal(
  { beforeAttempt }: Pick<ProviderRequest, 'beforeAttempt'>,
  refusal: ProviderError,
): Pick<ProviderRequest, 'beforeAttempt'> {
  if (!beforeAttempt) return {};
  return { beforeAttempt: (last) => beforeAttempt(last ?? refusal.lastAttempt ?? refusal) };
}

/** Counts the attempts of both calls. After an `unknown` refusal the outcome stays `unknown`. */
function afterBoth(refusal: ProviderError, error: ProviderError): ProviderError {
  const { code, statusClass, cause } = error;
  const isDoubted = refusal.outcome === 'unknown' && error.outcome !== 'unknown';
  const end = isDoubted
    ? new ProviderError({ outcome: 'unknown', code, statusClass, cause })
    : error;
  const attempts = refusal.attempts + error.attempts;
  return Object.assign(end, { attempts, lastAttempt: error.lastAttempt ?? refusal.lastAttempt });
}

/** The refusal with another code or cause, after the same attempts. */
function changed(
  refusal: ProviderError,
  changes: Partial<Pick<ProviderErrorOptions, 'code' | 'retryable' | 'cause'>>,
): ProviderError {
  const { outcome, code, statusClass, attempts, lastAttempt } = refusal;
  const error = new ProviderError({ outcome, code, statusClass, ...changes });
  return Object.assign(error, { attempts, lastAttempt });
}

/** The same session with another token. */
function withToken(session: ProviderSession, token: string): ProviderSession {
  return {
    userId: session.userId,
    token,
    currentToken: () => session.currentToken(),
    expire: (refusedToken) => session.expire(refusedToken),
  };
}

function sessionKey(session: ProviderSession): string {
  return `${session.userId} ${session.token}`;
}

/** Concurrent calls with the same name share one execution; results are not cached. */
class SharedWork<T> {
  readonly #inFlight = new Map<string, Promise<T>>();

  run(name: string, work: () => Promise<T>): Promise<T> {
    const shared = this.#inFlight.get(name);
    if (shared !== undefined) return shared;
    const own = work().finally(() => this.#inFlight.delete(name));
    this.#inFlight.set(name, own);
    return own;
  }
}
