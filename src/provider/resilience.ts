/**
 * Protects the service from an unreliable provider: a time-out for each attempt, retries with
 * back-off within a budget, a circuit breaker, and a limit on what is under way at once. Each lane
 * has its own breaker and limit.
 *
 *     one call ─ attempt 1 ─ back-off ─ attempt 2 ─ …   each: place → breaker → time-out → client
 *
 * The money rule. A payment is asked for with the same ids on every attempt. Once one attempt has
 * ended `unknown` it may have been executed, so no later attempt can make the call `rejected` or
 * `not_sent`: the refusal may be "duplicate end-to-end id", and an open breaker speaks of its own
 * attempt only. The call stays `unknown`, unless a later attempt is accepted; an answer that says
 * that the payment has failed is a refusal. The same holds for everything else that changes
 * something at the provider.
 *
 * The caller may decide before each attempt whether it leaves (`beforeAttempt`): a payment is
 * repeated only while it is stored as this process's to pay.
 *
 * The caller's signal stops reads only. Anything else goes on when the app has hung up, because
 * cutting it makes its outcome unknown and saves nothing. Shutdown cuts no attempt for the same
 * reason, and a first attempt may still leave for a request that is being finished; but a back-off
 * ends at once and nothing is tried again.
 */
import { type Clock, pause } from '../clock.ts';
import { longestBackoffMs, longestCallMs } from '../domain/call-duration.ts';
import { checkReceipt, makeAttempt } from './attempt.ts';
import {
  type BreakerOptions,
  type BreakerState,
  type BulkheadOptions,
  createGate,
  type Gate,
  notSent,
} from './gate.ts';
import { forwarding } from './forwarding.ts';
import { laneBulkheads, type ProviderLane, providerLane, providerLanes } from './lanes.ts';
import { type Manner, mannerOf } from './manners.ts';
import {
  optionsOf,
  type ProviderCall,
  type ProviderMethod,
  withOptions,
  wrapProvider,
} from './methods.ts';
import { type FailedOutcome, ProviderError, type ProviderStatusClass } from './outcome.ts';
import type { Provider } from './provider.ts';
import { RetryBudget } from './retry-budget.ts';

export type { BreakerState } from './gate.ts';

export interface BackoffOptions {
  /** The longest wait after the first attempt; it doubles with each further one. */
  readonly baseMs: number;
  /** The longest wait of all. */
  readonly maxMs: number;
}

/** What became of an attempt or of a call, for the metrics and the log; no personal data. */
export interface ProviderObservation {
  readonly method: ProviderMethod;
  readonly lane: ProviderLane;
  /** The number of the attempt, from 1; for a call, of its last one. */
  readonly attempt: number;
  readonly outcome: 'accepted' | FailedOutcome;
  readonly statusClass: ProviderStatusClass;
  /** From the moment the attempt left; for a call, all of it, waits included. */
  readonly durationMs: number;
  readonly requestId: string | null;
  readonly traceId: string | null;
  /** The provider's own reason, such as `AC03`. */
  readonly reason: string | null;
  /** What was thrown that is not a ProviderError: a fault of the provider layer, or null. */
  readonly defect: unknown;
}

export interface ResilienceOptions {
  readonly clock: Clock;
  /** How long one attempt may take; with a document, this is on top of what its bytes need. */
  readonly timeoutMs: number;
  /** How many attempts may follow the first. */
  readonly retries: number;
  /**
   * How long a call may take with all its attempts; by default, what they and the back-offs need
   * at most, and one time-out more for waiting in the queue.
   */
  readonly totalMs?: number;
  readonly backoff?: BackoffOptions;
  readonly breaker?: BreakerOptions;
  readonly bulkhead?: BulkheadOptions;
  readonly shutdown?: AbortSignal;
  /** A number from 0 up to 1, for the jitter. */
  readonly random?: () => number;
  /** Told of every attempt, those that the gate refused included. */
  readonly onAttempt?: (observation: ProviderObservation) => void;
  /** Told of every call when it has ended. */
  readonly onCall?: (observation: ProviderObservation) => void;
}

export interface ResilientProvider {
  readonly provider: Provider;
  breakerState(lane: ProviderLane): BreakerState;
}

