/** Runs one command: passes its context, and turns its end into an exit code and a sentence. */
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { systemClock, type Clock } from '../src/clock.ts';
import { ownAddress } from '../src/config/own-address.ts';
import { withRunningService } from '../src/config/running-service.ts';
import {
  ConfigError,
  loadConfig,
  namesFromDotEnv,
  readEnvironment,
  type Config,
  type Environment,
} from '../src/config/config.ts';
import type { OpInput, OpName, OpResult } from '../src/operator/index.ts';
import { OpError } from '../src/operator/op.ts';
import type { OperatorClient } from '../src/operator/client.ts';
import { startFailure } from '../src/operator/failure-message.ts';
import { CancelledError, exitCodes, UsageError, type ExitCode } from './exit-codes.ts';
import type { ChangeOptions } from './options.ts';
import { createProgressBar, createTerminal, type Streams, type Terminal } from './output.ts';
import type { PasswordQuestion } from './prompts.ts';

/** Adds the options, arguments and subcommands of a noun; `run` makes commander's actions. */
export type Declare = (noun: Command, run: (work: Work) => Action) => void;

/** A command; after the context come its arguments and its options, as commander parsed them. */
export type Work = (context: Context, ...typed: never[]) => Promise<ExitCode> | Promise<void>;

type Action = (...typed: unknown[]) => Promise<void>;

/** The context that every command receives. */
export interface Context {
  readonly terminal: Terminal;
  readonly clock: Clock;
  /** The environment with `.env`, for a command that reports its errors. */
  environment(): Environment;
  /** The names of the settings that come from `.env`. */
  fromDotEnv(): ReadonlySet<string>;
  /** @throws ConfigError with all errors: exit 2. */
  config(): Config;
  /**
   * Calls an op, in this process or in the service that has the embedded database open, with a
   * progress bar if it is long.
   * @throws OpError (exit 1, of an invalid input 2), UnreachableError (exit 3).
   */
  call<Name extends OpName>(name: Name, input: OpInput<Name>): Promise<OpResult<Name>>;
  /**
   * Asks for confirmation.
   * @throws CancelledError when the operator declines, UsageError when no prompt is possible and
   *   `--yes` is missing.
   */
  confirm(question: string, options: Pick<ChangeOptions, 'yes'>): Promise<void>;
  /**
   * Reads a new password: twice from the terminal, or from the first line of standard input.
   * @throws UsageError when it is invalid, or when no prompt is possible.
   */
  newPassword(question: PasswordQuestion, options: PasswordOptions): Promise<string>;
  /**
   * The environment, with the address of the service that runs where it sets no `PORT`.
   * @throws ConfigError when the environment is not a valid configuration.
   */
  serviceEnvironment(): Environment;
  /**
   * The address of `--url`, by default of the service that runs or is configured, with this path.
   * @throws UsageError when it is not HTTP, or when the configured port is any free one.
   */
  serviceUrl(typed: string | undefined, path: string): ServiceUrl;
  /** Closes the database; the next call opens it again. */
  close(): Promise<void>;
}

export interface PasswordOptions {
  readonly passwordStdin?: boolean;
}

export interface ServiceUrl {
  readonly url: URL;
  /** Whether it is the configured service: no other one may receive its secrets. */
  readonly isConfigured: boolean;
}

export interface CommandOptions {
  readonly streams: Streams;
  /** By default that of the process. */
  readonly environment?: () => Environment;
  readonly clock?: Clock;
}

/** @returns the exit code; it never rejects. */
export async function runCommand(
  options: CommandOptions,
  work: Work,
  typed: readonly unknown[],
): Promise<ExitCode> {
  const context = createContext(options, typed.at(-1) as ChangeOptions);
  try {
    return (await work(context, ...(typed as never[]))) ?? exitCodes.ok;
  } catch (error) {
    return reportError(context, error);
  } finally {
    await context.close();
  }
}

