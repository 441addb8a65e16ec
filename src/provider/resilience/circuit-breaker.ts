/**
 * Guards each attempt with a bulkhead and circuit breakers. The bulkhead comes first, so that an
 * attempt that has waited sees the results of the attempts before it.
 *
 * Each lane has one breaker for failures of the provider. Each method has another one for invalid
 * responses: one broken endpoint says nothing about the others.
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
  /** How long it stays open before one attempt may probe the provider. */
  readonly openMs: number;
}

export type BreakerState = 'closed' | 'half_open' | 'open';

/** The bulkhead and the breakers of one lane. */
export interface LaneGuard {
  /** The policy of a method's attempts, which resolve to a response or to a ProviderError. */
  policyFor(method: ProviderMethod): IPolicy;
  /** The state of the lane's breaker. */
  breakerState(): BreakerState;
}

/** Creates the guards of one lane. */
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
    policyFor: (method) => policies.get(method) ?? createPolicy(method),
    breakerState: () => stateNames[breaker.state],
  };
}

/** `Isolated` is not used; it would be open. */
const stateNames: Readonly<Record<CircuitState, BreakerState>> = {
  [CircuitState.Closed]: 'closed',
  [CircuitState.HalfOpen]: 'half_open',
  [CircuitState.Open]: 'open',
  [CircuitState.Isolated]: 'open',
};

/**
 * An attempt returns its ProviderError as a value, because cockatiel counts every value that is not
 * a failure as a success: a refusal (4xx) proves that the provider works. Only an abandoned attempt
 * throws, which counts neither way. In half-open state it counts as a failure, because cockatiel
 * would treat an unhandled error as a success.
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
 * In half-open state one attempt probes the provider. cockatiel lets the others wait for it while
 * they occupy the bulkhead; here they fail at once.
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
