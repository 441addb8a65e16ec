/**
 * The command line. To add a noun `thing` with a command `thing list`:
 *
 * 1. Write its op in `src/operator/thing-list.ts`, and add it to the table in
 *    `src/operator/index.ts`. An op takes and returns plain JSON: it may run in a running service.
 * 2. Add the noun to the table below, and write `bin/commands/thing.ts`:
 *
 *        export const declare: Declare = (noun, run) => {
 *          noun.addHelpText('after', examples('ponte thing list'));
 *          withListOptions(noun.command('list'))
 *            .description('list things, newest first')
 *            .addHelpText('after', examples('ponte thing list --limit 10'))
 *            .action(run(list));
 *        };
 *
 *        async function list({ call, terminal }: Context, options: ListOptions) {
 *          const { things } = await call('thing list', { limit: options.limit });
 *          const none = 'There are no things.';
 *          terminal.list({ name: 'things', columns, rows: things, none }, options);
 *        }
 *
 * A command returns nothing (exit 0) or an exit code. An error ends it with one sentence: `OpError`
 * exit 1 (`INVALID`: exit 2), `UsageError` and `ConfigError` exit 2, `UnreachableError` exit 3. A
 * command that changes data uses `withChangeOptions` and calls `confirm` first. The result goes to
 * standard output (`terminal.result`, `print`, `list`, `table`, `details`), everything else to
 * standard error (`terminal.note`). Import heavy modules dynamically, where the command needs them.
 */
import { Command, CommanderError } from 'commander';
import type { CommandOptions, Declare, Work } from './context.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';

type Noun = readonly [
  name: string,
  description: string,
  load: () => Promise<{ readonly declare: Declare }>,
];

/** In the order of the help. A noun's file is loaded when the noun is typed. */
const nouns: readonly Noun[] = [
  ['serve', 'start the service (settings: .env.example)', () => import('./commands/serve.ts')],
  ['worker', 'run the jobs of servers with JOBS=off', () => import('./commands/worker.ts')],
  ['console', 'open a full-screen client of the service', () => import('./commands/console.ts')],
  ['migrate', 'inspect and migrate the database schema', () => import('./commands/migrate.ts')],
  ['user', 'manage the users of the app', () => import('./commands/user.ts')],
  ['account', 'block and unblock accounts', () => import('./commands/account.ts')],
  ['limit', 'show and set what a user may send', () => import('./commands/limit.ts')],
  ['subject', 'export and erase personal data', () => import('./commands/subject.ts')],
  ['session', 'list and revoke banking sessions', () => import('./commands/session.ts')],
  ['pix', 'inspect, audit and resolve payments and charges', () => import('./commands/pix.ts')],
  [
    'reconcile',
    "compare the provider's statement with what is stored",
    () => import('./commands/reconcile.ts'),
  ],
  ['webhook', 'inspect, replay and send provider events', () => import('./commands/webhook.ts')],
  ['events', "list and resend events to the app's backend", () => import('./commands/events.ts')],
  ['bank', "play the simulated bank's other side", () => import('./commands/bank.ts')],
  ['jobs', 'inspect and retry background jobs', () => import('./commands/jobs.ts')],
  ['audit', 'list operator actions and security events', () => import('./commands/audit.ts')],
  ['doctor', 'check what the service needs', () => import('./commands/doctor.ts')],
  ['config', 'check the settings', () => import('./commands/config.ts')],
  ['contract', 'print and check the OpenAPI contract', () => import('./commands/contract.ts')],
  [
    'request-id',
    "print the log's digest of a client's X-Request-Id",
    () => import('./commands/request-id.ts'),
  ],
  ['keys', 'generate and rotate the JWT signing keys', () => import('./commands/keys.ts')],
  [
    'provider',
    "responses of the provider that wait for a person's reading",
    () => import('./commands/provider.ts'),
  ],
  [
    'provider-sandbox',
    'serve a simulated provider',
    () => import('./commands/provider-sandbox.ts'),
  ],
  ['completion', 'print a shell completion script', () => import('./commands/completion.ts')],
];

export interface PonteOptions extends CommandOptions {
  readonly version: string;
}

/**
 * Runs one command line.
 * @param argv the arguments after `ponte`.
 * @returns the exit code; all output has been written.
 */
export async function ponte(argv: readonly string[], options: PonteOptions): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.ok;
  const noun = argv.find((word) => word !== 'help' && !word.startsWith('-'));
  const selected = noun === 'completion' ? 'all' : noun;
  const program = await loadProgram(options, selected, (code) => (exitCode = code));
  if (argv.length === 0) {
    program.outputHelp();
    return exitCode;
  }
  try {
    await program.parseAsync(replaceHelpWord(program, argv), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  }
  return exitCode;
}

/**
 * Declares every noun, and the subcommands and options of one of them, or of all.
 * @param onEnd called with the exit code of the command that has run.
 */
export async function loadProgram(
  options: PonteOptions,
  selected: string | undefined,
  onEnd: (code: ExitCode) => void = () => undefined,
): Promise<Command> {
  const program = createProgram(options);
  const run =
    (work: Work) =>
    async (...typed: unknown[]) => {
      const { runCommand } = await import('./context.ts');
      // The last one is the command itself, after its options.
      onEnd(await runCommand(options, work, typed.slice(0, -1)));
    };
  for (const [name, description, load] of nouns) {
    const noun = program.command(name).description(description);
    if (selected === name || selected === 'all') (await load()).declare(noun, run);
  }
  return program;
}

function createProgram({ streams, version }: PonteOptions): Command {
  const { stdout, stderr } = streams;
  return new Command('ponte')
    .description('Mobile banking middleware between a mobile app and a banking provider')
    .version(version)
    .exitOverride()
    .configureHelp({ sortOptions: true })
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      outputError: (text, write) => write(describeUsageError(text)),
      getOutHelpWidth: () => stdout.columns ?? 80,
      getErrHelpWidth: () => stderr.columns ?? 80,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .showHelpAfterError('Add --help for the usage.')
    .helpCommand('help [command...]', 'show the help of a command')
    .addHelpText('after', exampleText);
}

/** Commander's words for a wrong argument are those of its own code. */
function describeUsageError(text: string): string {
  return text
    .replace(/^error: /, 'ponte: ')
    .replace(
      /command-argument value ('.*?') is invalid for argument '(.*?)'\./,
      '$1 is no valid <$2>.',
    );
}

const exampleText = `
Examples:
  ponte serve
  ponte user list --json
  ponte help user create`;

/**
 * Replaces the word `help` by the option: `help pix list` becomes `pix list --help`. Commander's
 * own help command reads one word only, and accepts an unknown one silently.
 */
function replaceHelpWord(program: Command, argv: readonly string[]): readonly string[] {
  const at = argv.indexOf('help');
  const group = findCommand(program, argv.slice(0, Math.max(at, 0)));
  // After a command without subcommands, `help` is an argument.
  if (at === -1 || group.depth < at || group.command.commands.length === 0) return argv;
  const words = argv.toSpliced(at, 1);
  const { command, depth } = findCommand(program, words);
  const unknown = command.commands.length > 0 ? words[depth] : undefined;
  return [...words.slice(0, depth), unknown ?? '--help'];
}

/** @returns the command that the first words name, and the number of these words. */
function findCommand(program: Command, words: readonly string[]) {
  let command = program;
  for (const [depth, word] of words.entries()) {
    const next = command.commands.find((one) => one.name() === word);
    if (!next) return { command, depth };
    command = next;
  }
  return { command, depth: words.length };
}
