/**
 * Protects the service from an unreliable provider with cockatiel's policies, in this order. The
 * time-out uses the service's clock:
 *
 *     retry → wait → bulkhead of the lane → circuit breakers → beforeAttempt → time-out → client
 *
 * The money rule: every attempt of a payment has the same ids. After an attempt with the outcome
 * `unknown`, which the provider may have executed, no later attempt can end the call as `rejected`
 * or `not_sent`: a refusal concerns only its own attempt, and so does an open breaker. The call
 * remains `unknown` unless a later attempt is accepted. The rule applies to every call that changes
 * something.
 *
 * The caller may decide before each attempt whether it is made (`beforeAttempt`): a payment is
 * repeated only while its row is in PAYING under this process's claim.
 *
 * The caller's signal aborts only reads: aborting anything else makes its outcome unknown and saves
 * nothing. For the same reason a shutdown aborts no attempt, and allows a first attempt for a
 * request in progress; but it ends waits at once and prevents repeats.
 */
import { childSpan, type TraceContext } from '../../domain/trace-context.ts';
import type { Tracing } from '../../telemetry/tracing.ts';
import {
  ConstantBackoff,
  handleWhenResult,
  isBrokenCircuitError,
  isBulkheadRejectedError,
  retry,
} from 'cockatiel';
import { type Clock, pause } from '../../clock.ts';
import { maxBackoffMs, maxCallMs, withJitter } from '../../domain/call-duration.ts';
import { type FailedOutcome, notSent, ProviderError, type ProviderStatusClass } from '../errors.ts';
import type { DocumentRequest, Provider, ProviderMethod, ProviderRequest } from '../provider.ts';
import { Abandoned, checkReceipt, makeAttempt, streamDocument } from './attempt.ts';
import {
  type BulkheadOptions,
  type CallPolicy,
  callPolicy,
  laneBulkheads,
  type ProviderCall,
  type ProviderLane,
  providerLanes,
  wrapProvider,
} from './call-policy.ts';
import {
  type BreakerOptions,
  type BreakerState,
  createLaneGuard,
  type LaneGuard,
} from './circuit-breaker.ts';
import { RetryBudget } from './retry-budget.ts';

export interface BackoffOptions {
  /** The longest wait after the first attempt; it doubles with each further one. */
  readonly baseMs: number;
  /** The longest wait after any attempt. */
  readonly maxMs: number;
}

/** The result of an attempt or a call for metrics and log, without personal data. */
export interface ProviderObservation {
  readonly method: ProviderMethod;
  readonly lane: ProviderLane;
  /** The number of the attempt, from 1; for a call, of its last attempt. */
  readonly attempt: number;
  readonly outcome: 'accepted' | FailedOutcome;
  readonly statusClass: ProviderStatusClass;
  /** The duration of the attempt from its sending, or of the whole call including waits. */
  readonly durationMs: number;
  readonly requestId: string | null;
  readonly traceId: string | null;
  /** The provider's own reason, such as `AC03`. */
  readonly reason: string | null;
  /** The status and the code of the response to a payment that does not accept it. */
  readonly httpStatus: number | null;
  readonly refusalCode: string | null;
  /** A thrown value that is not a ProviderError: a defect of the provider layer. Null otherwise. */
  readonly defect: unknown;
}

export interface ResilienceOptions {
  readonly clock: Clock;
  /** The time-out of one attempt; a document's is extended by its size. */
  readonly timeoutMs: number;
  /** How many attempts may follow the first. */
  readonly retries: number;
  /** The same for a payment or a return; by default `retries`. */
  readonly paymentRetries?: number;
  /**
   * The longest duration of a call with all its attempts; by default `maxCallMs`.
   */
  readonly totalMs?: number;
  readonly backoff?: BackoffOptions;
  readonly breaker?: BreakerOptions;
  readonly bulkhead?: BulkheadOptions;
  readonly shutdown?: AbortSignal;
  /** A number from 0 up to 1, for the jitter. */
  readonly random?: () => number;
  /** Records each attempt that is sent; by default nothing does. */
  readonly tracing?: Tracing | null;
  /** Receives every attempt, including refused ones. */
  readonly onAttempt?: (observation: ProviderObservation) => void;
  /** Receives every call when it has ended. */
  readonly onCall?: (observation: ProviderObservation) => void;
}

export interface ResilientProvider {
  readonly provider: Provider;
  breakerState(lane: ProviderLane): BreakerState;
}

const defaultBackoff: BackoffOptions = { baseMs: 200, maxMs: maxBackoffMs };

/** More than three complete calls, so that a single failing key does not open it easily. */
const defaultBreaker: BreakerOptions = { failures: 10, openMs: 10_000 };

/** The slowest supported upload: 2 Mbit/s, so that 10 MB may take 40 seconds. */
const slowestBytesPerMs = 256;

/**
 * Makes a provider resilient. Every method rejects only with a ProviderError, and ends within
 * `totalMs` (plus 0.1 s for an attempt that does not react to its signal).
 *
 * @returns the provider, and the state of its breakers for the metrics.
 */
