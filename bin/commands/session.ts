/** `ponte session`: the banking sessions of logged-in users. */
import { InvalidArgumentError } from 'commander';
import { isUuid } from '../../src/domain/text.ts';
import type { SessionListInput, SessionView } from '../../src/operator/sessions.ts';
import type { Context, Declare } from '../context.ts';
import {
  examples,
  parseUser,
  withChangeOptions,
  withListOptions,
  withReason,
  type ChangeOptions,
  type ListOptions,
} from '../options.ts';
import { shortTime } from '../output.ts';
import type { Column } from '../table.ts';

export const declare: Declare = (noun, run) => {
  noun.addHelpText(
    'after',
    examples('ponte session list', 'ponte session revoke maria@example.com'),
  );

  withListOptions(noun.command('list'))
    .description('list active sessions, newest login first')
    .option('--user <user>', 'only of this user: id or e-mail', parseUser)
    .addHelpText('after', examples('ponte session list --user maria@example.com'))
    .action(run(list));

  withReason(withChangeOptions(noun.command('revoke')))
    .description('end a session: its access tokens are refused at once')
    .argument('<session>', 'id of a session, or id or e-mail of a user', parseSession)
    .addHelpText('after', examples('ponte session revoke maria@example.com --yes'))
    .action(run(revoke));
};

function parseSession(typed: string): string {
  const text = typed.trim();
  try {
    return isUuid(text) ? text : parseUser(text);
  } catch {
    throw new InvalidArgumentError(
      'It must be the id of a session, or the id or e-mail of a user.',
    );
  }
}

const columns: readonly Column<SessionView>[] = [
  { head: 'SESSION', cell: ({ id }) => id, isWhole: true },
  { head: 'USER', cell: ({ userId }) => userId, align: 'right', isWhole: true },
  { head: 'E-MAIL', cell: ({ email }) => email },
  { head: 'SINCE', cell: ({ since }) => shortTime(since) },
  { head: 'LAST LOGIN', cell: ({ renewedAt }) => shortTime(renewedAt) },
  {
    head: 'TOKEN UNTIL',
    cell: ({ tokenExpiresAt, expired }) => [shortTime(tokenExpiresAt), expired ? 'dim' : null],
  },
];

async function list({ call, terminal }: Context, options: SessionListInput & ListOptions) {
  const { json: _json, ...filter } = options;
  const { sessions } = await call('session list', filter);
  const none = 'There are no active sessions.';
  terminal.list({ name: 'sessions', columns, rows: sessions, none }, options);
}

async function revoke({ call, confirm, terminal }: Context, of: string, options: ChangeOptions) {
  await call('session revoke', { of, onlyCheck: true });
  await confirm(`End the session of ${of}? The app is logged out at once.`, options);
  const revoked = await call('session revoke', { of });
  const sentence = `Session ${revoked.id} of user ${revoked.userId} was ended.`;
  terminal.result(revoked, options, sentence);
}
