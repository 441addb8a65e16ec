import { Option, type Command } from 'commander';
import { examples, jsonOption, limitOption, byOption, yesOption } from '../declare.ts';
import { moment } from '../moments.ts';
import type { Describe, Frame } from '../frame.ts';

const anEvent = '01a1fc38-fc2d-7eba-936b-45241b905603';

/** The options that say which events. */
function withFilter(command: Command): Command {
  return command
    .addOption(
      new Option('--state <state>', 'only of this state').choices([
        ...['received', 'processed', 'ignored', 'parked', 'orphaned', 'anomaly'],
      ]),
    )
    .addOption(
      new Option(
        '--since <time>',
        'received since: how long ago, such as 2h, or a time in UTC',
      ).argParser(moment),
    )
    .addOption(
      new Option(
        '--until <time>',
        'received until: as --since; a day alone is its start',
      ).argParser(moment),
    )
    .option('--transaction <id>', 'told of this transaction, or waiting for it');
}

/** `webhook …`: what the provider has told. */
export const describeWebhook: Describe = (frame) => {
  const { program, action } = frame;
  const webhook = program
    .command('webhook')
    .description("the provider's events")
    .addHelpText('after', examples('ponte webhook list --state anomaly'));

  withFilter(webhook.command('list'))
    .description('list events, newest first, and what became of them')
    .option('--event <id>', 'only this one')
    .addOption(limitOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('ponte webhook list --state parked --since 2h'))
    .action(action(async () => (await import('../commands/webhook-list.ts')).webhookList));

  webhook
    .command('show')
    .description('show an event: its items, its job, and its payload with personal data hidden')
    .argument('<id>', 'the event')
    .option('--raw', 'show the payload as it came, personal data and all')
    .addOption(jsonOption())
    .addHelpText('after', examples(`ponte webhook show ${anEvent}`))
    .action(action(async () => (await import('../commands/webhook-show.ts')).webhookShow));

  withFilter(webhook.command('replay'))
    .description('settle stored events once more, oldest first')
    .argument('[ids...]', 'events, by their ids')
    .option('--dry-run', 'show item by item what would change, and change nothing')
    .option('--after <place>', 'go on where an earlier replay has come to')
    .addOption(byOption())
    .addOption(yesOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        `ponte webhook replay ${anEvent} --dry-run`,
        'ponte webhook replay --state orphaned --since 7d',
      ),
    )
    .action(action(async () => (await import('../commands/webhook-replay.ts')).webhookReplay));

  describeSend(webhook, frame);
};

function describeSend(webhook: Command, { action }: Frame): void {
  webhook
    .command('send')
    .description('post a webhook to a service as the provider would; not in production')
    .option('--transaction <id>', 'tell of this transaction; or give --file')
    .addOption(
      new Option('--status <status>', 'how it ended')
        .choices(['COMPLETED', 'FAILED'])
        .default('COMPLETED'),
    )
    .addOption(
      new Option('--shape <shape>', "which of the providers' shapes")
        .choices(['flat', 'entity', 'request-body', 'movement', 'bacen'])
        .default('flat'),
    )
    .option('--file <path>', 'post what this file holds, as it is; or give --transaction')
    .option('--url <address>', 'where to; otherwise the service of HOST and PORT')
    .option('--secret-stdin', 'read X-Webhook-Secret from standard input, not from WEBHOOK_SECRET')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples('ponte webhook send --transaction 01a1fc38-f5e5-7517-8ecb-a7d299a5dbba'),
    )
    .action(action(async () => (await import('../commands/webhook-send.ts')).webhookSend));
}
