/** The service with a provider over HTTP: the sandbox, which uses the same clock. */
import { openSandbox, type Sandbox } from '../../src/provider/sandbox/open.ts';
import { startTestApp, type TestApp } from './app.ts';
import { manualClock } from './clock.ts';
import { unhurriedTimeoutMs } from './passing-time.ts';
import { afterFile } from './suite.ts';

export interface SandboxedApp extends TestApp {
  readonly sandbox: Sandbox;
}

/** Starts the service and the sandbox for a test file, and stops them after its tests. */
export async function startSandboxedApp(
  environment: Readonly<Record<string, string>> = {},
): Promise<SandboxedApp> {
  const clock = manualClock();
  const sandbox = await openSandbox({
    clock,
    ispb: '11165756',
    host: '127.0.0.1',
    port: 0,
    settleMs: 0,
  });
  const app = await startTestApp({
    clock,
    bank: sandbox.bank,
    environment: {
      PROVIDER_STUB: 'false',
      PROVIDER_BASE_URL: sandbox.url,
      PROVIDER_TIMEOUT_MS: String(unhurriedTimeoutMs),
      ...environment,
    },
  });
  afterFile(() => sandbox.close());
  return { ...app, sandbox };
}
