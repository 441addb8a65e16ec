/** `ponte user`: the users of the app. */
import type { DevLogin } from '../../src/operator/ensure-dev-user.ts';
import type { UserCreateInput, UserListInput, UserView } from '../../src/operator/users.ts';
import type { Context, Declare, PasswordOptions } from '../context.ts';
import { UsageError } from '../exit-codes.ts';
import {
  choice,
  examples,
  parseId,
  parseUser,
  passwordStdinOption,
  withChangeOptions,
  withJson,
  withListOptions,
  withReason,
  withBy,
  type ChangeOptions,
  type JsonOption,
  type ListOptions,
} from '../options.ts';
import { shortTime } from '../output.ts';
import type { Column } from '../table.ts';

export const declare: Declare = (noun, run) => {
  noun.addHelpText('after', examples('ponte user list', 'ponte user disable maria@example.com'));

  withReason(withBy(withJson(noun.command('create'))))
    .description('create a user, by the rules of a registration; asks for the password')
    .requiredOption('--name <text>', 'full name; required')
    .requiredOption('--email <address>', 'e-mail address; required')
    .requiredOption('--document <number>', 'CPF; required')
    .requiredOption('--phone <number>', 'phone; required; Brazilian unless it begins with +')
    .addOption(passwordStdinOption())
    .addHelpText('after', createExamples)
    .action(run(create));

  withReason(withBy(withJson(noun.command('create-dev'))))
    .description('create the development user of PROVIDER_EMAIL; only in local and test')
    .addHelpText('after', examples('ponte user create-dev'))
    .action(run(createDev));

  withListOptions(noun.command('list'))
    .description('list users, newest first')
    .addOption(choice('--status <status>', 'only this status', ['ACTIVE', 'DISABLED']))
    .option('--email <part>', 'only users whose e-mail contains this text')
    .option('--before <id>', 'only ids below this one: the next page', parseId)
    .addHelpText('after', examples('ponte user list --status DISABLED', 'ponte user list --json'))
    .action(run(list));

  withJson(noun.command('show'))
    .description('show a user: account, onboarding, session and open payments; numbers are masked')
    .argument('<user>', 'id or e-mail', parseUser)
    .addHelpText('after', examples('ponte user show maria@example.com'))
    .action(run(show));

  withReason(withChangeOptions(noun.command('disable')))
    .description('disable a user: logins and access tokens are refused at once')
    .argument('<user>', 'id or e-mail', parseUser)
    .addHelpText('after', examples('ponte user disable 42', 'ponte user disable 42 --yes'))
    .action(run(disable));

  withReason(withChangeOptions(noun.command('enable')))
    .description('let a disabled user log in again')
    .argument('<user>', 'id or e-mail', parseUser)
    .addHelpText('after', examples('ponte user enable maria@example.com'))
    .action(run(enable));

  withReason(withChangeOptions(noun.command('reset-password')))
    .description('set a new password and end the session; asks for the password')
    .argument('<user>', 'id or e-mail', parseUser)
    .addOption(passwordStdinOption())
    .addHelpText('after', resetExamples)
    .action(run(resetPassword));
};

const createExamples = `
Examples:
  ponte user create --name 'Maria da Silva' --email maria@example.com \\
    --document 529.982.247-25 --phone '(11) 98765-4321'
  ponte user create … --password-stdin < password.txt`;

const resetExamples = `
Examples:
  ponte user reset-password maria@example.com
  ponte user reset-password 42 --password-stdin --yes < password.txt`;

type Person = Omit<UserCreateInput, 'password'>;

async function create(
  { call, newPassword, terminal }: Context,
  options: Person & PasswordOptions & JsonOption,
) {
  const { newPasswordError, readPerson } = await import('../../src/domain/person.ts');
  const { name, email, document, phone } = options;
  const person = { name, email, document, phone };
  const message = `Password of ${email}:`;
  const piped = options.passwordStdin
    ? await newPassword({ message, validate: () => null }, options)
    : null;
  // Every invalid option is reported before the password prompt.
  const anyPassword = piped ?? 'long enough';
  const form = { ...person, password: anyPassword, password_confirmation: anyPassword };
  const { errors } = readPerson(form);
  if (errors) {
    const lines = Object.entries(errors).flatMap(([field, texts]) =>
      texts.map(({ en }) => `${field === 'password' ? 'the password' : `--${field}`}: ${en}`),
    );
    throw new UsageError(...lines);
  }
  const validate = (typed: string) => newPasswordError(typed, email);
  const password = piped ?? (await newPassword({ message, validate }, options));
  const created = await call('user create', { ...person, password });
  terminal.result(created, options, `User ${created.id} (${created.email}) was created.`);
  terminal.note('To log in, the user needs the same e-mail and password at the provider.');
}

