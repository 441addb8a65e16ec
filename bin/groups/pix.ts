import { Option, type Command } from 'commander';
import {
  durationMs,
  examples,
  integer,
  jsonOption,
  limitOption,
  byOption,
  yesOption,
} from '../declare.ts';
import type { Describe, Frame } from '../frame.ts';

const aTransaction = '01a1fc38-f5e5-7517-8ecb-a7d299a5dbba';

/** `pix …`: payments and charges. */
export const describePix: Describe = (frame) => {
  const pix = frame.program
    .command('pix')
    .description('payments and charges')
    .addHelpText('after', examples('ponte pix list --stuck', 'ponte pix audit'));
  describeList(pix, frame);
  describeShow(pix, frame);
  describeResolve(pix, frame);
};

function describeList(pix: Command, { action }: Frame): void {
  pix
    .command('list')
    .description('list transactions, newest first')
    .addOption(new Option('--user <id>', 'only of this user').argParser(integer(1, 2_147_483_647)))
    .addOption(
      new Option('--status <status>', 'only of this status').choices([
        ...['PROCESSING', 'COMPLETED', 'FAILED'],
      ]),
    )
    .addOption(
      new Option('--phase <phase>', 'only in this phase').choices([
        ...['RESERVED', 'RESOLVED', 'PAYING', 'ACCEPTED', 'REJECTED', 'UNKNOWN', 'SETTLED'],
      ]),
    )
    .addOption(
      new Option('--older-than <duration>', 'only what was made longer ago, such as 10m').argParser(
        durationMs,
      ),
    )
    .option('--stuck', 'only sends that have left and that nobody here moves on, oldest first')
    .addOption(limitOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('ponte pix list --stuck', 'ponte pix list --user 7 --limit 5'))
    .action(action(async () => (await import('../commands/pix-list.ts')).pixList));
}

function describeShow(pix: Command, { action }: Frame): void {
  pix
    .command('show')
    .description('show a transaction with its timeline, what it waits for and what can be done')
    .argument('<id>', 'the transaction')
    .addOption(jsonOption())
    .addHelpText('after', examples(`ponte pix show ${aTransaction}`))
    .action(action(async () => (await import('../commands/pix-show.ts')).pixShow));

  pix
    .command('audit')
    .description('hold the rules of money against every row; exit 1 if one is broken')
    .addOption(jsonOption())
    .addHelpText('after', examples('ponte pix audit --json'))
    .action(action(async () => (await import('../commands/pix-audit.ts')).pixAudit));
}

function describeResolve(pix: Command, { action }: Frame): void {
  pix
    .command('resolve')
    .description('write down how a payment that the provider leaves open has ended; no money moves')
    .argument('<id>', 'the transaction')
    .addOption(
      new Option('--as <end>', 'how it ended; required')
        .choices(['completed', 'failed'])
        .makeOptionMandatory(),
    )
    .requiredOption('--reason <text>', 'why; required; it stays in the timeline, so name no person')
    .option('--confirm <words>', "with --as failed and --yes: 'money may have moved'")
    .addOption(byOption())
    .addOption(yesOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(`ponte pix resolve ${aTransaction} --as completed --reason 'ticket 7'`),
    )
    .action(action(async () => (await import('../commands/pix-resolve.ts')).pixResolve));
}
