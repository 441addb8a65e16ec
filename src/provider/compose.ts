/** Creates the configured provider with its wrappers. */
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../telemetry/log.ts';
import { breakerStates, type Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { Dialects } from './dialect/dialects.ts';
import { createHttpClient, type HttpClient } from './http/client.ts';
import { createHttpProvider } from './http/index.ts';
import type { Provider } from './provider.ts';
import { maxAttemptsAtOnce, providerLanes } from './resilience/call-policy.ts';
import { withResilience, type ProviderObservation } from './resilience/resilient-provider.ts';
import { withTokenRefresh } from './resilience/token-refresh.ts';
import type { Introduce } from './sandbox/bank/accounts.ts';
import type { Bank } from './sandbox/bank/bank.ts';

export type { Bank };

export interface ProviderOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing | null;
  readonly shutdown: AbortSignal;
  readonly dialects: Dialects;
  /** The service that the simulated bank is part of; null where there is none. */
  readonly service: BankService | null;
}

/** What the simulated bank needs of the service that it is part of. */
export interface BankService {
  /** Delivers a webhook, which the bank posts again when this rejects. */
  deliver(payload: Buffer): Promise<void>;
  /** Says who a customer is: people may be registered without the bank. */
  readonly introduce: Introduce;
}

export interface ComposedProvider {
  readonly provider: Provider;
  /** The simulated bank, in stub mode. */
  readonly bank: Bank | null;
  close(): Promise<void>;
}

/** Creates the provider: the HTTP client, over connections or to the bank in this process. */
export async function composeProvider(options: ProviderOptions): Promise<ComposedProvider> {
  const { config, clock, dialects } = options;
  const { stub, ispb, statementSettledOnly, statementIsFinal } = config.provider;
  const { client, bank } = await (stub ? openStub(options) : openConnections(options));
  const http = createHttpProvider({
    client,
    clock,
    ispb,
    dialects,
    statementSettledOnly,
    // The simulated bank shows a payment that may fail as in progress until it is decided.
    statementIsFinal,
  });
  return {
    provider: wrapped(http, options),
    bank,
    async close() {
      await client.close();
      await bank?.close();
    },
  };
}

interface Transport {
  readonly client: HttpClient;
  readonly bank: Bank | null;
}

async function openConnections({ config, clock }: ProviderOptions): Promise<Transport> {
  const { baseUrl, timeoutMs, tls, apiKey, echoHeader } = config.provider;
  if (baseUrl === undefined) throw new Error('PROVIDER_BASE_URL is not set');
  // Loaded on demand: undici is large, and stub mode does not need it.
  const { createPooledClient } = await import('./http/pool.ts');
  // As many again may rest after a response.
  const connections = 2 * maxAttemptsAtOnce;
  const identity = { tls, apiKey, echoHeader };
  const client = createPooledClient({ baseUrl, timeoutMs, connections, ...identity, clock });
  return { client, bank: null };
}

/** Loads the scenarios of the simulated bank, for the development pages. */
export async function loadScenarios() {
  const { scenarios } = await import('./sandbox/bank/scenarios.ts');
  return scenarios;
}

/** Opens the simulated bank; its file preserves its state across restarts, as at a real bank. */
async function openStub({ config, clock, log, service }: ProviderOptions): Promise<Transport> {
  if (service === null) throw new Error('the simulated bank is part of a service');
  const [{ createBank }, { openStateFile }, { Api }, { createDispatcher }] = await Promise.all([
    import('./sandbox/bank/bank.ts'),
    import('./sandbox/bank/state-file.ts'),
    import('./sandbox/api.ts'),
    import('./sandbox/dispatcher.ts'),
  ]);
  const { ispb, timeoutMs } = config.provider;
  const path = join(config.dataDir, 'simulated-bank.jsonl');
  const onFault = (error: unknown): void => log.error({ error }, 'the simulated bank has failed');
  const bank = createBank({
    clock,
    ispb,
    settleMs: config.stubSettleMs,
    notify: (payload) => service.deliver(payload),
    ...(config.stubJournal && { file: openStateFile(path) }),
    introduce: service.introduce,
    onFault,
  });
  const dispatcher = createDispatcher(new Api({ bank, onFault }));
  const baseUrl = 'http://simulated-bank.invalid';
  return { client: createHttpClient({ baseUrl, timeoutMs, clock, dispatcher }), bank };
}

function wrapped(provider: Provider, options: ProviderOptions): Provider {
  const { config, clock, metrics, log, shutdown, tracing } = options;
  const countUnknown = unknownResponseCounter(metrics);
  const resilient = withResilience(provider, {
    clock,
    timeoutMs: config.provider.timeoutMs,
    retries: config.provider.retries,
    paymentRetries: config.provider.paymentRetries,
    shutdown,
    tracing,
    onAttempt(observation) {
      const { method, lane, statusClass, durationMs } = observation;
      if (method === 'pay' || method === 'refund') countUnknown(observation);
      metrics.providerCalls.observe({ method, status_class: statusClass }, durationMs / 1_000);
      metrics.breakerState.set({ lane }, breakerStates[resilient.breakerState(lane)]);
    },
    onCall: (observation) => logCall(log, observation),
  });
  for (const lane of providerLanes) metrics.breakerState.set({ lane }, breakerStates.closed);
  return withTokenRefresh(resilient.provider, {
    clock,
    shutdown,
    repeatsPayments: config.provider.paymentRetries > 0,
  });
}

/** The most codes that the metric distinguishes: the provider decides what it sends. */
const maxCodes = 50;

/** Counts responses to payments that prove nothing: `none` without a code, `other` for too many. */
function unknownResponseCounter({
  unknownResponses,
}: Metrics): (observation: ProviderObservation) => void {
  const known = new Set<string>();
  return ({ outcome, statusClass, httpStatus, refusalCode }) => {
    if (outcome !== 'unknown') return;
    const code = refusalCode ?? 'none';
    if (known.size < maxCodes) known.add(code);
    const status = httpStatus === null ? statusClass : String(httpStatus);
    unknownResponses.inc({ status, code: known.has(code) ? code : 'other' });
  };
}

function logCall(log: Log, observation: ProviderObservation): void {
  const { defect, ...facts } = observation;
  if (defect !== null && defect !== undefined) {
    log.error({ ...facts, error: defect }, 'the provider layer has a defect');
  } else if (facts.outcome === 'accepted' || isUnknownCep(facts)) {
    log.debug(facts, 'provider call');
  } else {
    log.warn(facts, 'provider call failed');
  }
}

/** Anyone may ask for any CEP: that the provider does not know one is no failure. */
function isUnknownCep({
  method,
  statusClass,
}: Pick<ProviderObservation, 'method' | 'statusClass'>) {
  return method === 'lookUpCep' && statusClass === '404';
}
