/**
 * What every attempt passes before it may leave: a place among the calls under way, then the
 * breakers. The place comes first, so that an attempt that has waited asks a breaker that knows
 * what became of the attempts before it.
 *
 * A lane has one breaker for the failures of the provider, and one for each method that counts
 * answers that cannot be read: one endpoint that answers nonsense says nothing of the others.
 */
import {
  bulkhead,
  circuitBreaker,
  type CircuitBreakerPolicy,
  CircuitState,
  ConsecutiveBreaker,
  handleWhenResult,
  isBrokenCircuitError,
  isBulkheadRejectedError,
} from 'cockatiel';
import { Abandoned } from './attempt.ts';
import type { ProviderMethod } from './methods.ts';
import { ProviderError, type ProviderStatusClass } from './outcome.ts';

export interface BreakerOptions {
  /** How many attempts in a row must fail before the breaker opens. */
  readonly failures: number;
  /** How long it stays open before one attempt may try the provider again. */
  readonly openMs: number;
}

export interface BulkheadOptions {
  readonly concurrent: number;
  /** How many attempts may wait for a place; one more is refused. */
  readonly queue: number;
}

export type BreakerState = 'closed' | 'half_open' | 'open';

export interface Gate {
  /**
   * Lets an attempt leave, or refuses it.
   *
   * @param method what is called.
   * @param attempt resolves to an answer or to a ProviderError.
   * @param refusal is asked when the attempt has its place: why it may not leave any more. The
   *   breaker counts no time that this takes.
   * @returns the answer or the error, both as values.
   */
  pass(
    method: ProviderMethod,
    attempt: () => Promise<unknown>,
    refusal: () => ProviderError | null | Promise<ProviderError | null>,
  ): Promise<unknown>;
  /** The state of the lane's breaker. */
  breakerState(): BreakerState;
}

/**
 * The failures that are the provider's own. A refusal (4xx) is an answer: it proves that the
 * provider is alive, and so it counts as a success.
 */
const failuresOfTheProvider: ReadonlySet<ProviderStatusClass> = new Set([
  '5xx',
  'connect',
  'timeout',
  'reset',
]);

/** Makes the gate of one lane of calls to the provider. */
export function createGate(breakerOptions: BreakerOptions, places: BulkheadOptions): Gate {
  const waitingRoom = bulkhead(places.concurrent, places.queue);
  const breaker = createBreaker(breakerOptions, isFailureOfTheProvider);
  const readable = new Map<ProviderMethod, CircuitBreakerPolicy>();
  const breakerOf = (method: ProviderMethod): CircuitBreakerPolicy => {
    const made = readable.get(method) ?? createBreaker(breakerOptions, isUnreadable);
    readable.set(method, made);
    return made;
  };
  return {
    async pass(method, attempt, refusal) {
      const leave = (): ProviderError | Promise<unknown> =>
        throughBreaker(breakerOf(method), async () => throughBreaker(breaker, attempt));
      try {
        return await waitingRoom.execute(() => {
          const refused = refusal();
          const goOn = (error: ProviderError | null) => error ?? leave();
          return refused instanceof Promise ? refused.then(goOn) : goOn(refused);
        });
      } catch (thrown) {
        if (thrown instanceof Abandoned) return thrown.error;
        if (isBulkheadRejectedError(thrown)) return notSent('bulkhead_full', thrown);
        if (isBrokenCircuitError(thrown)) return notSent('breaker_open', thrown);
        throw thrown;
      }
    },
    breakerState: () => stateNames[breaker.state],
  };
}

/** A refusal of ours: provably nothing was sent, and the same call may succeed later. */
export function notSent(statusClass: ProviderStatusClass, cause?: unknown): ProviderError {
  return new ProviderError({
    outcome: 'not_sent',
    code: 'PROVIDER_UNAVAILABLE',
    statusClass,
    retryable: true,
    cause,
  });
}

/** Nothing isolates the breaker by hand; if something did, it would be open. */
const stateNames: Readonly<Record<CircuitState, BreakerState>> = {
  [CircuitState.Closed]: 'closed',
  [CircuitState.HalfOpen]: 'half_open',
  [CircuitState.Open]: 'open',
  [CircuitState.Isolated]: 'open',
};

/**
 * Errors come to the breaker as values; what is thrown is an abandoned attempt only, which counts
 * neither way. While the breaker is half open it has to count as a failure, because cockatiel takes
 * an error that it does not handle for a success there: a caller that hangs up would close it.
 */
function createBreaker(
  options: BreakerOptions,
  isFailure: (result: unknown) => boolean,
): CircuitBreakerPolicy {
  const breaker: CircuitBreakerPolicy = circuitBreaker(
    handleWhenResult(isFailure).orWhen(() => breaker.state === CircuitState.HalfOpen),
    { breaker: new ConsecutiveBreaker(options.failures), halfOpenAfter: options.openMs },
  );
  return breaker;
}

function isFailureOfTheProvider(result: unknown): boolean {
  return result instanceof ProviderError && failuresOfTheProvider.has(result.statusClass);
}

function isUnreadable(result: unknown): boolean {
  return result instanceof ProviderError && result.statusClass === 'invalid';
}

function throughBreaker(
  breaker: CircuitBreakerPolicy,
  attempt: () => Promise<unknown>,
): ProviderError | Promise<unknown> {
  // Half open means that one attempt is trying the provider. Cockatiel would let the others wait
  // for its end, holding their places; they are told at once that nothing was sent.
  return breaker.state === CircuitState.HalfOpen
    ? notSent('breaker_open')
    : breaker.execute(attempt);
}
