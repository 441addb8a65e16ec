/** `ponte console`: runs the terminal console in a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Context, Declare } from '../context.ts';
import { exitCodes, UsageError } from '../exit-codes.ts';
import { examples } from '../options.ts';
import { bundleConsole } from '../console-bundle.ts';

export const declare: Declare = (noun, run) => {
  noun
    .option(
      '--url <address>',
      'address of the service (default: the running one, or HOST and PORT)',
    )
    .addHelpText('after', examples('ponte console', 'ponte console --url http://127.0.0.1:3001'))
    .action(run(openConsole));
};

const ponte = fileURLToPath(new URL('../ponte', import.meta.url));

/** Runs the console until it is closed; exit 1 when it fails. */
async function openConsole(context: Context, { url: typed }: { readonly url?: string }) {
  const { stdin, stdout } = context.terminal.streams;
  if (stdin.isTTY !== true || stdout.isTTY !== true) {
    throw new UsageError('the console needs a terminal: run it by hand, not in a pipe or a job');
  }
  const config = context.config();
  const { url, isConfigured } = context.serviceUrl(typed, '/');
  const isThisMachine = /^(?:127\.|localhost$|\[::1\]$)/.test(url.hostname);
  const { email = '', password = '' } = config.provider;
  const child = spawn(
    process.execPath,
    [
      await bundleConsole(),
      '--url',
      url.href,
      // Operator data comes from the configured service: it is hidden for any other one.
      ...(isConfigured ? ['--operator', ponte] : []),
      ...(config.appEnv === 'local' && isThisMachine ? ['--development'] : []),
    ],
    {
      stdio: 'inherit',
      env: {
        ...context.environment(),
        PROVIDER_EMAIL: email,
        PROVIDER_PASSWORD: password,
      },
    },
  );
  // The console restores the terminal before it exits.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => child.kill(name));
  }
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code === null) return exitCodes.interrupted;
  return code === 0 ? exitCodes.ok : exitCodes.failed;
}
