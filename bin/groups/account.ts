import { examples, jsonOption, userReference, byOption, yesOption } from '../declare.ts';
import type { Describe } from '../frame.ts';

/** `account …`: the accounts of users. */
export const describeAccount: Describe = ({ program, action }) => {
  const account = program
    .command('account')
    .description('accounts: who may send, charge and manage PIX keys')
    .addHelpText('after', examples("ponte account block 42 --reason 'ticket 7'"));

  account
    .command('block')
    .description('keep an active account from sending, charging and managing keys; reads stay open')
    .argument('<user>', 'id or e-mail', userReference)
    .requiredOption('--reason <text>', 'why; required; it is logged, so name no person')
    .addOption(byOption())
    .addOption(yesOption())
    .addOption(jsonOption())
    .addHelpText('after', examples("ponte account block maria@example.com --reason 'ticket 7'"))
    .action(action(async () => (await import('../commands/account-status.ts')).accountBlock));

  account
    .command('unblock')
    .description('let a blocked account send, charge and manage keys again')
    .argument('<user>', 'id or e-mail', userReference)
    .requiredOption('--reason <text>', 'why; required; it is logged, so name no person')
    .addOption(byOption())
    .addOption(yesOption())
    .addOption(jsonOption())
    .addHelpText('after', examples("ponte account unblock 42 --reason 'ticket 8' --yes"))
    .action(action(async () => (await import('../commands/account-status.ts')).accountUnblock));
};
