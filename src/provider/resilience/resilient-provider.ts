/**
 * Protects the service from an unreliable provider. cockatiel's policies do the work, wrapped in
 * this order; the time-out is ours, on our clock:
 *
 *     retry → wait → bulkhead of the lane → circuit breakers → beforeAttempt → time-out → client
 *
 * The money rule. A payment carries the same ids in every attempt. Once one attempt has ended
 * `unknown`, the provider may have executed it, so no later attempt can end the call as `rejected`
 * or `not_sent`: a refusal may mean "duplicate end-to-end id", and an open breaker speaks of its
 * own attempt only. The call stays `unknown`, unless a later attempt is accepted; an answer that
 * reports a failed payment is a refusal. The rule holds for every call that changes something.
 *
 * The caller may decide before each attempt whether it leaves (`beforeAttempt`): a payment is
 * repeated only while its row stands in PAYING under this process's claim.
 *
 * The caller's signal stops reads only: cutting anything else makes its outcome unknown and saves
 * nothing. For the same reason shutdown cuts no attempt, and a first attempt may still leave for a
 * request that is being finished; but a wait ends at once and nothing is repeated.
 */
import {
  ConstantBackoff,
  handleWhenResult,
  isBrokenCircuitError,
  isBulkheadRejectedError,
  retry,
} from 'cockatiel';
import { type Clock, pause } from '../../clock.ts';
import { longestBackoffMs, longestCallMs, withJitter } from '../../domain/call-duration.ts';
import { type FailedOutcome, ProviderError, type ProviderStatusClass } from '../errors.ts';
import type { DocumentRequest, Provider, ProviderMethod, ProviderRequest } from '../provider.ts';
import { type ProviderCall, wrapProvider } from '../wrap-provider.ts';
import { Abandoned, checkReceipt, makeAttempt } from './attempt.ts';
import {
  type BulkheadOptions,
  type CallPolicy,
  callPolicy,
  laneBulkheads,
  type ProviderLane,
  providerLanes,
} from './call-policy.ts';
import {
  type BreakerOptions,
  type BreakerState,
  createLaneGuard,
  type LaneGuard,
} from './circuit-breaker.ts';
import { streamDocument } from './document-stream.ts';
import { RetryBudget } from './retry-budget.ts';

export interface BackoffOptions {
  /** The longest wait after the first attempt; it doubles with each further one. */
  readonly baseMs: number;
  /** The longest wait of all. */
  readonly maxMs: number;
}

/** The result of an attempt or of a call, for the metrics and the log; no personal data. */
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
  /** A thrown value that is no ProviderError: a defect of the provider layer. Null otherwise. */
  readonly defect: unknown;
}

export interface ResilienceOptions {
  readonly clock: Clock;
  /** How long one attempt may take; a document gets what its bytes need on top. */
  readonly timeoutMs: number;
  /** How many attempts may follow the first. */
  readonly retries: number;
  /**
   * How long a call may take with all its attempts; by default, what they and the waits need at
   * most, and one time-out more for waiting in the queue.
   */
  readonly totalMs?: number;
  readonly backoff?: BackoffOptions;
  readonly breaker?: BreakerOptions;
  readonly bulkhead?: BulkheadOptions;
  readonly shutdown?: AbortSignal;
  /** A number from 0 up to 1, for the jitter. */
  readonly random?: () => number;
  /** Receives every attempt, refused ones included. */
  readonly onAttempt?: (observation: ProviderObservation) => void;
  /** Receives every call when it has ended. */
  readonly onCall?: (observation: ProviderObservation) => void;
}

export interface ResilientProvider {
  readonly provider: Provider;
  breakerState(lane: ProviderLane): BreakerState;
}

const DEFAULT_BACKOFF: BackoffOptions = { baseMs: 200, maxMs: longestBackoffMs };

/** More than three whole calls in a row: one key that always fails cannot open it so easily. */
const DEFAULT_BREAKER: BreakerOptions = { failures: 10, openMs: 10_000 };

/** The slowest line that an upload is still worth on: 2 Mbit/s, so 10 MB may take 40 seconds. */
const SLOWEST_BYTES_PER_MS = 256;

/**
 * Makes a provider resilient. Every method rejects with a ProviderError and nothing else, and ends
 * within `totalMs` (and a tenth of a second for an attempt that does not stop).
 *
 * @returns the provider, and the state of its breakers for the metrics.
 */
