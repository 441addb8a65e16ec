/** `ponte provider-sandbox`: the simulated provider over HTTP. */
import type { OpenSandboxOptions } from '../../src/provider/sandbox/open.ts';
import type { Context, Declare } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';

export const declare: Declare = (noun, run) => {
  noun
    .option('--host <address>', 'listening address', '127.0.0.1')
    .option('--port <number>', 'listening port; 0 takes any free one', '9090')
    .option('--faults <rules>', 'faults, such as payments:5xx-after@0.1')
    .option('--seed <text>', 'random seed: the same seed produces the same faults', '1')
    .option('--webhook-url <address>', 'where webhooks are posted')
    .option(
      '--settle-ms <number>',
      'milliseconds from a payment to its webhook; 0: only on request',
      '1500',
    )
    .option('--no-onboarding', 'answer 404 to /core/v2/onboarding, as tested provider hosts do')
    .option('--data <folder>', 'folder of the state (default: in memory)')
    .addHelpText('after', example)
    .action(run(runSandbox));
};

const example = `
Example: a provider that loses one payment in ten, and the service on it
  ponte provider-sandbox --faults 'payments:5xx-after@0.1,keys/dict:latency=200ms@0.5' \\
    --webhook-url http://127.0.0.1:3000/api/v1/webhooks/provider
  APP_ENV=local PROVIDER_STUB=false ONBOARDING_LOCAL_ONLY=false \\
    PROVIDER_BASE_URL=http://127.0.0.1:9090 ponte serve

X-Webhook-Secret is WEBHOOK_SECRET of the environment, or the content of WEBHOOK_SECRET_FILE: every
user of the machine can read the arguments of a process.

The start prints the values that cause failures. While the sandbox runs,
http://127.0.0.1:9090/sandbox lists the rules of --faults and the control requests.`;

interface SandboxOptions {
  readonly host: string;
  readonly port: string;
  readonly seed: string;
  readonly settleMs: string;
  readonly onboarding: boolean;
  readonly faults?: string;
  readonly webhookUrl?: string;
  readonly data?: string;
}

/** Runs until a signal, and ends the process; exit 2 when an option is invalid. */
async function runSandbox({ terminal }: Context, options: SandboxOptions) {
  const { findFaultError } = await import('../../src/provider/sandbox/fault-language.ts');
  const { secret, faults } = await readWebhookSecret();
  const mistakes = [...listMistakes(options, findFaultError(options.faults ?? '')), ...faults];
  if (mistakes.length > 0) {
    terminal.note('ponte provider-sandbox cannot start:', ...mistakes);
    return exitCodes.usage;
  }
  const { openSandbox, scenarioHints } = await import('../../src/provider/sandbox/open.ts');
  const { runUntilSignal } = await import('../lifecycle.ts');
  const onFault = (fault: unknown): void =>
    terminal.note(`ponte provider-sandbox: ${String(fault)}`);
  const sandboxOptions = { ...(await readOptions(options, secret)), onFault };
  await runUntilSignal({ logLevel: 'info' }, async () => {
    const sandbox = await openSandbox(sandboxOptions);
    return {
      banner: [...bannerLines(sandbox.url, options), ...scenarioHints().map((line) => `  ${line}`)],
      reportDefect: (kind, error) => onFault(`${kind}: ${String(error)}`),
      stop: () => sandbox.close(),
    };
  });
  return exitCodes.ok;
}

/** Every invalid option, one a line. */
function listMistakes(options: SandboxOptions, faultError: string | null): string[] {
  const { port, settleMs, webhookUrl } = options;
  const isUrl = webhookUrl === undefined || /^https?:$/.test(URL.parse(webhookUrl)?.protocol ?? '');
  const mistakes: readonly (readonly [isMistake: boolean, line: string])[] = [
    [faultError !== null, `--faults: ${faultError}`],
    [!isInteger(port, 65_535), '--port must be an integer from 0 to 65535'],
    [!isInteger(settleMs, 3_600_000), '--settle-ms must be from 0 to 3600000'],
    [!isUrl, '--webhook-url must be an http:// or https:// address'],
  ];
  return mistakes.flatMap(([isMistake, line]) => (isMistake ? [`  ${line}`] : []));
}

function isInteger(text: string, maximum: number): boolean {
  return /^\d{1,7}$/.test(text) && Number(text) <= maximum;
}

/** The newest secret that the service accepts. */
async function readWebhookSecret(): Promise<{ secret?: string; faults: readonly string[] }> {
  const { ConfigError, loadConfig, readEnvironment } = await import('../../src/config/config.ts');
  const { WEBHOOK_SECRET = '', WEBHOOK_SECRET_FILE = '' } = readEnvironment();
  try {
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

async function readOptions(
  options: SandboxOptions,
  secret: string | undefined,
): Promise<OpenSandboxOptions> {
  const { systemClock } = await import('../../src/clock.ts');
  const { entries } = await import('../../src/config/schema.ts');
  const { host, port, seed, settleMs, faults, webhookUrl, data } = options;
  return {
    host,
    port: Number(port),
    seed,
    settleMs: Number(settleMs),
    clock: systemClock,
    ispb: entries.PROVIDER_ISPB.default,
    hasOnboarding: options.onboarding,
    ...(faults !== undefined && { faults }),
    ...(webhookUrl !== undefined && { webhook: { url: webhookUrl, secret } }),
    ...(data !== undefined && { dataDir: data }),
  };
}

function bannerLines(url: string, options: SandboxOptions): string[] {
  const { faults, seed, webhookUrl, data, settleMs, onboarding } = options;
  return [
    'The simulated provider runs',
    `  provider   APP_ENV=local PROVIDER_STUB=false ONBOARDING_LOCAL_ONLY=${!onboarding} PROVIDER_BASE_URL=${url}`,
    `  control    ${url}/sandbox`,
    `  webhooks   ${webhookUrl ?? 'not sent: set --webhook-url'}`,
    `  settles    ${settleMs === '0' ? 'on request' : `after ${settleMs} ms`}`,
    `  onboarding ${onboarding ? 'offered' : '404, as tested provider hosts'}`,
    `  faults     ${faults === undefined ? 'none' : `${faults} (seed ${seed})`}`,
    `  state      ${data ?? 'in memory'}`,
    `  login      any e-mail, any password`,
    `  stop       Ctrl-C`,
    'Values that cause failures',
  ];
}
