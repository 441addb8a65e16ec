/** The real client for a test, and its most frequent calls. */
import type { HttpClient } from '../../../../src/provider/http/client.ts';
import {
  createPooledClient,
  type PooledClientOptions,
} from '../../../../src/provider/http/pool.ts';
import { createHttpProvider } from '../../../../src/provider/http/index.ts';
import type { Provider } from '../../../../src/provider/provider.ts';
import { manualClock } from '../../../support/clock.ts';
import { afterFile } from '../../../support/suite.ts';
import { dialects } from '../../../support/dialects.ts';

/** A client that is closed after the file's tests. Its own time-outs are longer than any test. */
export function makeClient(
  baseUrl: string,
  timeoutMs = 60_000,
  options: Partial<PooledClientOptions> = {},
): HttpClient {
  const client = createPooledClient({ baseUrl, timeoutMs, ...options });
  afterFile(() => client.close());
  return client;
}

/** The port over such a client; its clock shows 2026-05-24, 12:00 UTC. */
export function providerAt(baseUrl: string, options?: Partial<PooledClientOptions>): Provider {
  const client = makeClient(baseUrl, undefined, options);
  return createHttpProvider({ client, clock: manualClock(), ispb: '11165756', dialects });
}

export const notConnected = {
  outcome: 'not_sent',
  code: 'PROVIDER_UNAVAILABLE',
  statusClass: 'connect',
  retryable: true,
} as const;

export const reset = {
  outcome: 'unknown',
  code: 'PROVIDER_UNAVAILABLE',
  statusClass: 'reset',
  retryable: true,
} as const;

export const timedOut = {
  outcome: 'unknown',
  code: 'PROVIDER_TIMEOUT',
  statusClass: 'timeout',
  retryable: true,
} as const;

export const notSentInTime = { ...timedOut, outcome: 'not_sent' } as const;

export const notUnderstood = {
  outcome: 'unknown',
  code: 'PROVIDER_INVALID_RESPONSE',
  statusClass: 'invalid',
  retryable: false,
} as const;
