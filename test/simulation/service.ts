/**
 * One process of the service: the real operations, jobs and provider layer, with a context whose
 * I/O goes through the scheduler. When the process dies, its state is discarded.
 */
import type { Context } from '../../src/context/context.ts';
import type { Clock } from '../../src/clock.ts';
import type { Database } from '../../src/db/database.ts';
import type { JobTable } from '../../src/jobs/job.ts';
import type { RequestFacts } from '../../src/context/operation.ts';
import { createHttpClient, type HttpClientOptions } from '../../src/provider/http/client.ts';
import { createHttpProvider } from '../../src/provider/http/index.ts';
import type { Provider } from '../../src/provider/provider.ts';
import { withResilience } from '../../src/provider/resilience/resilient-provider.ts';
import { PaymentTurns } from '../../src/process/payment-turns.ts';
import { PaidKeys } from '../../src/process/paid-keys.ts';
import { LoginLines } from '../../src/process/login-lines.ts';
import { UsedUpWindows } from '../../src/process/used-up-windows.ts';
import { withTokenRefresh } from '../../src/provider/resilience/token-refresh.ts';
import { releaseAfterCrash } from '../../src/ledger/sweep-repository.ts';
import { EventPlaces } from '../../src/process/event-places.ts';
import { LargeEvents } from '../../src/process/large-events.ts';
import { ClaimedKeys } from '../../src/process/claimed-keys.ts';
import { UnstoredOutcomes } from '../../src/process/unstored-outcomes.ts';
import { reconcileDoor } from '../../src/app/doors.ts';
import type { Chance } from './chance.ts';
import { openWork, type Work } from './jobs.ts';
import type { Store } from './store.ts';
import { dialects } from '../support/dialects.ts';

/** The process has died or stops: its open connections break. */
export class ProcessGone extends Error {
  constructor() {
    super('the process is gone');
    this.name = 'ProcessGone';
  }
}

export interface ServiceOptions {
  readonly name: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly db: Database;
  /** Sends the requests of this process to the bank. */
  readonly dispatcher: NonNullable<HttpClientOptions['dispatcher']>;
  /** Replace the jobs with their names; undefined: none. */
  readonly jobs: JobTable | undefined;
  readonly hasDisputes: boolean;
  readonly limits: Context['config']['pixLimits'];
  /** Wraps the provider's API first; the identity, except in mutations. */
  readonly wrapWire: (provider: Provider) => Provider;
  /** Waits while the process is frozen; null: it is not frozen. */
  readonly whenAwake: () => Promise<void> | null;
  /** Wraps the provider last; the identity, except in mutations. */
  readonly wrap: (provider: Provider, clock: Clock) => Provider;
}

export class Service {
  readonly name: string;
  /** Whether it accepts requests. */
  isOpen = false;
  readonly #context: Context;
  readonly #work: Work;
  readonly #stopping = new AbortController();
  readonly #connections = new Set<() => void>();
  readonly #whenAwake: ServiceOptions['whenAwake'];

  constructor(options: ServiceOptions) {
    const { name, chance, hasDisputes, jobs } = options;
    this.name = name;
    this.#whenAwake = options.whenAwake;
    this.#context = makeContext(options, this.#stopping.signal);
    this.#work = openWork(this.#context, { jobs, hasDisputes, random: chance.next });
  }

  /** Starts as `startApp` does: the database, the queues, then requests. */
  async start(): Promise<void> {
    await releaseAfterCrash(this.#context);
    await this.#work.start();
    this.isOpen = true;
  }

  /** Serves a request of a connected client. */
  serve<T>(work: (context: Context) => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const hangUp = (): void => reject(new ProcessGone());
    this.#connections.add(hangUp);
    const awake = this.#whenAwake();
    (awake ? awake.then(() => work(this.#context)) : work(this.#context))
      .then(resolve, reject)
      .finally(() => this.#connections.delete(hangUp));
    return promise;
  }

  /** Stops gracefully: accepts no more requests, and completes the open work. */
  async stop(): Promise<void> {
    this.isOpen = false;
    this.#stopping.abort();
    await this.#work.stop();
  }

  get isIdle(): boolean {
    return this.#connections.size === 0;
  }

  /** Breaks the open connections; the state in memory is lost. */
  die(): void {
    this.isOpen = false;
    for (const hangUp of this.#connections) hangUp();
  }
}

/**
 * Composes the context as `src/app/app.ts` and `src/provider/compose.ts` do, as far as sends need
 * it.
 */
function makeContext(options: ServiceOptions, stopping: AbortSignal): Context {
  const { store, clock, chance, db, dispatcher, wrap, wrapWire } = options;
  const { log, metrics, sealer } = store;
  const config = { ...store.config, pixLimits: options.limits };
  const { timeoutMs, retries, ispb } = config.provider;
  const client = createHttpClient({ baseUrl: 'https://bank.test', timeoutMs, clock, dispatcher });
  const wire = createHttpProvider({ client, clock, ispb, dialects });
  const resilient = withResilience(wrapWire(wire), {
    clock,
    timeoutMs,
    retries,
    shutdown: stopping,
    random: chance.next,
  });
  const tokenOptions = { clock, shutdown: stopping, random: chance.next };
  const context: Context = {
    config,
    clock,
    log,
    metrics,
    tracing: null,
    db,
    dialects,
    provider: wrap(withTokenRefresh(resilient.provider, tokenOptions), clock),
    reconcile: reconcileDoor(() => context),
    outcomes: new UnstoredOutcomes({ clock, log, metrics }),
    claimedKeys: new ClaimedKeys(),
    paymentTurns: new PaymentTurns(clock, config.provider.paymentsPerSecond),
    openScan: absent('openScan'),
    uploads: absent('uploads'),
    cepAnswers: absent('cepAnswers'),
    paidKeys: new PaidKeys(),
    eventPlaces: new EventPlaces(),
    refusedWebhooks: absent('refusedWebhooks'),
    largeEvents: new LargeEvents(),
    listening: absent('listening'),
    accessTokens: absent('accessTokens'),
    passwords: absent('passwords'),
    usedUp: new UsedUpWindows(),
    loginLines: new LoginLines(clock),
    sealer,
    stopping,
  };
  return context;
}

/** A part that the simulation does not use: any access throws. */
function absent(name: string): never {
  const nothing: object = new Proxy(
    {},
    {
      get() {
        throw new Error(`the simulation has no ${name}`);
      },
    },
  );
  return nothing as never;
}

/** The facts of a request beside its input. */
export function requestFacts({ log }: Context, rawBody = Buffer.alloc(0)): RequestFacts {
  return {
    id: 'simulation',
    locale: 'en',
    clientAddress: 'simulation',
    bearer: null,
    callOptions: { requestId: 'simulation' },
    rawBody,
    signal: new AbortController().signal,
    log,
  };
}
