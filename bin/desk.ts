/** What a command has at hand: the terminal, the configuration, the service, and questions. */
import { systemClock, type Clock } from '../src/clock.ts';
import {
  loadConfig,
  readEnvironment,
  type Config,
  type Environment,
} from '../src/config/config.ts';
import type { OpInput, OpName, OpResult } from '../src/operator/index.ts';
import type { Reach } from '../src/operator/client.ts';
import { operator } from './operator.ts';
import { UsageError } from './exit-codes.ts';
import type { PasswordQuestion } from './prompts.ts';
import { createTerminal, type Streams, type Terminal } from './terminal.ts';

export interface Desk {
  readonly terminal: Terminal;
  readonly clock: Clock;
  /** The environment with `.env`, for a command that looks at its faults. */
  environment(): Environment;
  /** @throws ConfigError, which ends the command with exit 2 and every fault. */
  config(): Config;
  /**
   * Has an op done, wherever the database is, with a progress bar where it is long.
   * @throws OpError, UnreachableError: they end the command with exit 1 and 3, and one sentence.
   */
  run<Name extends OpName>(name: Name, input: OpInput<Name>): Promise<OpResult<Name>>;
  /**
   * Asks whether to go on.
   * @returns false when the operator says no, and then nothing is to be done.
   * @throws UsageError where nobody can be asked and `yes` is not given.
   */
  confirm(question: string, options: { readonly yes?: boolean | undefined }): Promise<boolean>;
  /**
   * Takes a new password: twice at the terminal, or from the first line of standard input.
   * @throws UsageError when it has a fault, or where nobody can be asked.
   */
  newPassword(question: PasswordQuestion, source: PasswordSource): Promise<string>;
  /** Lets go of what the command has opened. */
  close(): Promise<void>;
}

export interface PasswordSource {
  readonly passwordStdin?: boolean | undefined;
}

export interface DeskOptions {
  readonly streams: Streams;
  /** That of the process when it is left out. */
  readonly environment?: () => Environment;
  readonly clock?: Clock;
  /** The name that the operator gives with `--by`. */
  readonly by?: string | undefined;
}

/** Makes the desk of one command. */
export function createDesk(options: DeskOptions): Desk {
  const { streams, environment = readEnvironment, clock = systemClock, by } = options;
  const terminal = createTerminal(streams);
  let config: Config | null = null;
  let reach: Reach | null = null;
  const readConfig = (): Config => (config ??= loadConfig(environment()));
  const release = async (): Promise<void> => reach?.release();
  return {
    terminal,
    clock,
    environment,
    config: readConfig,
    async run(name, input) {
      reach ??= await openReach(readConfig(), streams, clock);
      const { createProgressBar } = await import('./progress-bar.ts');
      const bar = createProgressBar(streams);
      try {
        return await reach.run({ name, input, operator: operator(by), progress: bar.update });
      } finally {
        bar.stop();
      }
    },
    async confirm(question, { yes = false }) {
      if (yes) return true;
      if (!terminal.isInteractive) {
        throw new UsageError('this changes what is stored: confirm it with --yes');
      }
      // Nobody else waits for the database while an operator thinks.
      await release();
      const { askYesNo } = await import('./prompts.ts');
      if (await askYesNo(question, streams)) return true;
      terminal.remark('Nothing was done.');
      return false;
    },
    async newPassword(question, { passwordStdin = false }) {
      const { askNewPassword, readSecretLine } = await import('./prompts.ts');
      if (!passwordStdin && !terminal.isInteractive) {
        throw new UsageError('nobody can be asked for a password here: use --password-stdin');
      }
      await release();
      if (!passwordStdin) return askNewPassword(question, streams);
      const password = await readSecretLine(streams);
      const fault = question.fault(password);
      if (fault !== null) throw new UsageError(`the password is refused: ${fault.en}`);
      return password;
    },
    close: release,
  };
}

async function openReach(config: Config, streams: Streams, clock: Clock): Promise<Reach> {
  const [{ createReach }, { createLog }] = await Promise.all([
    import('../src/operator/client.ts'),
    import('../src/log.ts'),
  ]);
  const { stderr } = streams;
  const quiet = config.logLevel === 'info' ? 'warn' : config.logLevel;
  const log = createLog({ level: quiet, pretty: stderr.isTTY === true, destination: stderr });
  return createReach(config, { clock, log });
}
