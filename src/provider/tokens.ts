/**
 * One provider token per user: what happens when the provider refuses it (401), once for every
 * method that has a session.
 *
 * This layer stands outside the resilient one: `withTokens(withResilience(client).provider)`. So
 * the read of the session costs no place among the provider's calls, no attempt's time-out and no
 * mark against the breaker; the second call passes the breaker like any other; and the money rule
 * holds. A 401 proves that its own attempt did nothing, and the resilient layer lets
 * `TOKEN_REFUSED` through only when no attempt before it ended `unknown`: whatever comes of the
 * second call is then the truth about the whole.
 */
import { type Clock, pause } from '../clock.ts';
import { mannerOf } from './manners.ts';
import { optionsOf, type ProviderCall, sessionOf, wrapProvider } from './methods.ts';
import { ProviderError } from './outcome.ts';
import type { Provider, ProviderSession } from './provider.ts';

export interface TokenOptions {
  readonly clock: Clock;
  /** Ends a back-off; the call is then not made a second time. */
  readonly shutdown?: AbortSignal;
  /** A number from 0 up to 1, for the jitter. */
  readonly random?: () => number;
}

/** The longest wait before the same token is tried a second time. */
const backoffMs = 200;

/**
 * Makes a provider that retries once on a refused token.
 *
 * The session is read again: another login may have renewed it. The call is made once more, at once
 * with the newer token, or after a back-off with the same one. A second refusal marks the session
 * expired, and the error with the code `TOKEN_REFUSED` goes on. It also goes on when the session
 * has ended meanwhile, and, with the failure as its cause, when the session cannot be read or
 * marked. Without a second attempt because the caller has gone or the service stops, the error is
 * `PROVIDER_UNAVAILABLE` and the session stays. Many calls refused at once share one read and one
 * mark.
 */
export function withTokens(provider: Provider, options: TokenOptions): Provider {
  const reads = new SharedWork<string | null>();
  const endings = new SharedWork<void>();

  async function currentToken(
    session: ProviderSession,
    refusal: ProviderError,
  ): Promise<string | null> {
    try {
      return await reads.run(nameOf(session), () => session.currentToken());
    } catch (cause) {
      throw refusalBecauseOf(cause, refusal);
    }
  }

  async function end(session: ProviderSession, refusal: ProviderError): Promise<never> {
    try {
      await endings.run(nameOf(session), () => session.expire(session.token));
    } catch (cause) {
      throw refusalBecauseOf(cause, refusal);
    }
    throw refusal;
  }

  async function tryAgain(
    call: ProviderCall,
    session: ProviderSession,
    refusal: ProviderError,
  ): Promise<unknown> {
    const token = await currentToken(session, refusal);
    if (token === null) throw refusal;
    if (token === session.token && !(await backOff(call, options))) throw notTriedAgain(refusal);
    const current = withToken(session, token);
    try {
      return await call.invoke([current, ...call.args.slice(1)]);
    } catch (thrown) {
      if (thrown instanceof ProviderError) thrown.attempts += refusal.attempts;
      return end(current, refusalOf(thrown));
    }
  }

  return wrapProvider(provider, async (call) => {
    const session = sessionOf(call);
    if (session === null) return call.invoke(call.args);
    try {
      return await call.invoke(call.args);
    } catch (thrown) {
      return tryAgain(call, session, refusalOf(thrown));
    }
  });
}

/** Waits; resolves to false when the service stops, or the caller of a read has gone. */
async function backOff(call: ProviderCall, options: TokenOptions): Promise<boolean> {
  const { clock, shutdown, random = Math.random } = options;
  const caller = mannerOf(call).callerMayStop ? optionsOf(call).signal : undefined;
  const stops = [caller, shutdown].filter((signal) => signal !== undefined);
  // Between half and all of it, so that callers do not come back in step.
  const waitMs = backoffMs / 2 + (random() * backoffMs) / 2;
  await pause(clock, waitMs, AbortSignal.any(stops));
  return stops.every((signal) => !signal.aborted);
}

/** @throws what was thrown, when it is not that a token is refused. */
function refusalOf(thrown: unknown): ProviderError {
  const isRefusal = thrown instanceof ProviderError && thrown.code === 'TOKEN_REFUSED';
  // What may have been executed is not repeated here, whatever its code says.
  if (isRefusal && thrown.outcome !== 'unknown') return thrown;
  throw thrown;
}

/** One refusal does not say that the session is over: nothing was done, and the app may retry. */
function notTriedAgain(refusal: ProviderError): ProviderError {
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

/** Work that those who ask for it under one name while it is under way share; nothing is kept. */
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
