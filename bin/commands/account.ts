/** `ponte account`: who may send, charge and manage Pix keys. */
import type { Command } from 'commander';
import type { Context, Declare } from '../context.ts';
import { examples, parseUser, withChangeOptions, type ChangeOptions } from '../options.ts';

export const declare: Declare = (noun, run) => {
  noun.addHelpText('after', examples("ponte account block 42 --reason 'ticket 7'"));

  withDecisionOptions(noun.command('block'))
    .description('block an active account: it can be read, but cannot send, charge or manage keys')
    .addHelpText('after', examples("ponte account block maria@example.com --reason 'ticket 7'"))
    .action(run(block));

  withDecisionOptions(noun.command('unblock'))
    .description('let a blocked account send, charge and manage keys again')
    .addHelpText('after', examples("ponte account unblock 42 --reason 'ticket 8' --yes"))
    .action(run(unblock));
};

function withDecisionOptions(command: Command): Command {
  return withChangeOptions(command)
    .argument('<user>', 'id or e-mail', parseUser)
    .requiredOption('--reason <text>', 'why; required; it is logged: no personal data');
}

interface DecisionOptions extends ChangeOptions {
  readonly reason: string;
}

async function block(
  { call, confirm, terminal }: Context,
  reference: string,
  options: DecisionOptions,
) {
  const { id, email } = await call('user identify', { user: reference });
  await confirm(`Block the account of user ${id} (${email})?`, options);
  const account = await call('account block', { user: String(id), reason: options.reason });
  const sentence = `The account of user ${id} (${email}) is blocked; it can still be read.`;
  const late = 'A send that was being claimed may still be paid, for some seconds.';
  terminal.result(account, options, sentence, ...(account.isComplete ? [] : [late]));
}

async function unblock(
  { call, confirm, terminal }: Context,
  reference: string,
  options: DecisionOptions,
) {
  const { id, email } = await call('user identify', { user: reference });
  await confirm(`Unblock the account of user ${id} (${email})?`, options);
  const account = await call('account unblock', { user: String(id), reason: options.reason });
  terminal.result(account, options, `The account of user ${id} (${email}) is active again.`);
}
