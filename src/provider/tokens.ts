/**
 * One provider token per user: what happens when the provider refuses it (401), once for every
 * method that has a session.
 *
 * This layer stands outside the resilient one: `withTokens(withResilience(client).provider)`. So
 * the read of the session costs no place among the provider's calls, no attempt's time-out and no
 * mark against the breaker; the call with the newer token passes the breaker like any other; and
 * the money rule holds. A 401 proves that its own attempt did nothing, and the resilient layer lets
 * `TOKEN_REFUSED` through only when no attempt before it ended `unknown`: whatever comes of the
 * call with the newer token is then the truth about the whole.
 */
import { ProviderError } from './outcome.ts';
import { type ProviderCall, sessionOf, wrapProvider } from './methods.ts';
import type { Provider, ProviderSession } from './provider.ts';

/**
 * Makes a provider that tries a refused token's successor.
 *
 * A call whose token is refused is made once more with the token that another login has stored
 * since. If there is none, or it is refused too, the session is marked expired and the error with
 * the code `TOKEN_REFUSED` goes on. Many calls refused at once share one read and one mark.
 */
export function withTokens(provider: Provider): Provider {
  const renewals = new SharedWork<string | null>();
  const endings = new SharedWork<void>();

  async function successorOf(session: ProviderSession): Promise<string | null> {
    const renewed = await renewals.run(nameOf(session), () => session.renewedToken(session.token));
    return renewed === session.token ? null : renewed;
  }

  async function end(session: ProviderSession, refusal: ProviderError): Promise<never> {
    await knowing(refusal, () => endings.run(nameOf(session), () => session.expire(session.token)));
    throw refusal;
  }

  async function withSuccessor(
    call: ProviderCall,
    session: ProviderSession,
    refusal: ProviderError,
  ): Promise<unknown> {
    const token = await knowing(refusal, () => successorOf(session));
    if (token === null) return end(session, refusal);
    const newer = withToken(session, token);
    try {
      return await call.invoke([newer, ...call.args.slice(1)]);
    } catch (thrown) {
      return end(newer, refusalOf(thrown));
    }
  }

  return wrapProvider(provider, async (call) => {
    const session = sessionOf(call);
    if (session === null) return call.invoke(call.args);
    try {
      return await call.invoke(call.args);
    } catch (thrown) {
      return withSuccessor(call, session, refusalOf(thrown));
    }
  });
}

/** @throws what was thrown, when it is not that a token is refused. */
function refusalOf(thrown: unknown): ProviderError {
  const isRefusal = thrown instanceof ProviderError && thrown.code === 'TOKEN_REFUSED';
  // What may have been executed is not asked for again here, whatever its code says.
  if (isRefusal && thrown.outcome !== 'unknown') return thrown;
  throw thrown;
}

/**
 * Does the work on the session that follows a refusal. It can fail (the database is away); the port
 * rejects with a ProviderError and nothing else, so the refusal goes on, with that as its cause.
 */
async function knowing<T>(refusal: ProviderError, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const { outcome, statusClass } = refusal;
    throw new ProviderError({ outcome, code: 'TOKEN_REFUSED', statusClass, cause: thrown });
  }
}

/** The same session with another token. */
function withToken(session: ProviderSession, token: string): ProviderSession {
  return {
    userId: session.userId,
    token,
    renewedToken: (refusedToken) => session.renewedToken(refusedToken),
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
