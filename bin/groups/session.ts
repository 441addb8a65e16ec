import { InvalidArgumentError } from 'commander';
import {
  examples,
  isUserReference,
  jsonOption,
  limitOption,
  byOption,
  yesOption,
} from '../declare.ts';
import type { Describe } from '../frame.ts';

/** `session …`: who is logged in. */
export const describeSession: Describe = ({ program, action }) => {
  const session = program
    .command('session')
    .description('banking sessions: who is logged in')
    .addHelpText('after', examples('ponte session list', 'ponte session revoke maria@example.com'));

  session
    .command('list')
    .description('list active sessions, the last login first')
    .option('--user <user>', "only this one's: id or e-mail")
    .addOption(limitOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('ponte session list --user maria@example.com'))
    .action(action(async () => (await import('../commands/session-list.ts')).sessionList));

  session
    .command('revoke')
    .description('log somebody out: every access token of the session is refused at once')
    .argument('<session>', 'id of a session, or id or e-mail of a user', sessionReference)
    .addOption(byOption())
    .addOption(yesOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('ponte session revoke maria@example.com --yes'))
    .action(action(async () => (await import('../commands/session-revoke.ts')).sessionRevoke));
};

/** The id of a session, or who has it. */
function sessionReference(text: string): string {
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) || isUserReference(text)) {
    return text;
  }
  throw new InvalidArgumentError('It must be the id of a session, or the id or e-mail of a user.');
}