export function withResilience(provider: Provider, options: ResilienceOptions): ResilientProvider {
  const { breaker = defaultBreaker, bulkhead } = options;
  const guard = (lane: ProviderLane): LaneGuard =>
    createLaneGuard(breaker, bulkhead ?? laneBulkheads[lane]);
  const guards = Object.fromEntries(providerLanes.map((lane) => [lane, guard(lane)])) as Record<
    ProviderLane,
    LaneGuard
  >;
  const shared: Shared = { options, guards, budget: new RetryBudget(options.clock) };
  const resilient =
    <Request extends ProviderRequest, Response>(
      method: ProviderMethod,
      call: ProviderCall<Request, Response>,
      extraMs: (request: Request) => number = () => 0,
    ): ProviderCall<Request, Response> =>
    (request) =>
      new ResilientCall({ method, call, request, extraMs: extraMs(request) }, shared).run();
  return {
    provider: {
      ...wrapProvider(provider, resilient),
      pay: resilient('pay', async (request) =>
        checkReceipt(request.order, await provider.pay(request)),
      ),
      refund: resilient('refund', async (request) => {
        const { returnId: endToEnd, clientRequestId } = request.order;
        return checkReceipt({ endToEnd, clientRequestId }, await provider.refund(request));
      }),
      submitDocument: resilient(
        'submitDocument',
        (request: DocumentRequest) =>
          streamDocument(request.document, (document) =>
            provider.submitDocument({ ...request, document }),
          ),
        ({ document }) => Math.ceil(document.sizeBytes / slowestBytesPerMs),
      ),
    },
    breakerState: (lane) => guards[lane].breakerState(),
  };
}

/** The state that all calls share. */
interface Shared {
  readonly options: ResilienceOptions;
  readonly guards: Readonly<Record<ProviderLane, LaneGuard>>;
  readonly budget: RetryBudget;
}

interface CallParts<Request extends ProviderRequest, Response> {
  readonly method: ProviderMethod;
  readonly call: ProviderCall<Request, Response>;
  readonly request: Request;
  /** The extension of the time-out, in milliseconds. */
  readonly extraMs: number;
}

/**
 * The classes of retryable errors after which a call is repeated. Refusals are final, including 404
 * and 429: each further look-up of an unknown key costs twenty tokens of the payer's budget in
 * DICT.
 */
const repeatedClasses: ReadonlySet<ProviderStatusClass> = new Set([
  '5xx',
  'connect',
  'timeout',
  'reset',
]);

/** One call with all its attempts. */
class ResilientCall<Request extends ProviderRequest, Response> {
  readonly #parts: CallParts<Request, Response>;
  readonly #options: ResilienceOptions;
  readonly #shared: Shared;
  readonly #policy: CallPolicy;
  /** The time-out of each attempt of this call. */
  readonly #timeoutMs: number;
  /** How many attempts may follow the first one of this call. */
  readonly #retries: number;
  readonly #caller: AbortSignal | undefined;
  readonly #startedAt: number;
  #attempts = 0;
  /** The wait before the next attempt. */
  #waitMs = 0;
  /** The error of the previous attempt. */
  #last: ProviderError | null = null;
  /** The error of the last attempt that was made. */
  #lastMade: ProviderError | null = null;
  /** The last error after which the provider may have executed the request. */
  #doubt: ProviderError | null = null;
  #defect: unknown = null;

  constructor(parts: CallParts<Request, Response>, shared: Shared) {
    const { method, request, extraMs } = parts;
    this.#parts = parts;
    this.#shared = shared;
    this.#options = shared.options;
    this.#policy = callPolicy(method, request.isBackground);
    this.#timeoutMs = shared.options.timeoutMs + extraMs;
    const { retries, paymentRetries = retries } = shared.options;
    this.#retries = this.#policy.debits ? paymentRetries : retries;
    this.#caller = this.#policy.abortable ? request.signal : undefined;
    this.#startedAt = this.#now();
  }

  async run(): Promise<Response> {
    this.#shared.budget.called();
    const first = await this.#attempt();
    // Most calls need no retry, so the retry policy is created only for those that do.
    const isRepeated = first instanceof ProviderError && this.#mayRepeat(first);
    const result = isRepeated ? await this.#retry() : first;
    const end = this.#concluded(result);
    this.#observe(this.#options.onCall, end, this.#startedAt);
    if (end instanceof ProviderError) {
      end.attempts = this.#attempts;
      end.lastAttempt = this.#lastMade;
      throw end;
    }
    return end;
  }

