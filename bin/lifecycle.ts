/** The life of a long-running command: read the configuration, run, stop at a signal. */
import { type Clock, keepAlive, pause, systemClock } from '../src/clock.ts';
import { ConfigError, loadConfig, readEnvironment, type Config } from '../src/config/config.ts';
import { errorParts, startFailure } from '../src/operator/failure-message.ts';

/** The event that reports an error which no code has handled. */
type DefectKind = 'unhandled_rejection' | 'uncaught_exception';

/** A running service. */
export interface Running {
  /** Printed once the service has started. */
  readonly banner: readonly string[];
  /** Logs and counts an error that no code has handled. */
  readonly reportDefect: (kind: DefectKind, error: unknown) => void;
  stop(): Promise<void>;
}

/** Loads the configuration; when it is invalid, prints all errors and exits 2. */
export function configOrExit(): Config {
  try {
    return loadConfig(readEnvironment());
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return refuseConfig(error);
  }
}

function refuseConfig({ faults }: ConfigError): never {
  const lines = faults.map(({ name, message }) => `  ${name} ${message}`);
  complain(['ponte cannot start, because its configuration is not valid:', ...lines]);
  process.exit(2);
}

/** Whether a start failed because another process listens on a port. */
export function isTaken(error: unknown, port: number): boolean {
  return errorParts(error).some((part) => {
    const found = part as NodeJS.ErrnoException & { readonly port?: number };
    return found.code === 'EADDRINUSE' && found.port === port;
  });
}

/** @returns an error that names the setting of a taken port; any other error unchanged. */
export function nameTakenPort(error: unknown, config: Config): unknown {
  const { host, port, metricsHost, metricsPort } = config;
  if (isTaken(error, port)) return takenPort('PORT', host, port);
  if (metricsPort === undefined || !isTaken(error, metricsPort)) return error;
  return takenPort('METRICS_PORT', metricsHost, metricsPort);
}

function takenPort(setting: string, host: string, port: number): Error {
  const other = port === 65_535 ? port - 1 : port + 1;
  const problem = `another process already listens on ${host}:${port}`;
  return new Error(`${problem}: choose another port, such as ${setting}=${other}`);
}

/**
 * Starts a service and stops it at SIGTERM or SIGINT: exit 0. A second signal exits 1 at once. A
 * failed start exits 1 with one sentence, one that finds the configuration invalid exits 2 with all
 * errors.
 *
 * An unhandled rejection is reported, and the service continues: the rejection belongs to one piece
 * of work, and payments in progress need the process. An uncaught exception can leave any state
 * behind: the service stops in order, so that payments in progress finish and no new ones begin,
 * and the process exits 1.
 *
 * @param start receives a signal that aborts when the process is to stop before the start is done.
 */
export function runUntilSignal(
  config: Pick<Config, 'logLevel'> & Partial<Pick<Config, 'databaseUrl'>>,
  start: (cancelled: AbortSignal) => Promise<Running>,
): Promise<void> {
  const signals = watchSignals(systemClock, () => process.exit(1));
  process.on('SIGTERM', signals.receive);
  process.on('SIGINT', signals.receive);
  const cancelled = new AbortController();
  void signals.first.then(() => cancelled.abort());
  const defects = watchDefects();
  const run = async (): Promise<void> => {
    let running: Running | 'defect' | null = null;
    try {
      running = await Promise.race([start(cancelled.signal), defects.fatal]);
      if (running === 'defect') process.exit(1);
      defects.reportTo(running);
      process.stdout.write(running.banner.map((line) => `${line}\n`).join(''));
      await Promise.race([signals.first, defects.fatal]);
      const stopLate = defects.fatal.then(() => pause(systemClock, maxStopMs));
      await Promise.race([running.stop(), stopLate]);
      // After the last lines of the log, which are written then.
      process.on('exit', () => process.stdout.write('stopped\n'));
      process.exit(defects.isFatal() ? 1 : 0);
    } catch (error) {
      if (error instanceof ConfigError) refuseConfig(error);
      complain([`ponte: ${startFailure(error, config.databaseUrl)}`]);
      const isVerbose = config.logLevel === 'debug' || config.logLevel === 'trace';
      if (isVerbose && error instanceof Error) complain([error.stack ?? '']);
      process.exit(running === null && cancelled.signal.aborted ? 0 : 1);
    }
  };
  // Before the database connects no socket is open, and timers do not keep the process alive.
  return keepAlive(run);
}

/** The maximum duration of a stop after an uncaught exception; the README names it. */
const maxStopMs = 30_000;

/** Reports errors that no code has handled. */
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
    /** Resolves at the first uncaught exception. */
    fatal: fatal.promise,
    isFatal: () => isFatal,
    reportTo: ({ reportDefect }: Running): void => void (report = reportDefect),
  };
}

/** npm forwards a Ctrl-C that the terminal has already delivered: the same signal arrives twice. */
const echoMs = 100;

export interface SignalWatch {
  /** Resolves at the first signal. */
  readonly first: Promise<void>;
  receive(signal: NodeJS.Signals): void;
}

/** Distinguishes a second signal from an echo of the first one. */
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