const DEFAULT_BACKOFF: BackoffOptions = { baseMs: 200, maxMs: longestBackoffMs };

/** More than three whole calls in a row: one key that always fails cannot open it so easily. */
const DEFAULT_BREAKER: BreakerOptions = { failures: 10, openMs: 10_000 };

/**
 * What may be tried again when its error says so. A refusal is final, 404 and 429 among them: each
 * further look-up of an unknown key costs the payer's budget at the directory twenty more.
 */
const triedAgain: ReadonlySet<ProviderStatusClass> = new Set([
  '5xx',
  'connect',
  'timeout',
  'reset',
]);

/**
 * Makes a provider resilient. Every method of the result rejects with a ProviderError and nothing
 * else, and ends within `totalMs` (and a tenth of a second for an attempt that does not stop).
 *
 * @returns the provider, and the state of its breaker for the metrics.
 */
export function withResilience(provider: Provider, options: ResilienceOptions): ResilientProvider {
  const { breaker = DEFAULT_BREAKER, bulkhead } = options;
  const gates = Object.fromEntries(
    providerLanes.map((lane) => [lane, createGate(breaker, bulkhead ?? laneBulkheads[lane])]),
  ) as Record<ProviderLane, Gate>;
  const shared: Shared = { gates, budget: new RetryBudget(options.clock) };
  const checked = withChecks(provider);
  return {
    provider: wrapProvider(checked, (call) => new ResilientCall(call, options, shared).run()),
    breakerState: (lane) => gates[lane].breakerState(),
  };
}

/** What the provider answers and what we send it are held against what they say they are. */
function withChecks(provider: Provider): Provider {
  return {
    ...wrapProvider(provider, (call) => call.invoke(call.args)),
    pay: async (session, order, options) =>
      checkReceipt(order, await provider.pay(session, order, options)),
    submitDocument: (personId, document, options) =>
      forwarding(document, (checked) => provider.submitDocument(personId, checked, options)),
  };
}

/** What all calls have in common. */
interface Shared {
  readonly gates: Readonly<Record<ProviderLane, Gate>>;
  readonly budget: RetryBudget;
}

/** One call with all its attempts. */
class ResilientCall {
  readonly #call: ProviderCall;
  readonly #options: ResilienceOptions;
  readonly #lane: ProviderLane;
  readonly #shared: Shared;
  readonly #manner: Manner;
  /** Of each attempt of this call. */
  readonly #timeoutMs: number;
  readonly #caller: AbortSignal | undefined;
  readonly #begunAt: number;
  #attempt = 0;
  /** How the attempt before this one ended. */
  #last: ProviderError | null = null;
  #defect: unknown = null;

  constructor(call: ProviderCall, options: ResilienceOptions, shared: Shared) {
    this.#call = call;
    this.#options = options;
    this.#lane = providerLane(call.method, optionsOf(call).isBackground);
    this.#shared = shared;
    this.#manner = mannerOf(call);
    this.#timeoutMs = options.timeoutMs + this.#manner.moreTimeMs(call.args);
    this.#caller = this.#manner.callerMayStop ? optionsOf(call).signal : undefined;
    this.#begunAt = this.#now();
  }

  async run(): Promise<unknown> {
    this.#shared.budget.called();
    let doubt: ProviderError | null = null;
    for (;;) {
      const result = await this.#attemptOnce();
      if (!(result instanceof ProviderError)) {
        if (doubt && this.#manner.saysFailed(result)) throw this.#failure(doubt);
        return this.#end(result);
      }
      // The money rule: from here on the call cannot end with a better-sounding failure.
      if (this.#manner.changes && result.outcome === 'unknown') doubt = result;
      this.#last = result;
      if (!(await this.#waitForNext(result))) throw this.#failure(doubt ?? result);
    }
  }

  #failure(error: ProviderError): ProviderError {
    error.attempts = this.#attempt;
    return this.#end(error);
  }

  #end<T>(result: T): T {
    this.#tell(this.#options.onCall, result, this.#begunAt);
    return result;
  }

  async #attemptOnce(): Promise<unknown> {
    this.#attempt += 1;
    this.#defect = null;
    let leftAt: number | null = null;
    const result = await this.#shared.gates[this.#lane].pass(
      this.#call.method,
      () => this.#makeAttempt(),
      () => {
        leftAt = this.#now();
        return this.#refusalAt(leftAt) ?? this.#refusalOfCaller();
      },
    );
    this.#tell(this.#options.onAttempt, result, leftAt ?? this.#now());
    return result;
  }

