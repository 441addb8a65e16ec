import { examples, jsonOption, limitOption, userReference } from '../declare.ts';
import type { Describe } from '../frame.ts';

/** `audit …`: what operators have changed. */
export const describeAudit: Describe = ({ program, action }) => {
  const audit = program
    .command('audit')
    .description('what operators have changed, and who has logged in')
    .addHelpText('after', examples('ponte audit list', 'ponte audit list --target user:42'));

  audit
    .command('list')
    .description('list the actions of operators, newest first: who, when, what and why')
    .option('--operator <name>', 'only those of this operator: a part of the name')
    .option('--target <target>', 'only those about this one, such as user:42 or pix:<id>')
    .addOption(limitOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('ponte audit list --operator maria --limit 20'))
    .action(action(async () => (await import('../commands/audit-list.ts')).auditList));

  audit
    .command('events')
    .description('list logins, refused logins, resets and revocations, newest first')
    .option('--user <user>', 'only those of this user: id or e-mail', userReference)
    .addOption(limitOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('ponte audit events --user maria@example.com'))
    .action(action(async () => (await import('../commands/audit-events.ts')).auditEvents));
};
