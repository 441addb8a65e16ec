/** What every long-running command does alike: read the configuration, run, stop at a signal. */
import { pause, systemClock, type Clock } from '../src/clock.ts';
import { ConfigError, loadConfig, readEnvironment, type Config } from '../src/config/config.ts';
import { keepAlive } from '../src/operator/keep-alive.ts';
import { startFailure } from '../src/operator/failure-message.ts';

/** How an error has shown itself that no code has handled. */
type DefectKind = 'unhandled_rejection' | 'uncaught_exception';

/** A service that runs. */
export interface Running {
  /** Lines that say what was started and where. */
  readonly banner: readonly string[];
  /** Logs and counts an error that no code has handled. */
  readonly reportDefect: (kind: DefectKind, error: unknown) => void;
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
 *
 * A promise that is rejected without a handler is reported, and the service goes on: it belongs to
 * one piece of work, and payments under way need the process. An exception that nothing catches may
 * leave any state behind: the service is stopped in order, so that payments under way are finished
 * and no others begin, and the process exits 1.
 *
 * @param start its signal aborts when the start is no longer wanted.
 */
export function runUntilSignal(
  config: Pick<Config, 'logLevel'> & Partial<Pick<Config, 'databaseUrl'>>,
  start: (unwanted: AbortSignal) => Promise<Running>,
): Promise<void> {
  const signals = watchSignals(systemClock, () => process.exit(1));
  process.on('SIGTERM', signals.receive);
  process.on('SIGINT', signals.receive);
  const unwanted = new AbortController();
  void signals.first.then(() => unwanted.abort());
  const defects = watchDefects();
  const run = async (): Promise<void> => {
    let running: Running | 'defect' | null = null;
    try {
      running = await Promise.race([start(unwanted.signal), defects.fatal]);
      if (running === 'defect') process.exit(1);
      defects.reportTo(running);
      process.stdout.write(running.banner.map((line) => `${line}\n`).join(''));
      await Promise.race([signals.first, defects.fatal]);
      const stopLate = defects.fatal.then(() => pause(systemClock, longestStopMs));
      await Promise.race([running.stop(), stopLate]);
      process.exit(defects.isFatal() ? 1 : 0);
    } catch (error) {
      complain([`ponte: ${startFailure(error, config.databaseUrl)}`]);
      const isVerbose = config.logLevel === 'debug' || config.logLevel === 'trace';
      if (isVerbose && error instanceof Error) complain([error.stack ?? '']);
      process.exit(running === null && unwanted.signal.aborted ? 0 : 1);
    }
  };
  // Without its database a service may have no socket, and its timers keep no process alive.
  return keepAlive(run);
}

/** How long a stop may take once an exception was not caught; the handbook says to wait so long. */
const longestStopMs = 30_000;

/** Watches for errors that no code has handled. */
function watchDefects() {
  let isFatal = false;
  let report: Running['reportDefect'] = (kind, error) =>
    complain([`ponte: a defect (${kind}): ${startFailure(error)}`]);
  const fatal = Promise.withResolvers<'defect'>();
  process.on('unhandledRejection', (error) => report('unhandled_rejection', error));
  process.on('uncaughtException', (error) => {
    isFatal = true;
    report('uncaught_exception', error);
    fatal.resolve('defect');
  });
  return {
    /** Resolves at the first exception that nothing has caught. */
    fatal: fatal.promise,
    isFatal: () => isFatal,
    reportTo: ({ reportDefect }: Running): void => void (report = reportDefect),
  };
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