export function withResilience(provider: Provider, options: ResilienceOptions): ResilientProvider {
  const { breaker = DEFAULT_BREAKER, bulkhead } = options;
  const guard = (lane: ProviderLane): LaneGuard =>
    createLaneGuard(breaker, bulkhead ?? laneBulkheads[lane]);
  const guards = Object.fromEntries(providerLanes.map((lane) => [lane, guard(lane)])) as Record<
    ProviderLane,
    LaneGuard
  >;
  const shared: Shared = { options, guards, budget: new RetryBudget(options.clock) };
  const resilient =
    <Request extends ProviderRequest, Answer>(
      method: ProviderMethod,
      call: ProviderCall<Request, Answer>,
      special: SpecialCase<Request, Answer> = {},
    ): ProviderCall<Request, Answer> =>
    (request) =>
      new ResilientCall({ method, call, request, special }, shared).run();
  return {
    provider: {
      ...wrapProvider(provider, resilient),
      pay: resilient(
        'pay',
        async (request) => checkReceipt(request.order, await provider.pay(request)),
        { reportsFailure: ({ status }) => status === 'FAILED' },
      ),
      submitDocument: resilient(
        'submitDocument',
        (request: DocumentRequest) =>
          streamDocument(request.document, (document) =>
            provider.submitDocument({ ...request, document }),
          ),
        { extraMs: ({ document }) => Math.ceil(document.sizeBytes / SLOWEST_BYTES_PER_MS) },
      ),
    },
    breakerState: (lane) => guards[lane].breakerState(),
  };
}

/** What all calls have in common. */
interface Shared {
  readonly options: ResilienceOptions;
  readonly guards: Readonly<Record<ProviderLane, LaneGuard>>;
  readonly budget: RetryBudget;
}

interface SpecialCase<Request, Answer> {
  /** Whether an answer reports that the request has failed. */
  reportsFailure?(answer: Answer): boolean;
  /** What an attempt may take beyond the time-out, in milliseconds. */
  extraMs?(request: Request): number;
}

interface CallParts<Request extends ProviderRequest, Answer> {
  readonly method: ProviderMethod;
  readonly call: ProviderCall<Request, Answer>;
  readonly request: Request;
  readonly special: SpecialCase<Request, Answer>;
}

/**
 * What may be repeated when its error is retryable. A refusal is final, 404 and 429 among them:
 * each further look-up of an unknown key costs the payer's budget at the directory twenty more.
 */
const repeatedClasses: ReadonlySet<ProviderStatusClass> = new Set([
  '5xx',
  'connect',
  'timeout',
  'reset',
]);

/** One call with all its attempts. */
class ResilientCall<Request extends ProviderRequest, Answer> {
  readonly #parts: CallParts<Request, Answer>;
  readonly #options: ResilienceOptions;
  readonly #shared: Shared;
  readonly #policy: CallPolicy;
  /** Of each attempt of this call. */
  readonly #timeoutMs: number;
  readonly #caller: AbortSignal | undefined;
  readonly #startedAt: number;
  #attempts = 0;
  /** The wait before the next attempt. */
  #waitMs = 0;
  /** How the attempt before this one ended. */
  #last: ProviderError | null = null;
  /** The last error after which the provider may have executed the request. */
  #doubt: ProviderError | null = null;
  #defect: unknown = null;

  constructor(parts: CallParts<Request, Answer>, shared: Shared) {
    const { method, request, special } = parts;
    this.#parts = parts;
    this.#shared = shared;
    this.#options = shared.options;
    this.#policy = callPolicy(method, request.isBackground);
    this.#timeoutMs = shared.options.timeoutMs + (special.extraMs?.(request) ?? 0);
    this.#caller = this.#policy.abortable ? request.signal : undefined;
    this.#startedAt = this.#now();
  }

