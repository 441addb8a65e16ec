import { Option, type Command } from 'commander';
import {
  examples,
  integer,
  jsonOption,
  limitOption,
  userReference,
  byOption,
  yesOption,
} from '../declare.ts';
import type { Describe, Frame } from '../frame.ts';

/** `user …`: the people who log in. */
export const describeUser: Describe = ({ program, action }) => {
  const user = program
    .command('user')
    .description('users of the app')
    .addHelpText('after', examples('ponte user list', 'ponte user disable maria@example.com'));
  describeCreate(user, action);
  describeList(user, action);
  describeChanges(user, action);
};

function describeCreate(user: Command, action: Frame['action']): void {
  user
    .command('create')
    .description('make a user, by the rules of a registration; asks for the password')
    .requiredOption('--name <text>', 'full name; required')
    .requiredOption('--email <address>', 'e-mail address; required')
    .requiredOption('--document <number>', 'CPF; required')
    .requiredOption('--phone <number>', 'phone; required, of Brazil unless it begins with +')
    .addOption(passwordStdinOption())
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText('after', createExample)
    .action(action(async () => (await import('../commands/user-create.ts')).userCreate));

  user
    .command('create-dev')
    .description(
      'make sure of the development user, from PROVIDER_EMAIL and PROVIDER_PASSWORD; only in local and test',
    )
    .addOption(jsonOption())
    .addHelpText('after', examples('ponte user create-dev'))
    .action(action(async () => (await import('../commands/user-create-dev.ts')).userCreateDev));
}

const createExample = `
Examples:
  ponte user create --name 'Maria da Silva' --email maria@example.com \\
    --document 111.444.777-35 --phone '(11) 98765-4321'
  ponte user create … --password-stdin < password.txt`;

function describeList(user: Command, action: Frame['action']): void {
  user
    .command('list')
    .description('list users, newest first')
    .addOption(new Option('--status <status>', 'only these').choices(['ACTIVE', 'DISABLED']))
    .option('--email <part>', 'only those whose e-mail has this in it')
    .option(
      '--before <id>',
      'only ids below this one, to see what comes next',
      integer(1, 2_147_483_647),
    )
    .addOption(limitOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('ponte user list --status DISABLED', 'ponte user list --json'))
    .action(action(async () => (await import('../commands/user-list.ts')).userList));
}

function describeChanges(user: Command, action: Frame['action']): void {
  user
    .command('disable')
    .description('shut a user out: no login, and every access token is refused at once')
    .argument('<user>', 'id or e-mail', userReference)
    .addOption(byOption())
    .addOption(yesOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('ponte user disable 42', 'ponte user disable 42 --yes'))
    .action(action(async () => (await import('../commands/user-status.ts')).userDisable));

  user
    .command('enable')
    .description('let a disabled user log in again')
    .argument('<user>', 'id or e-mail', userReference)
    .addOption(byOption())
    .addOption(yesOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('ponte user enable maria@example.com'))
    .action(action(async () => (await import('../commands/user-status.ts')).userEnable));

  user
    .command('reset-password')
    .description('set a new password, and log the user out; asks for it')
    .argument('<user>', 'id or e-mail', userReference)
    .addOption(passwordStdinOption())
    .addOption(byOption())
    .addOption(yesOption())
    .addOption(jsonOption())
    .addHelpText('after', resetExample)
    .action(action(async () => (await import('../commands/user-reset-password.ts')).resetPassword));
}

const resetExample = `
Examples:
  ponte user reset-password maria@example.com
  ponte user reset-password 42 --password-stdin --yes < password.txt`;

/** Among the arguments it would stand in the shell's history and in every list of processes. */
function passwordStdinOption(): Option {
  return new Option('--password-stdin', 'read the password from the first line of standard input');
}