  /** Repeats the call, until an attempt succeeds or none may follow. */
  #retry(): Promise<Response | ProviderError> {
    return retry(
      handleWhenResult((failed) => failed instanceof ProviderError && this.#mayRepeat(failed)),
      // The wait is part of the attempt because cockatiel's back-off ignores an abort.
      { maxAttempts: this.#retries, backoff: new ConstantBackoff(0) },
    ).execute(() => this.#repeat());
  }

  /** Applies the money rule. */
  #concluded(result: Response | ProviderError): Response | ProviderError {
    if (this.#doubt === null) return result;
    return result instanceof ProviderError ? this.#doubt : result;
  }

  async #repeat(): Promise<Response | ProviderError> {
    await pause(this.#options.clock, this.#waitMs, AbortSignal.any(this.#stops()));
    if (this.#isStopped() && this.#last) return this.#last;
    return this.#attempt();
  }

  async #attempt(): Promise<Response | ProviderError> {
    this.#attempts += 1;
    this.#defect = null;
    let leftAt: number | null = null;
    const { method, request } = this.#parts;
    const result = await this.#shared.guards[this.#policy.lane]
      .policyFor(method)
      .execute(async () => {
        this.#checkMayLeave();
        if (request.beforeAttempt) {
          if (!(await request.beforeAttempt(this.#last))) throw new Abandoned(notSent('stopped'));
          // The decision takes time, so the attempt may be too late now.
          this.#checkMayLeave();
        }
        leftAt = this.#now();
        return this.#send();
      })
      .catch(toProviderError);
    this.#observe(this.#options.onAttempt, result, leftAt ?? this.#now());
    if (result instanceof ProviderError) {
      this.#last = result;
      if (leftAt !== null) this.#lastMade = result;
      if (this.#policy.changes && result.outcome === 'unknown') this.#doubt = result;
    }
    return result;
  }

  #send(): Promise<Response | ProviderError> {
    const { tracing = null } = this.#options;
    const { trace } = this.#parts.request;
    return tracing === null || trace === undefined
      ? this.#makeAttempt(trace)
      : this.#traceAttempt(tracing, trace);
  }

  /** The provider receives the span of the attempt as the parent of its own spans. */
  async #traceAttempt(tracing: Tracing, parent: TraceContext): Promise<Response | ProviderError> {
    const trace = childSpan(parent);
    const startMs = this.#now();
    const result = await this.#makeAttempt(trace);
    const error = result instanceof ProviderError ? result : null;
    tracing.record({
      name: this.#parts.method,
      kind: 'client',
      trace,
      startMs,
      attributes: {
        'ponte.attempt': this.#attempts,
        'ponte.outcome': error?.outcome ?? 'accepted',
      },
      error: error?.statusClass ?? null,
    });
    return result;
  }

  #makeAttempt(trace: TraceContext | undefined): Promise<Response | ProviderError> {
    const { call, request } = this.#parts;
    const traced = trace === request.trace ? request : { ...request, trace };
    return makeAttempt((signal) => call({ ...traced, signal }), {
      clock: this.#options.clock,
      timeoutMs: this.#timeoutMs,
      caller: this.#caller,
      onDefect: (thrown) => {
        this.#defect = thrown;
      },
    });
  }

  /** @throws Abandoned when the attempt may no longer be sent. */
  #checkMayLeave(): void {
    const isRepeat = this.#attempts > 1;
    if (this.#caller?.aborted || (isRepeat && this.#options.shutdown?.aborted)) {
      throw new Abandoned(notSent('timeout'));
    }
    if (!this.#mayStartAt(this.#now())) throw new Abandoned(notSent('bulkhead_full'));
  }

  /** An attempt starts only if its whole time-out fits; a shorter one could lose its response. */
  #mayStartAt(startMs: number): boolean {
    const { backoff = defaultBackoff } = this.#options;
    const timeoutMs = this.#timeoutMs;
    const neededMs = maxCallMs({ timeoutMs, retries: this.#retries }, backoff.maxMs);
    const totalMs = Math.max(this.#options.totalMs ?? neededMs, timeoutMs);
    return startMs + timeoutMs <= this.#startedAt + totalMs;
  }

  /** Whether to repeat after an error; if so, sets the wait and takes from the retry budget. */
  #mayRepeat(error: ProviderError): boolean {
    if (this.#attempts > this.#retries || this.#isStopped()) return false;
    if (!error.retryable || !repeatedClasses.has(error.statusClass)) return false;
    if (error.outcome === 'unknown' && !this.#policy.repeatable) return false;
    this.#waitMs = Math.max(this.#backoffMs(), error.retryAfterMs ?? 0);
    if (!this.#mayStartAt(this.#now() + this.#waitMs)) return false;
    return this.#shared.budget.take(this.#policy.lane);
  }

  #backoffMs(): number {
    const { backoff = defaultBackoff, random = Math.random } = this.#options;
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
    result: Response | ProviderError,
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
        httpStatus: error?.httpStatus ?? null,
        refusalCode: error?.refusalCode ?? null,
        defect: this.#defect,
      });
    } catch {
      // A failing metric must not turn a successful payment into an error.
    }
  }

  #now(): number {
    return this.#options.clock.now().getTime();
  }
}

/** Converts the error of an attempt that was refused or abandoned. */
function toProviderError(thrown: unknown): ProviderError {
  if (thrown instanceof Abandoned) return thrown.error;
  if (isBulkheadRejectedError(thrown)) return notSent('bulkhead_full', thrown);
  if (isBrokenCircuitError(thrown)) return notSent('breaker_open', thrown);
  throw thrown;
}