  async run(): Promise<Answer> {
    this.#shared.budget.called();
    const result = await retry(
      handleWhenResult((failed) => failed instanceof ProviderError && this.#mayRepeat(failed)),
      // The wait stands at the head of an attempt: cockatiel's back-off goes on after an abort.
      { maxAttempts: this.#options.retries, backoff: new ConstantBackoff(0) },
    ).execute(({ attempt }) => (attempt === 0 ? this.#attempt() : this.#repeat()));
    const end = this.#concluded(result);
    this.#observe(this.#options.onCall, end, this.#startedAt);
    if (end instanceof ProviderError) {
      end.attempts = this.#attempts;
      throw end;
    }
    return end;
  }

  /** The money rule. */
  #concluded(result: Answer | ProviderError): Answer | ProviderError {
    if (this.#doubt === null) return result;
    if (result instanceof ProviderError) return this.#doubt;
    return this.#parts.special.reportsFailure?.(result) ? this.#doubt : result;
  }

  async #repeat(): Promise<Answer | ProviderError> {
    await pause(this.#options.clock, this.#waitMs, AbortSignal.any(this.#stops()));
    if (this.#isStopped() && this.#last) return this.#last;
    return this.#attempt();
  }

  async #attempt(): Promise<Answer | ProviderError> {
    this.#attempts += 1;
    this.#defect = null;
    let leftAt: number | null = null;
    const { method, request } = this.#parts;
    const result = await this.#shared.guards[this.#policy.lane]
      .policyOf(method)
      .execute(async () => {
        this.#checkMayLeave();
        if (request.beforeAttempt) {
          if (!(await request.beforeAttempt(this.#last))) throw new Abandoned(notSent('stopped'));
          // The decision takes its time: the attempt may be too late now.
          this.#checkMayLeave();
        }
        leftAt = this.#now();
        return this.#send();
      })
      .catch(refusalOf);
    this.#observe(this.#options.onAttempt, result, leftAt ?? this.#now());
    if (result instanceof ProviderError) {
      this.#last = result;
      if (this.#policy.changes && result.outcome === 'unknown') this.#doubt = result;
    }
    return result;
  }

  #send(): Promise<Answer | ProviderError> {
    const { call, request } = this.#parts;
    return makeAttempt((signal) => call({ ...request, signal }), {
      clock: this.#options.clock,
      timeoutMs: this.#timeoutMs,
      caller: this.#caller,
      onDefect: (thrown) => {
        this.#defect = thrown;
      },
    });
  }

  /** @throws Abandoned when the attempt may not leave any more. */
  #checkMayLeave(): void {
    const isRepeat = this.#attempts > 1;
    if (this.#caller?.aborted || (isRepeat && this.#options.shutdown?.aborted)) {
      throw new Abandoned(notSent('timeout'));
    }
    if (!this.#mayStartAt(this.#now())) throw new Abandoned(notSent('bulkhead_full'));
  }

  /** An attempt starts only with its whole time-out before it: a shorter one loses its answer. */
  #mayStartAt(moment: number): boolean {
    const { retries, backoff = DEFAULT_BACKOFF } = this.#options;
    const timeoutMs = this.#timeoutMs;
    const neededMs = longestCallMs({ timeoutMs, retries }, backoff.maxMs);
    const totalMs = Math.max(this.#options.totalMs ?? neededMs, timeoutMs);
    return moment + timeoutMs <= this.#startedAt + totalMs;
  }

  /** Whether another attempt follows this error; if so, its wait and its retry are accounted. */
  #mayRepeat(error: ProviderError): boolean {
    if (this.#attempts > this.#options.retries || this.#isStopped()) return false;
    if (!error.retryable || !repeatedClasses.has(error.statusClass)) return false;
    if (error.outcome === 'unknown' && !this.#policy.repeatable) return false;
    this.#waitMs = Math.max(this.#backoffMs(), error.retryAfterMs ?? 0);
    if (!this.#mayStartAt(this.#now() + this.#waitMs)) return false;
    return this.#shared.budget.take(this.#policy.lane);
  }

  #backoffMs(): number {
    const { backoff = DEFAULT_BACKOFF, random = Math.random } = this.#options;
    const longest = Math.min(backoff.maxMs, backoff.baseMs * 2 ** (this.#attempts - 1));
    return withJitter(longest, random);
  }

  #stops(): AbortSignal[] {
    return [this.#caller, this.#options.shutdown].filter((signal) => signal !== undefined);
  }

  #isStopped(): boolean {
    return this.#stops().some((signal) => signal.aborted);
  }

  #observe(
    observer: ResilienceOptions['onCall'],
    result: Answer | ProviderError,
    since: number,
  ): void {
    const error = result instanceof ProviderError ? result : null;
    const { requestId, trace } = this.#parts.request;
    try {
      observer?.({
        method: this.#parts.method,
        lane: this.#policy.lane,
        attempt: this.#attempts,
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

/** The error of an attempt that did not leave, or was abandoned. */
function refusalOf(thrown: unknown): ProviderError {
  if (thrown instanceof Abandoned) return thrown.error;
  if (isBulkheadRejectedError(thrown)) return notSent('bulkhead_full', thrown);
  if (isBrokenCircuitError(thrown)) return notSent('breaker_open', thrown);
  throw thrown;
}

/** Provably nothing was sent, and the same call may succeed later. */
function notSent(statusClass: ProviderStatusClass, cause?: unknown): ProviderError {
  return new ProviderError({
    outcome: 'not_sent',
    code: 'PROVIDER_UNAVAILABLE',
    statusClass,
    retryable: true,
    cause,
  });
}
