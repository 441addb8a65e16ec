/** A sandbox for a test, with the real client and the control path. */
import { createPooledClient } from '../../../../src/provider/http/pool.ts';
import { createHttpProvider } from '../../../../src/provider/http/index.ts';
import type { Provider } from '../../../../src/provider/provider.ts';
import type { LedgerView } from '../../../../src/provider/sandbox/ledger.ts';
import {
  openSandbox,
  type Sandbox,
  type OpenSandboxOptions,
} from '../../../../src/provider/sandbox/open.ts';
import { type ManualClock, manualClock } from '../../../support/clock.ts';
import { settleMs } from './bank/open-bank.ts';
import { afterFile } from '../../../support/suite.ts';
import { dialects } from '../../../support/dialects.ts';

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Many shapes: what a test asserts is what it declares. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export interface TestSandbox extends Sandbox {
  readonly clock: ManualClock;
  readonly provider: Provider;
  /** Calls any path, with JSON. */
  call(method: string, path: string, body?: unknown): Promise<TestResponse>;
  ledger(): Promise<LedgerView>;
  /** Faults that the bank or the server has reported. */
  readonly reported: unknown[];
}

/** Opens a sandbox on a free port until the end of the test. */
export async function testSandbox(
  options: Partial<Omit<OpenSandboxOptions, 'clock'>> & { readonly clock?: ManualClock } = {},
): Promise<TestSandbox> {
  const clock = options.clock ?? manualClock();
  const reported: unknown[] = [];
  const sandbox = await openSandbox({
    ispb: '11165756',
    host: '127.0.0.1',
    port: 0,
    settleMs,
    onFault: (fault) => reported.push(fault),
    ...options,
    clock,
  });
  const client = createPooledClient({ baseUrl: sandbox.url, timeoutMs: 60_000 });
  afterFile(async () => {
    await sandbox.close();
    await client.close();
  });
  const call = async (method: string, path: string, body?: unknown) =>
    fetchJson(`${sandbox.url}${path}`, { method, body });
  return {
    ...sandbox,
    clock,
    provider: createHttpProvider({ client, clock, ispb: '11165756', dialects }),
    call,
    ledger: async () => (await call('GET', '/sandbox/ledger')).body,
    reported,
  };
}

async function fetchJson(
  url: string,
  { method, body }: { readonly method: string; readonly body: unknown },
): Promise<TestResponse> {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  const { status, headers } = response;
  return { status, headers, body: JSON.parse(await response.text()) };
}
