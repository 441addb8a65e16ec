/** What every long-running command does alike: read the configuration, run, stop at a signal. */
import { systemClock, type Clock } from '../src/clock.ts';
import { ConfigError, loadConfig, readEnvironment, type Config } from '../src/config.ts';
import { startFailure } from '../src/start-failure.ts';

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
export async function runUntilSignal(
  config: Pick<Config, 'logLevel'> & Partial<Pick<Config, 'databaseUrl'>>,
  start: () => Promise<Running>,
): Promise<void> {
  const signals = watchSignals(systemClock, () => process.exit(1));
  process.on('SIGTERM', signals.receive);
  process.on('SIGINT', signals.receive);
  const verbose = config.logLevel === 'debug' || config.logLevel === 'trace';
  try {
    const running = await start();
    process.stdout.write(running.banner.map((line) => `${line}\n`).join(''));
    await signals.first;
    await running.stop();
    process.exit(0);
  } catch (error) {
    complain([`ponte: ${startFailure(error, config.databaseUrl)}`]);
    if (verbose && error instanceof Error) complain([error.stack ?? '']);
    process.exit(1);
  }
}

/** npm passes on a Ctrl-C that the terminal has sent us already: the same signal, moments later. */
const echoMs = 100;

export interface SignalWatch {
  /** Resolves at the first signal. */
  readonly first: Promise<void>;
  receive(signal: NodeJS.Signals): void;
}

/** Tells a first signal from a second one, and a second one from an echo of the first. */
export function watchSignals(clock: Clock, endAtOnce: () => void): SignalWatch {
  let resolveFirst = (): void => undefined;
  const first = new Promise<void>((resolve) => (resolveFirst = resolve));
  let received: NodeJS.Signals | null = null;
  let echoExpected = true;
  return {
    first,
    receive(signal) {
      if (received === null) {
        received = signal;
        clock.after(echoMs, () => (echoExpected = false));
        resolveFirst();
      } else if (signal === received && echoExpected) {
        echoExpected = false;
      } else {
        endAtOnce();
      }
    },
  };
}

function complain(lines: readonly string[]): void {
  process.stderr.write(lines.map((line) => `${line}\n`).join(''));
}