function createContext(options: CommandOptions, { by, reason }: ChangeOptions): Context {
  const { streams, environment = readEnvironment, clock = systemClock } = options;
  const fromDotEnv = options.environment ? () => new Set<string>() : namesFromDotEnv;
  const terminal = createTerminal(streams);
  let loaded: Config | null = null;
  let client: OperatorClient | null = null;
  const config = (): Config => (loaded ??= loadConfig(environment()));
  const serviceEnvironment = (): Environment => withRunningService(environment(), config());
  const close = async (): Promise<void> => client?.release();
  return {
    terminal,
    clock,
    environment,
    fromDotEnv,
    config,
    close,
    async call(name, input) {
      client ??= await openClient(config(), streams, clock);
      const bar = await createProgressBar(streams);
      try {
        return await client.run({
          name,
          input,
          operator: operator(by),
          progress: bar.update,
          ...(reason !== undefined && { reason }),
        });
      } finally {
        bar.stop();
      }
    },
    async confirm(question, { yes = false }) {
      if (yes) return;
      if (!terminal.isInteractive) {
        throw new UsageError('this command changes data: confirm it with --yes');
      }
      // Other processes can use the database while the operator decides.
      await close();
      const { promptYesNo } = await import('./prompts.ts');
      if (await promptYesNo(question, streams)) return;
      terminal.note('Nothing was changed.');
      throw new CancelledError(exitCodes.failed);
    },
    async newPassword(question, { passwordStdin = false }) {
      const { promptNewPassword, readSecretLine } = await import('./prompts.ts');
      if (!passwordStdin && !terminal.isInteractive) {
        throw new UsageError('the password prompt needs a terminal: use --password-stdin');
      }
      await close();
      if (!passwordStdin) return promptNewPassword(question, streams);
      const password = await readSecretLine(streams);
      const error = question.validate(password);
      if (error !== null) throw new UsageError(`the password is invalid: ${error.en}`);
      return password;
    },
    serviceEnvironment,
    serviceUrl: (typed, path) => {
      return serviceUrl(loadConfig(serviceEnvironment()), typed, path);
    },
  };
}

function serviceUrl(config: Config, typed: string | undefined, path: string): ServiceUrl {
  const own = config.port === 0 ? null : new URL(path, ownAddress(config));
  const url = typed === undefined ? own : URL.parse(typed);
  if (url && /^https?:$/.test(url.protocol))
    return { url, isConfigured: url.origin === own?.origin };
  if (typed !== undefined) throw new UsageError('--url must be an http:// or https:// address');
  throw new UsageError('PORT is 0: give the address of the service with --url');
}

async function openClient(
  config: Config,
  { stderr }: Streams,
  clock: Clock,
): Promise<OperatorClient> {
  const [{ createOperatorClient }, { createLog }] = await Promise.all([
    import('../src/operator/client.ts'),
    import('../src/telemetry/log.ts'),
  ]);
  const level = config.logLevel === 'info' ? 'warn' : config.logLevel;
  const log = createLog({ level, pretty: stderr.isTTY === true, destination: stderr });
  return createOperatorClient(config, { clock, log });
}

/** The name that is recorded with a change: the system user, and the name of `--by`. */
function operator(by: string | undefined): string {
  return by === undefined ? systemUser() : `${systemUser()} (${by})`;
}

/** In a container the user may have no name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

function reportError({ terminal, config }: Context, error: unknown): ExitCode {
  const { note } = terminal;
  if (error instanceof CancelledError) return error.exitCode;
  if (error instanceof ConfigError) {
    note('ponte cannot run, because its configuration is not valid:');
    note(...error.faults.map(({ name, message }) => `  ${name} ${message}`));
    return exitCodes.usage;
  }
  if (error instanceof UsageError) {
    note(...error.lines.map((line) => `ponte: ${line}`));
    return exitCodes.usage;
  }
  if (error instanceof OpError) {
    note(`ponte: ${error.message}`);
    return error.code === 'INVALID' ? exitCodes.usage : exitCodes.failed;
  }
  note(`ponte: ${startFailure(error)}`);
  if (error instanceof Error && isVerbose(config)) note(error.stack ?? '');
  const isUnreachable = error instanceof Error && error.name === 'UnreachableError';
  return isUnreachable ? exitCodes.unreachable : exitCodes.failed;
}

function isVerbose(config: Context['config']): boolean {
  try {
    return ['debug', 'trace'].includes(config().logLevel);
  } catch {
    return false;
  }
}
