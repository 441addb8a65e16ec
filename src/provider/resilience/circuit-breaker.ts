/**
 * What guards each attempt: a bulkhead, then the circuit breakers. The bulkhead comes first, so
 * that an attempt that has waited for a place sees what became of the attempts before it.
 *
 * A lane has one breaker for the failures of the provider. Each method has another one for answers
 * that cannot be read: one endpoint that answers nonsense says nothing about the others.
 */
import {
  BrokenCircuitError,
  bulkhead,
  circuitBreaker,
  type CircuitBreakerPolicy,
  CircuitState,
  ConsecutiveBreaker,
  handleWhenResult,
  type IPolicy,
  wrap,
} from 'cockatiel';
import { ProviderError, type ProviderStatusClass } from '../errors.ts';
import type { ProviderMethod } from '../provider.ts';
import type { BulkheadOptions } from './call-policy.ts';

export interface BreakerOptions {
  /** How many attempts in a row must fail before the breaker opens. */
  readonly failures: number;
  /** How long it stays open before one attempt may try the provider again. */
  readonly openMs: number;
}

export type BreakerState = 'closed' | 'half_open' | 'open';

/** The guards of one lane. */
export interface LaneGuard {
  /** The policy of a method's attempts, which resolve to an answer or to a ProviderError. */
  policyOf(method: ProviderMethod): IPolicy;
  /** The state of the lane's breaker. */
  breakerState(): BreakerState;
}

/** Makes the guards of one lane of calls to the provider. */
export function createLaneGuard(
  breakerOptions: BreakerOptions,
  places: BulkheadOptions,
): LaneGuard {
  const shared = bulkhead(places.concurrent, places.queue);
  const breaker = createBreaker(breakerOptions, isFailureOfTheProvider);
  const policies = new Map<ProviderMethod, IPolicy>();
  const createPolicy = (method: ProviderMethod): IPolicy => {
    const readable = createBreaker(breakerOptions, isUnreadable);
    const policy = wrap(shared, failFast(readable), failFast(breaker));
    policies.set(method, policy);
    return policy;
  };
  return {
    policyOf: (method) => policies.get(method) ?? createPolicy(method),
    breakerState: () => stateNames[breaker.state],
  };
}

/** Nothing isolates the breaker by hand; if something did, it would be open. */
const stateNames: Readonly<Record<CircuitState, BreakerState>> = {
  [CircuitState.Closed]: 'closed',
  [CircuitState.HalfOpen]: 'half_open',
  [CircuitState.Open]: 'open',
  [CircuitState.Isolated]: 'open',
};

/**
 * The attempt's ProviderError comes to the breaker as a value, because cockatiel counts a value
 * that is no failure as a success: a refusal (4xx) proves that the provider is alive. Only an
 * attempt that ended on our side throws, which counts neither way. While the breaker is half open
 * it counts as a failure: cockatiel would take an error that it does not handle for a success
 * there.
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

const failuresOfTheProvider: ReadonlySet<ProviderStatusClass> = new Set([
  '5xx',
  'connect',
  'timeout',
  'reset',
]);

function isFailureOfTheProvider(result: unknown): boolean {
  return result instanceof ProviderError && failuresOfTheProvider.has(result.statusClass);
}

function isUnreadable(result: unknown): boolean {
  return result instanceof ProviderError && result.statusClass === 'invalid';
}

/**
 * Half open means that one attempt is trying the provider. cockatiel lets the others wait for its
 * end, in their places of the bulkhead; here they fail at once.
 */
function failFast(breaker: CircuitBreakerPolicy): IPolicy {
  return {
    // oxlint-disable-next-line typescript/no-deprecated -- the interface requires it
    _altReturn: undefined as never,
    onSuccess: breaker.onSuccess,
    onFailure: breaker.onFailure,
    execute: (attempt, signal) =>
      breaker.state === CircuitState.HalfOpen
        ? Promise.reject(new BrokenCircuitError())
        : breaker.execute(attempt, signal),
  };
}
