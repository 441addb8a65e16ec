/**
 * One provider token per user: what follows when the provider refuses it (401), for every method
 * that is called in a banking session.
 *
 * This layer stands outside the resilient one: `withTokenRefresh(withResilience(client).provider)`.
 * So reading the session costs no place in a bulkhead, no time of an attempt and no mark against a
 * breaker; the second call passes the breaker like any other; and the money rule holds. A 401
 * proves that its own attempt did nothing, and the resilient layer lets `TOKEN_REFUSED` through
 * only when no attempt before it ended `unknown`: the second call's result is then the result of
 * the whole.
 */
import { type Clock, pause } from '../../clock.ts';
import { withJitter } from '../../domain/call-duration.ts';
import { ProviderError } from '../errors.ts';
import type { Provider, ProviderMethod, ProviderRequest, ProviderSession } from '../provider.ts';
import { type ProviderCall, wrapProvider } from '../wrap-provider.ts';
import { callPolicy } from './call-policy.ts';

export interface TokenRefreshOptions {
  readonly clock: Clock;
  /** Ends the wait; the call is then not repeated. */
  readonly shutdown?: AbortSignal;
  /** A number from 0 up to 1, for the jitter. */
  readonly random?: () => number;
}

/** The longest wait before the same token is tried a second time, in milliseconds. */
const longestWaitMs = 200;

/**
 * Makes a provider that repeats a call once when its token is refused.
 *
 * The session is read again, because another login may have renewed it. The call is repeated at
 * once with the newer token, or after a wait with the same one. A second refusal marks the session
 * expired, and the error with the code `TOKEN_REFUSED` is thrown. It is also thrown when the
 * session has ended meanwhile, and, with the failure as its cause, when the session cannot be read
 * or marked. When the caller has gone or the service stops before the second attempt, the error is
 * `PROVIDER_UNAVAILABLE` and the session stays. Calls refused at the same time share one read and
 * one mark.
 */
export function withTokenRefresh(provider: Provider, options: TokenRefreshOptions): Provider {
  const refresh = new TokenRefresh(options);
  return wrapProvider(provider, (method, call) => async (request) => {
    try {
      return await call(request);
    } catch (thrown) {
      if (!request.session) throw thrown;
      const refusal = tokenRefusal(thrown);
      return refresh.repeat({ method, call, request, session: request.session }, refusal);
    }
  });
}

interface RefusedCall<Request extends ProviderRequest, Answer> {
  readonly method: ProviderMethod;
  readonly call: ProviderCall<Request, Answer>;
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

  async repeat<Request extends ProviderRequest, Answer>(
    refused: RefusedCall<Request, Answer>,
    refusal: ProviderError,
  ): Promise<Answer> {
    const { session } = refused;
    const token = await this.#currentToken(session, refusal);
    if (token === null) throw refusal;
    if (token === session.token && !(await this.#wait(refused))) throw notRepeated(refusal);
    const current = withToken(session, token);
    try {
      return await refused.call({ ...refused.request, session: current });
    } catch (thrown) {
      if (thrown instanceof ProviderError) thrown.attempts += refusal.attempts;
      return this.#end(current, tokenRefusal(thrown));
    }
  }

  async #currentToken(session: ProviderSession, refusal: ProviderError): Promise<string | null> {
    try {
      return await this.#reads.run(nameOf(session), () => session.currentToken());
    } catch (cause) {
      throw refusalBecauseOf(cause, refusal);
    }
  }

  async #end(session: ProviderSession, refusal: ProviderError): Promise<never> {
    try {
      await this.#endings.run(nameOf(session), () => session.expire(session.token));
    } catch (cause) {
      throw refusalBecauseOf(cause, refusal);
    }
    throw refusal;
  }

  /** @returns false when the service stops, or the caller of a read has gone. */
  async #wait({
    method,
    request,
  }: Pick<RefusedCall<ProviderRequest, unknown>, 'method' | 'request'>) {
    const { clock, shutdown, random = Math.random } = this.#options;
    const caller = callPolicy(method).abortable ? request.signal : undefined;
    const stops = [caller, shutdown].filter((signal) => signal !== undefined);
    await pause(clock, withJitter(longestWaitMs, random), AbortSignal.any(stops));
    return stops.every((signal) => !signal.aborted);
  }
}

/** @throws the thrown value, unless it says that the token was refused. */
function tokenRefusal(thrown: unknown): ProviderError {
  const isRefusal = thrown instanceof ProviderError && thrown.code === 'TOKEN_REFUSED';
  // A call that may have been executed is not repeated here, whatever its code says.
  if (isRefusal && thrown.outcome !== 'unknown') return thrown;
  throw thrown;
}

/** One refusal does not end the session: nothing was done, and the app may retry. */
function notRepeated(refusal: ProviderError): ProviderError {
  const { outcome, statusClass, attempts } = refusal;
  const code = 'PROVIDER_UNAVAILABLE';
  const error = new ProviderError({ outcome, code, statusClass, retryable: true, cause: refusal });
  return Object.assign(error, { attempts });
}

/** The session could not be read or marked: a database that fails logs no one out. */
function refusalBecauseOf(
  cause: unknown,
  { outcome, statusClass, attempts }: ProviderError,
): ProviderError {
  const error = new ProviderError({ outcome, code: 'TOKEN_REFUSED', statusClass, cause });
  return Object.assign(error, { attempts });
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

function nameOf(session: ProviderSession): string {
  return `${session.userId} ${session.token}`;
}

/** Calls under one name share the work that is under way; no result is kept. */
class SharedWork<T> {
  readonly #underWay = new Map<string, Promise<T>>();

  run(name: string, work: () => Promise<T>): Promise<T> {
    const shared = this.#underWay.get(name);
    if (shared !== undefined) return shared;
    const own = work().finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, own);
    return own;
  }
}