  #makeAttempt(): Promise<unknown> {
    const options = optionsOf(this.#call);
    return makeAttempt(
      (signal) => this.#call.invoke(withOptions(this.#call, { ...options, signal })),
      {
        clock: this.#options.clock,
        timeoutMs: this.#timeoutMs,
        caller: this.#caller,
        onDefect: (thrown) => {
          this.#defect = thrown;
        },
      },
    );
  }

  /** Why an attempt may not leave any more, now that it has its place. */
  #refusalAt(moment: number): ProviderError | null {
    const isRetry = this.#attempt > 1;
    if (this.#caller?.aborted || (isRetry && this.#options.shutdown?.aborted)) {
      return notSent('timeout');
    }
    return this.#mayStartAt(moment) ? null : notSent('bulkhead_full');
  }

  #refusalOfCaller(): ProviderError | null | Promise<ProviderError | null> {
    const mayLeave = optionsOf(this.#call).beforeAttempt?.(this.#last) ?? true;
    if (typeof mayLeave === 'boolean') return mayLeave ? null : notSent('stopped');
    // The decision may take its time: then the attempt may be too late.
    return mayLeave.then((may) => (may ? this.#refusalAt(this.#now()) : notSent('stopped')));
  }

  /** An attempt starts only with its whole time-out before it: a shortened one is a lost answer. */
  #mayStartAt(moment: number): boolean {
    const { retries, backoff = DEFAULT_BACKOFF } = this.#options;
    const timeoutMs = this.#timeoutMs;
    const neededMs = longestCallMs({ timeoutMs, retries }, backoff.maxMs);
    const totalMs = Math.max(this.#options.totalMs ?? neededMs, timeoutMs);
    return moment + timeoutMs <= this.#begunAt + totalMs;
  }

  /** Waits before the next attempt; resolves to false when there is to be none. */
  async #waitForNext(error: ProviderError): Promise<boolean> {
    if (this.#attempt > this.#options.retries) return false;
    if (!error.retryable || !triedAgain.has(error.statusClass)) return false;
    if (error.outcome === 'unknown' && !this.#manner.repeatable) return false;
    const waitMs = Math.max(this.#backoffMs(), error.retryAfterMs ?? 0);
    if (!this.#mayStartAt(this.#now() + waitMs)) return false;
    if (!this.#shared.budget.take(this.#lane)) return false;
    const stops = [this.#caller, this.#options.shutdown].filter((signal) => signal !== undefined);
    // Own waiting, and not cockatiel's retry: its back-off goes on after an abort.
    await pause(this.#options.clock, waitMs, AbortSignal.any(stops));
    return stops.every((signal) => !signal.aborted);
  }

  /** Between half and all of the doubled wait, so that callers do not come back in step. */
  #backoffMs(): number {
    const { backoff = DEFAULT_BACKOFF, random = Math.random } = this.#options;
    const longest = Math.min(backoff.maxMs, backoff.baseMs * 2 ** (this.#attempt - 1));
    return longest / 2 + (random() * longest) / 2;
  }

  #tell(observer: ResilienceOptions['onCall'], result: unknown, since: number): void {
    const error = result instanceof ProviderError ? result : null;
    const { requestId, trace } = optionsOf(this.#call);
    try {
      observer?.({
        method: this.#call.method,
        lane: this.#lane,
        attempt: this.#attempt,
        outcome: error?.outcome ?? 'accepted',
        statusClass: error?.statusClass ?? '2xx',
        durationMs: Math.max(0, this.#now() - since),
        requestId: requestId ?? null,
        traceId: trace?.traceId ?? null,
        reason: error?.reason ?? null,
        defect: this.#defect,
      });
    } catch {
      // A counter that fails must not turn a payment that was made into an error.
    }
  }

  #now(): number {
    return this.#options.clock.now().getTime();
  }
}
