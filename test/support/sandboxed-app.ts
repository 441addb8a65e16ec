/** The service with a provider over HTTP: the sandbox, which uses the same clock. */
import { openSandbox, type Sandbox } from '../../src/provider/sandbox/open.ts';
import { startTestApp, type TestApp } from './app.ts';
import { manualClock, type ManualClock } from './clock.ts';
import { unhurriedTimeoutMs } from './passing-time.ts';
import { afterFile } from './suite.ts';

export interface SandboxedApp extends TestApp {
  readonly sandbox: Sandbox;
}

/** A sandbox, with the settings of a service that has it as its provider. */
export interface StartedSandbox {
  readonly clock: ManualClock;
  readonly sandbox: Sandbox;
  readonly environment: Readonly<Record<string, string>>;
}

/** Starts a sandbox for a test file, with a clock that the service shares. */
export async function startSandbox(): Promise<StartedSandbox> {
  const clock = manualClock();
  const sandbox = await openSandbox({
    clock,
    ispb: '11165756',
    host: '127.0.0.1',
    port: 0,
    settleMs: 0,
  });
  afterFile(() => sandbox.close());
  const environment = {
    PROVIDER_STUB: 'false',
    PROVIDER_BASE_URL: sandbox.url,
    PROVIDER_TIMEOUT_MS: String(unhurriedTimeoutMs),
  };
  return { clock, sandbox, environment };
}

/** Starts the service and the sandbox for a test file, and stops them after its tests. */
export async function startSandboxedApp(
  environment: Readonly<Record<string, string>> = {},
): Promise<SandboxedApp> {
  const { clock, sandbox, ...started } = await startSandbox();
  const app = await startTestApp({
    clock,
    bank: sandbox.bank,
    environment: { ...started.environment, ...environment },
  });
  return { ...app, sandbox };
}
