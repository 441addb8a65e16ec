/** Creates the configured provider with its wrappers. */
import { join } from 'node:path';
import type { Clock } from './clock.ts';
import type { Config } from './config/config.ts';
import type { Log } from './log.ts';
import { breakerStates, type Metrics } from './metrics.ts';
import type { Provider } from './provider/provider.ts';
import { mostAttemptsAtOnce, providerLanes } from './provider/resilience/call-policy.ts';
import {
  withResilience,
  type ProviderObservation,
} from './provider/resilience/resilient-provider.ts';
import { withTokenRefresh } from './provider/resilience/token-refresh.ts';
import { createBank, type Bank } from './provider/stub/bank.ts';
import { createStubProvider } from './provider/stub/index.ts';
import { openStateFile } from './provider/stub/state-file.ts';

export interface ProviderOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly shutdown: AbortSignal;
  /** Delivers a webhook of the simulated bank, which posts it again when this rejects. */
  deliver(payload: Buffer): Promise<void>;
}

export interface ComposedProvider {
  readonly provider: Provider;
  /** The simulated bank, in stub mode. */
  readonly bank: Bank | null;
  close(): Promise<void>;
}

/** Creates the provider: the simulated bank in stub mode, otherwise an HTTP client. */
export async function composeProvider(options: ProviderOptions): Promise<ComposedProvider> {
  const { stub, baseUrl } = options.config.provider;
  if (stub) return composeStub(options);
  if (baseUrl === undefined) throw new Error('PROVIDER_BASE_URL is not set');
  return composeHttp(options, baseUrl);
}

function composeStub(options: ProviderOptions): ComposedProvider {
  const bank = openBank(options);
  const provider = wrapped(createStubProvider(bank), options);
  return { provider, bank, close: () => bank.close() };
}

async function composeHttp(options: ProviderOptions, baseUrl: string): Promise<ComposedProvider> {
  const { config, clock } = options;
  // Loaded on demand: the HTTP client is large, and stub mode does not need it.
  const [{ createHttpClient }, { createHttpProvider }] = await Promise.all([
    import('./provider/http/client.ts'),
    import('./provider/http/index.ts'),
  ]);
  const { timeoutMs, tls, apiKey, ispb, statementSettledOnly } = config.provider;
  const connections = mostAttemptsAtOnce;
  const client = createHttpClient({ baseUrl, timeoutMs, connections, tls, apiKey, clock });
  const http = createHttpProvider({ client, clock, ispb, statementSettledOnly });
  return { provider: wrapped(http, options), bank: null, close: () => client.close() };
}

/** Opens the simulated bank; its file preserves its state across restarts, as at a real bank. */
function openBank({ config, clock, log, deliver }: ProviderOptions): Bank {
  const path = join(config.dataDir, 'simulated-bank.jsonl');
  return createBank({
    clock,
    ispb: config.provider.ispb,
    settleMs: config.stubSettleMs,
    notify: deliver,
    ...(config.stubJournal && { file: openStateFile(path) }),
    onFault: (error) => log.error({ error }, 'the simulated bank has failed'),
  });
}

function wrapped(provider: Provider, options: ProviderOptions): Provider {
  const { config, clock, metrics, log, shutdown } = options;
  const countUnknown = unknownAnswerCounter(metrics);
  const resilient = withResilience(provider, {
    clock,
    timeoutMs: config.provider.timeoutMs,
    retries: config.provider.retries,
    shutdown,
    onAttempt(observation) {
      const { method, lane, statusClass, durationMs } = observation;
      if (method === 'pay') countUnknown(observation);
      metrics.providerCalls.observe({ method, status_class: statusClass }, durationMs / 1_000);
      metrics.breakerState.set({ lane }, breakerStates[resilient.breakerState(lane)]);
    },
    onCall: (observation) => logCall(log, observation),
  });
  for (const lane of providerLanes) metrics.breakerState.set({ lane }, breakerStates.closed);
  return withTokenRefresh(resilient.provider, { clock, shutdown });
}

/** The most codes that the metric distinguishes: the provider decides what it sends. */
const mostCodes = 50;

/** Counts answers to payments that prove nothing: `none` without a code, `other` for too many. */
function unknownAnswerCounter({
  unknownAnswers,
}: Metrics): (observation: ProviderObservation) => void {
  const known = new Set<string>();
  return ({ outcome, statusClass, httpStatus, refusalCode }) => {
    if (outcome !== 'unknown') return;
    const code = refusalCode ?? 'none';
    if (known.size < mostCodes) known.add(code);
    const status = httpStatus === null ? statusClass : String(httpStatus);
    unknownAnswers.inc({ status, code: known.has(code) ? code : 'other' });
  };
}

function logCall(log: Log, observation: ProviderObservation): void {
  const { defect, ...facts } = observation;
  if (defect !== null && defect !== undefined) {
    log.error({ ...facts, error: defect }, 'the provider layer has a defect');
  } else if (facts.outcome === 'accepted') {
    log.debug(facts, 'provider call');
  } else {
    log.warn(facts, 'provider call failed');
  }
}
