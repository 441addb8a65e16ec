/** `ponte provider-sandbox`: the simulated bank behind the provider's HTTP paths. */
import { systemClock } from '../../src/clock.ts';
import { ConfigError, loadConfig, readEnvironment } from '../../src/config/config.ts';
import { entries } from '../../src/config/schema.ts';
import { faultsMistake, scenarioHints } from '../../src/provider/sandbox/hints.ts';
import { openSandbox, type OpenSandboxOptions } from '../../src/provider/sandbox/open.ts';
import type { Desk } from '../desk.ts';
import { runUntilSignal, type Running } from '../lifecycle.ts';

/** The options as they were typed. */
export interface TypedOptions {
  readonly host: string;
  readonly port: string;
  readonly seed: string;
  readonly settleMs: string;
  readonly onboarding: boolean;
  readonly faults?: string;
  readonly webhookUrl?: string;
  readonly data?: string;
}

/** Runs the sandbox until it is told to stop; ends the process, with 2 when an option is wrong. */
export async function providerSandbox(_desk: Desk, typed: TypedOptions): Promise<void> {
  const { secret, faults } = webhookSecret();
  const mistakes = [...mistakesOf(typed), ...faults];
  if (mistakes.length > 0) {
    process.stderr.write(['ponte provider-sandbox cannot start:', ...mistakes, ''].join('\n'));
    process.exit(2);
  }
  await runUntilSignal({ logLevel: 'info' }, async (): Promise<Running> => {
    const sandbox = await openSandbox(optionsOf(typed, secret));
    return {
      banner: bannerOf(sandbox.url, typed),
      reportDefect: (kind, error) => reportFault(`${kind}: ${String(error)}`),
      stop: () => sandbox.close(),
    };
  });
}

/** Each option that is wrong, as a line. */
function mistakesOf(typed: TypedOptions): string[] {
  const { port, settleMs, webhookUrl } = typed;
  const mistake = faultsMistake(typed.faults ?? '');
  const isUrl = webhookUrl === undefined || /^https?:$/.test(URL.parse(webhookUrl)?.protocol ?? '');
  return [
    ...(mistake === null ? [] : [`  --faults: ${mistake}`]),
    ...(isInteger(port, 65_535) ? [] : ['  --port must be an integer from 0 to 65535']),
    ...(isInteger(settleMs, 3_600_000) ? [] : ['  --settle-ms must be from 0 to 3600000']),
    ...(isUrl ? [] : ['  --webhook-url must be an http:// or https:// address']),
  ];
}

/** The secret that the service compares, which no argument shows to other users: the newest one. */
function webhookSecret(): { readonly secret?: string; readonly faults: readonly string[] } {
  try {
    const { WEBHOOK_SECRET = '', WEBHOOK_SECRET_FILE = '' } = readEnvironment();
    const { webhookSecrets } = loadConfig({
      APP_ENV: 'local',
      WEBHOOK_SECRET,
      WEBHOOK_SECRET_FILE,
    });
    const [secret] = webhookSecrets;
    return { ...(secret !== undefined && { secret }), faults: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { faults: error.faults.map(({ name, message }) => `  ${name} ${message}`) };
  }
}

function isInteger(text: string, max: number): boolean {
  return /^\d{1,7}$/.test(text) && Number(text) <= max;
}

function optionsOf(typed: TypedOptions, secret: string | undefined): OpenSandboxOptions {
  const { host, port, seed, settleMs, faults, webhookUrl, data } = typed;
  return {
    clock: systemClock,
    ispb: entries.PROVIDER_ISPB.default,
    host,
    port: Number(port),
    seed,
    settleMs: Number(settleMs),
    hasOnboarding: typed.onboarding,
    ...(faults !== undefined && { faults }),
    ...(webhookUrl !== undefined && { webhook: { url: webhookUrl, secret } }),
    ...(data !== undefined && { dataDir: data }),
    onFault: reportFault,
  };
}

function reportFault(fault: unknown): void {
  process.stderr.write(`ponte provider-sandbox: ${String(fault)}\n`);
}

function bannerOf(url: string, typed: TypedOptions): string[] {
  const { faults, seed, webhookUrl, data, settleMs, onboarding } = typed;
  return [
    'The simulated provider runs',
    `  provider   APP_ENV=local PROVIDER_STUB=false PROVIDER_BASE_URL=${url}`,
    `  control    ${url}/sandbox`,
    `  webhooks   ${webhookUrl ?? 'to nobody: give --webhook-url'}`,
    `  settles    ${settleMs === '0' ? 'when told to' : `after ${settleMs} ms`}`,
    `  onboarding ${onboarding ? 'offered' : '404, as the hosts that were tried'}`,
    `  faults     ${faults === undefined ? 'none' : `${faults} (seed ${seed})`}`,
    `  state      ${data ?? 'in memory'}`,
    `  login      any e-mail, any password`,
    `  stop       Ctrl-C`,
    'Values that make it misbehave',
    ...scenarioHints().map((line) => `  ${line}`),
  ];
}
