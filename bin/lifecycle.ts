/** What every long-running command does alike: read the configuration, run, stop at a signal. */
import { systemClock } from '../src/clock.ts';
import { ConfigError, loadConfig, readEnvironment, type Config } from '../src/config.ts';
import { startFailure } from './start-failure.ts';

/** A service that runs. */
export interface Running {
  /** Lines that say what was started and where. */
  readonly banner: readonly string[];
  stop(): Promise<void>;
}

/** The configuration of this process; with faults it prints them, one a line, and exits 2. */
export function configOrExit(): Config {
  try {
    return loadConfig(readEnvironment());
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const lines = error.faults.map(({ name, message }) => `  ${name} ${message}`);
    complain(['ponte cannot start, because its configuration is not valid:', ...lines]);
    process.exit(2);
  }
}

/**
 * Starts a service and stops it at SIGTERM or SIGINT: exit 0. A second signal exits 1 at once, and
 * so does a start that fails, with one sentence.
 */
export async function runUntilSignal(config: Config, start: () => Promise<Running>): Promise<void> {
  const signalled = onFirstSignal();
  const verbose = config.logLevel === 'debug' || config.logLevel === 'trace';
  try {
    const running = await start();
    process.stdout.write(running.banner.map((line) => `${line}\n`).join(''));
    await signalled;
    await running.stop();
    process.exit(0);
  } catch (error) {
    complain([`ponte: ${startFailure(error)}`]);
    if (verbose && error instanceof Error) complain([error.stack ?? '']);
    process.exit(1);
  }
}

/** npm passes on a Ctrl-C that the terminal has sent us already: the same signal, moments later. */
const echoMs = 100;

function onFirstSignal(): Promise<void> {
  return new Promise((resolve) => {
    let first: NodeJS.Signals | null = null;
    let echoExpected = true;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (first === null) {
        first = signal;
        systemClock.after(echoMs, () => (echoExpected = false));
        resolve();
      } else if (signal === first && echoExpected) {
        echoExpected = false;
      } else {
        process.exit(1);
      }
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}

function complain(lines: readonly string[]): void {
  process.stderr.write(lines.map((line) => `${line}\n`).join(''));
}
