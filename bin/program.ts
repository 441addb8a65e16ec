/**
 * The frame of the command line. To add a command `ponte thing list`:
 *
 * 1. Its work is an `Op` in `src/operator/thing-list.ts`, which takes and gives plain JSON, with a
 *    line in the table `src/operator/index.ts`: `'thing list': listThings`. It may run in this
 *    process or, through the socket, in a service that runs: it prints nothing and asks nothing.
 * 2. Its declaration is in `bin/groups/thing.ts`, a `Describe` that is listed in `groups` below. It
 *    is read for every `--help`, so it imports only `commander` and `declare.ts`:
 *
 *        program
 *          .command('thing')
 *          .description('…')
 *          .addHelpText('after', examples('ponte thing list'))
 *          .command('list')
 *          .description('…')
 *          .addOption(limitOption())
 *          .addOption(jsonOption())
 *          .addHelpText('after', examples('ponte thing list --limit 10'))
 *          .action(action(async () => (await import('../commands/thing-list.ts')).thingList));
 *
 * 3. What it does is in `bin/commands/thing-list.ts`, loaded when it is called. It gets the desk,
 *    the arguments, and the options as commander has read them:
 *
 *        export async function thingList(desk: Desk, options: Options): Promise<void> {
 *          const { things } = await desk.run('thing list', { limit: options.limit });
 *          const none = 'There are no things.';
 *          printList(desk.terminal, { name: 'things', ...options, columns, rows: things, none });
 *        }
 *
 * It gives nothing, which is exit 0, or an exit code: `exitCodes.bad` for a finding that is bad.
 * What is thrown ends it with one sentence: `OpError` 1, `UsageError` and `ConfigError` 2,
 * `UnreachableError` 3. A command that changes something has `--yes` and asks first:
 *
 *        if (!(await desk.confirm('Disable it?', options))) return exitCodes.bad;
 *
 * The result goes to standard output (`print`, `table`, `details`, `json`), everything else to
 * standard error (`remark`). Progress that the op tells of becomes a bar by itself.
 */
import { Command, CommanderError } from 'commander';
import type { DeskOptions } from './desk.ts';
import type { Describe, Frame } from './frame.ts';
import { describeAccount } from './groups/account.ts';
import { describeAudit } from './groups/audit.ts';
import { describeChecks } from './groups/checks.ts';
import { describeCompletion } from './groups/completion.ts';
import { describeConsole } from './groups/console.ts';
import { describeDevelopment } from './groups/development.ts';
import { describeJobs } from './groups/jobs.ts';
import { describeKeys } from './groups/keys.ts';
import { describeMigrate } from './groups/migrate.ts';
import { describePix } from './groups/pix.ts';
import { describeService } from './groups/service.ts';
import { describeSession } from './groups/session.ts';
import { describeUser } from './groups/user.ts';
import { describeWebhook } from './groups/webhook.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';

/** In the order of the help. */
const groups: readonly Describe[] = [
  describeService,
  describeConsole,
  describeMigrate,
  describeUser,
  describeAccount,
  describeSession,
  describePix,
  describeWebhook,
  describeJobs,
  describeAudit,
  describeChecks,
  describeKeys,
  describeDevelopment,
  describeCompletion,
];

export interface PonteOptions extends DeskOptions {
  readonly version: string;
}

/**
 * Runs one command line.
 * @param argv what was typed after `ponte`.
 * @returns the exit code; whatever there is to say has been said.
 */
export async function ponte(argv: readonly string[], options: PonteOptions): Promise<ExitCode> {
  let code: ExitCode = exitCodes.done;
  const program = declareProgram(options, (ended) => (code = ended));
  if (argv.length === 0) {
    program.outputHelp();
    return code;
  }
  try {
    await program.parseAsync(withoutHelpWord(program, argv), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  }
  return code;
}

/**
 * `help` as a word looks at one word behind it, and says of an unknown one nothing. So it is turned
 * into the option, behind as many words as name a command: `help pix list` into `pix list --help`.
 */
function withoutHelpWord(program: Command, argv: readonly string[]): readonly string[] {
  const at = argv.indexOf('help');
  const [group, read] = walk(program, argv.slice(0, Math.max(at, 0)));
  if (at === -1 || read < at || group.commands.length === 0) return argv;
  const asked = argv.slice(at + 1);
  const [command, known] = walk(group, asked);
  const path = [...argv.slice(0, at), ...asked.slice(0, known)];
  const [unknown] = asked.slice(known);
  // A group does nothing but name its commands, so it can be left to say that it has no such one.
  if (command.commands.length > 0 && unknown !== undefined) return [...path, unknown];
  return [...path, '--help'];
}

/** @returns the command that the first words name, and how many words do. */
function walk(from: Command, words: readonly string[]): readonly [Command, number] {
  let command = from;
  for (const [index, word] of words.entries()) {
    const next = command.commands.find((one) => one.name() === word);
    if (!next) return [command, index];
    command = next;
  }
  return [command, words.length];
}

/** Declares every command; `onEnd` is told how the one that is called ends. */
export function declareProgram(
  options: PonteOptions,
  onEnd: (code: ExitCode) => void = () => undefined,
): Command {
  const { stdout, stderr } = options.streams;
  const program = new Command('ponte')
    .description('Mobile banking middleware between a mobile app and a banking provider')
    .version(options.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      getOutHelpWidth: () => stdout.columns ?? 80,
      getErrHelpWidth: () => stderr.columns ?? 80,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .helpCommand('help [command...]', 'show what a command does, and its options')
    .addHelpText('after', exampleOfAll);
  const action: Frame['action'] =
    (load) =>
    async (...given) => {
      // The last one is the command itself, which the options before it were read by.
      const typed = given.slice(0, -1);
      const { runCommand } = await import('./run-command.ts');
      onEnd(await runCommand(options, await load(), typed));
    };
  for (const describe of groups) describe({ program, action });
  return program;
}

const exampleOfAll = `
Examples:
  ponte serve
  ponte user list --json
  ponte help user create`;