const devLoginSentences: Readonly<Record<DevLogin, (email: string) => string>> = {
  created: () => 'was created.',
  ready: () => 'exists already; its password is unchanged.',
  other_password: (email) =>
    `exists already, with another password: run \`ponte user reset-password ${email}\`.`,
  disabled: (email) => `exists already, but is disabled: run \`ponte user enable ${email}\`.`,
};

async function createDev({ call, config, terminal }: Context, options: JsonOption) {
  const { refuseDeployed } = await import('../../src/operator/ensure-dev-user.ts');
  const { appEnv, provider } = config();
  // Refuses before the database is opened: it could be the one of production.
  refuseDeployed(appEnv);
  const { email, password } = provider;
  const user = await call('user create-dev', { email, password });
  const sentence = devLoginSentences[user.login](user.email);
  terminal.result(user, options, `The development user ${user.email} ${sentence}`);
}

const columns: readonly Column<UserView>[] = [
  { head: 'ID', cell: ({ id }) => id, align: 'right', isWhole: true },
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'E-MAIL', cell: ({ email }) => email },
  { head: 'TYPE', cell: ({ personType }) => personType, isWhole: true },
  {
    head: 'STATUS',
    cell: ({ status }) => [status, status === 'DISABLED' ? 'red' : null],
    isWhole: true,
  },
  { head: 'LOGGED IN', cell: ({ loggedIn }) => loggedIn, isWhole: true },
  { head: 'CREATED', cell: ({ createdAt }) => shortTime(createdAt) },
];

async function list({ call, terminal }: Context, options: UserListInput & ListOptions) {
  const { json: _json, ...filter } = options;
  const { users } = await call('user list', filter);
  const more = `continue with --before ${users.at(-1)?.id}`;
  const none = 'There are no such users.';
  terminal.list({ name: 'users', columns, rows: users, none, more }, options);
}

async function show({ call, terminal }: Context, user: string, { json }: JsonOption) {
  const shown = await call('user show', { user });
  if (json) {
    terminal.json(shown);
    return;
  }
  const { accountStatus, accountProvider, agency, accountNumber, loggedInAt, tokenExpiresAt } =
    shown;
  const account = [accountStatus, agency, accountNumber, accountProvider].filter(Boolean);
  const until = tokenExpiresAt && `, the provider's token until ${shortTime(tokenExpiresAt)}`;
  terminal.details([
    ['user', shown.id],
    ['status', shown.status],
    ['name', shown.name],
    ['e-mail', shown.email],
    ['document', shown.document],
    ['phone', shown.phone],
    ['type', shown.personType],
    ['created', shortTime(shown.createdAt)],
    ['onboarding', shown.onboarding ?? 'none: the user has an account at the provider'],
    ['account', account.join(' ') || 'none yet: the provider names it at the login'],
    ['logged in', loggedInAt ? `since ${shortTime(loggedInAt)}${until ?? ''}` : 'no'],
    ['open payments', shown.openPayments],
  ]);
  terminal.print('', `See also  ponte pix list --user ${shown.id}`);
}

async function disable(
  { call, confirm, terminal }: Context,
  reference: string,
  options: ChangeOptions,
) {
  const { id, email } = await call('user identify', { user: reference });
  await confirm(`Disable user ${id} (${email})?`, options);
  const user = await call('user disable', { user: String(id) });
  const sentence = `User ${id} (${email}) is disabled. ${sessionSentence(user)}`;
  terminal.result(user, options, sentence);
}

async function enable(
  { call, confirm, terminal }: Context,
  reference: string,
  options: ChangeOptions,
) {
  const { id, email } = await call('user identify', { user: reference });
  await confirm(`Enable user ${id} (${email})?`, options);
  const user = await call('user enable', { user: String(id) });
  terminal.result(user, options, `User ${id} (${email}) is active and can log in.`);
}

async function resetPassword(
  { call, confirm, newPassword, terminal }: Context,
  reference: string,
  options: ChangeOptions & PasswordOptions,
) {
  const { passwordError } = await import('../../src/domain/person.ts');
  const { id, email } = await call('user identify', { user: reference });
  await confirm(`Set a new password for user ${id} (${email}) and end the session?`, options);
  const question = { message: `New password of ${email}:`, validate: passwordError };
  const password = await newPassword(question, options);
  const reset = await call('user reset-password', { user: String(id), password });
  const sentence = `User ${id} (${email}) has a new password. ${sessionSentence(reset)}`;
  terminal.result(reset, options, sentence);
  terminal.note('The provider checks the password at login too: change it there as well.');
}

function sessionSentence({ endedSession }: { readonly endedSession: boolean }): string {
  return endedSession ? 'The session was ended.' : 'No session was active.';
}
