/** `ponte console`: starts the terminal console, which is a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../src/config/config.ts';
import type { Desk } from '../desk.ts';
import { exitCodes, UsageError, type ExitCode } from '../exit-codes.ts';
import { ownAddress } from '../own-address.ts';

export interface Options {
  readonly url?: string;
}

const main = fileURLToPath(new URL('../../console/main.tsx', import.meta.url));

/**
 * Opens the console on a service and waits until it is closed; exit 1 when it fails.
 * @throws UsageError where there is no terminal, or no address.
 */
export async function openConsole(desk: Desk, { url: typed }: Options): Promise<ExitCode> {
  const { stdin, stdout } = desk.terminal.streams;
  if (stdin.isTTY !== true || stdout.isTTY !== true) {
    throw new UsageError('the console needs a terminal: run it by hand, not in a pipe or a job');
  }
  const config = desk.config();
  const url = addressOf(config, typed);
  const { email = '', password = '' } = config.provider;
  // Plain Node does not read .tsx, and React is fast in production only.
  const child = spawn(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), main, '--url', url.href, ...flagsOf(config, url)],
    {
      stdio: 'inherit',
      env: {
        ...desk.environment(),
        NODE_ENV: 'production',
        PROVIDER_EMAIL: email,
        PROVIDER_PASSWORD: password,
      },
    },
  );
  // A signal is the console's, so that it gives the terminal back first.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => child.kill(name));
  }
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code === null) return exitCodes.interrupted;
  return code === 0 ? exitCodes.done : exitCodes.bad;
}

function addressOf(config: Config, typed: string | undefined): URL {
  const url = typed === undefined ? ownAddress(config) : URL.parse(typed);
  if (url && /^https?:$/.test(url.protocol)) return url;
  if (typed === undefined) throw new UsageError('PORT is 0: say where the service is with --url');
  throw new UsageError('--url must be an http:// or https:// address');
}

const thisMachine = /^(?:127\.|localhost$|\[::1\]$)/;

/** What an operator is shown comes from the configured service: for another one it is left out. */
function flagsOf(config: Config, url: URL): string[] {
  const isLocal = config.appEnv === 'local' && thisMachine.test(url.hostname);
  return [
    ...(url.origin === ownAddress(config)?.origin ? ['--operator'] : []),
    ...(isLocal ? ['--development'] : []),
  ];
}
