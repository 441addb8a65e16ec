/** `ponte webhook`: the events of the provider. */
import { readFile } from 'node:fs/promises';
import { Option, type Command } from 'commander';
import { OpError } from '../../src/operator/op.ts';
import type { Accepted } from '../../src/operator/accept.ts';
import type { EventView, WebhookFilter, WebhookShown } from '../../src/operator/webhooks.ts';
import type { ReplayedEvent, WebhookReplay } from '../../src/operator/webhook-replay.ts';
import type { WebhookComposeInput } from '../../src/operator/webhook-send.ts';
import type { Context, Declare } from '../context.ts';
import { exitCodes, UsageError, type ExitCode } from '../exit-codes.ts';
import {
  choice,
  examples,
  parseAnyId,
  parseAnyIds,
  parseTime,
  resolvePeriod,
  withChangeOptions,
  withJson,
  withListOptions,
  withReason,
  type ChangeOptions,
  type JsonOption,
  type ListOptions,
  type TypedPeriod,
} from '../options.ts';
import { createProgressBar, shortTime, type Terminal } from '../output.ts';
import { errorCode, post, readRefusal } from '../post.ts';
import { plainText, type Column } from '../table.ts';

const exampleId = '01a1fc38-fc2d-7eba-936b-45241b905603';

export const declare: Declare = (noun, run) => {
  noun.addHelpText('after', examples('ponte webhook list --state anomaly'));

  withFilter(withListOptions(noun.command('list')))
    .description('list events, newest first, and what became of them')
    .option('--event <id>', 'only this event', parseAnyId)
    .addHelpText('after', examples('ponte webhook list --state parked --since 2h'))
    .action(run(list));

  withJson(noun.command('show'))
    .description('show an event: its items, its job, and its payload with personal data hidden')
    .argument('<id>', 'id of the event', parseAnyId)
    .option('--raw', 'show the payload unchanged, with personal data')
    .addHelpText('after', examples(`ponte webhook show ${exampleId}`))
    .action(run(show));

  withFilter(withReason(withChangeOptions(noun.command('replay'))))
    .description('settle stored events again, oldest first')
    .argument('[ids...]', 'ids of events', parseAnyIds)
    .option('--dry-run', 'show what would change, item by item, and change nothing')
    .option('--after <cursor>', 'continue an earlier replay from the cursor that it printed')
    .addHelpText(
      'after',
      examples(
        `ponte webhook replay ${exampleId} --dry-run`,
        'ponte webhook replay --state orphaned --since 7d',
      ),
    )
    .action(run(replay));

  withChangeOptions(noun.command('accept'))
    .description('close anomalies and orphaned events that are explained; no payment changes')
    .argument('<ids...>', 'ids of events', parseAnyIds)
    .requiredOption('--reason <text>', 'why; required; it is recorded: no personal data')
    .addHelpText('after', examples(`ponte webhook accept ${exampleId} --reason 'ticket 7'`))
    .action(run(accept));

  withJson(noun.command('send'))
    .description('post a webhook to a service, as the provider would; not in production')
    .option('--transaction <id>', 'compose the webhook of this transaction; or give --file')
    .addOption(
      new Option('--status <status>', 'how the transaction ended')
        .choices(['COMPLETED', 'FAILED'])
        .default('COMPLETED')
        .conflicts(['refund', 'file']),
    )
    .addOption(
      new Option('--shape <shape>', 'format of the payload')
        .choices(['flat', 'entity', 'request-body', 'movement', 'bacen'])
        .default('flat')
        .conflicts(['refund', 'file']),
    )
    .addOption(
      new Option(
        '--refund <amount>',
        'report a refund of this amount in reais instead, such as 5.00',
      ).conflicts('file'),
    )
    .option('--file <path>', 'post the content of this file unchanged; or give --transaction')
    .option('--url <address>', 'address to post to (default: the service of HOST and PORT)')
    .option('--secret-stdin', 'read X-Webhook-Secret from standard input, not from WEBHOOK_SECRET')
    .addHelpText(
      'after',
      examples('ponte webhook send --transaction 01a1fc38-f5e5-7517-8ecb-a7d299a5dbba'),
    )
    .action(run(send));
};

interface FilterOptions extends TypedPeriod {
  readonly state?: EventView['state'];
  readonly transaction?: string;
}

function withFilter(command: Command): Command {
  return command
    .addOption(
      choice('--state <state>', 'only this state', [
        'received',
        'processed',
        'ignored',
        'parked',
        'orphaned',
        'anomaly',
      ]),
    )
    .option('--since <time>', 'received since this time in UTC, or an age such as 2h', parseTime)
    .option('--until <time>', 'received until this time; a day alone is its start', parseTime)
    .option('--transaction <id>', 'only about the transaction with this id of any kind');
}

function readFilter(options: FilterOptions, { clock }: Context): WebhookFilter {
  const { state, transaction } = options;
  return {
    ...(state !== undefined && { state }),
    ...resolvePeriod(options, clock),
    ...(transaction !== undefined && { transactionId: transaction }),
  };
}

const stateColours = {
  received: null,
  processed: 'green',
  ignored: 'dim',
  parked: 'yellow',
  orphaned: 'red',
  anomaly: 'red',
} as const;

const columns: readonly Column<EventView>[] = [
  { head: 'ID', cell: ({ id }) => id, isWhole: true },
  { head: 'STATE', cell: ({ state }) => [state, stateColours[state]] },
  { head: 'RECEIVED', cell: ({ receivedAt }) => shortTime(receivedAt) },
  { head: 'PROCESSED', cell: ({ processedAt }) => shortTime(processedAt) },
  { head: 'BYTES', cell: ({ payloadBytes }) => payloadBytes ?? 'purged', align: 'right' },
  { head: 'ITEMS', cell: ({ outcomes }) => formatCounts(outcomes) },
  { head: 'NEXT', cell: ({ dueAt }) => shortTime(dueAt) },
  { head: 'LAST ERROR', cell: ({ lastError }) => lastError },
];

/** Formats counts by name, such as `2 applied, 1 ignored`. */
function formatCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

async function list(
  context: Context,
  options: FilterOptions & ListOptions & { readonly event?: string },
) {
  const { event, limit } = options;
  const { events } = await context.call('webhook list', {
    ...readFilter(options, context),
    ...(event !== undefined && { eventIds: [event] }),
    limit,
  });
  const none = 'There are no such events.';
  context.terminal.list({ name: 'events', columns, rows: events, none }, options);
}

async function show(
  { call, terminal }: Context,
  id: string,
  { raw = false, json = false }: JsonOption & { readonly raw?: boolean },
) {
  const shown = await call('webhook show', { id, raw });
  if (raw) terminal.note('The payload may contain personal data: keep it confidential.');
  if (json) terminal.json(shown);
  else printEvent(shown, terminal);
}

const itemColumns: readonly Column<WebhookShown['items'][number]>[] = [
  { head: 'ITEM', cell: ({ index }) => index, align: 'right' },
  { head: 'RESULT', cell: ({ result }) => result },
  { head: 'REASON', cell: ({ reason }) => reason },
  { head: 'TRANSACTION', cell: ({ transactionId }) => transactionId, isWhole: true },
];

function printEvent(shown: WebhookShown, terminal: Terminal): void {
  const { event, items, waitsFor, payload } = shown;
  terminal.details([
    ['event', event.id],
    ['state', event.state],
    ['received', shortTime(event.receivedAt)],
    ['processed', shortTime(event.processedAt)],
    ['items', formatCounts(event.outcomes)],
    ['waits for', waitsFor.join(', ')],
    ['next attempt', shortTime(event.dueAt)],
    ['failures', event.failures ?? ''],
    ['last error', event.lastError ?? ''],
  ]);
  terminal.print('');
  terminal.table({ columns: itemColumns, rows: items, none: 'The event is not processed yet.' });
  for (const says of new Set(items.flatMap((item) => item.says ?? []))) terminal.print('', says);
  terminal.print('', formatPayload(payload, terminal.streams.stdout.isTTY === true));
}

/** On a terminal, control characters of a raw payload become spaces. */
function formatPayload(payload: unknown, isTerminal: boolean): string {
  if (payload === null) return 'The payload is deleted, because of its age.';
  if (typeof payload !== 'string') return JSON.stringify(payload, null, 2);
  return isTerminal ? payload.replaceAll(/(?![\n\t])[\p{Cc}\p{Bidi_C}]/gu, ' ') : payload;
}

interface ReplayOptions extends FilterOptions, ChangeOptions {
  readonly dryRun?: boolean;
  readonly after?: string;
}

/** Events of one call: few, so that Ctrl-C takes effect quickly. */
const pageSize = 20;

/** Events listed in the JSON document; all are counted. */
const maxListed = 1_000;

/** Exit 1 when an event is missing, is excluded by the filter, or cannot be replayed. */
async function replay(context: Context, ids: readonly string[], options: ReplayOptions) {
  const { call, terminal } = context;
  const { dryRun = false, after } = options;
  const filter = { ...readFilter(options, context), ...(ids.length > 0 && { eventIds: ids }) };
  if (Object.keys(filter).length === 0) {
    throw new UsageError('give event ids or a filter, such as --state parked');
  }
  const start = { ...filter, ...(after !== undefined && { after }) };
  const count = await call('webhook replay', { ...start, dryRun: true, counting: true, limit: 1 });
  const total = count.total ?? 0;
  if (!dryRun) {
    await context.confirm(`Settle ${total} ${total === 1 ? 'event' : 'events'} again?`, options);
  }
  const summary: ReplaySummary = { results: {}, outcomes: {}, events: [], isCut: false };
  const isInterrupted = await replayPages(context, {
    total,
    after,
    replayPage: (cursor) =>
      call('webhook replay', {
        ...filter,
        dryRun,
        limit: pageSize,
        ...(cursor !== undefined && { after: cursor }),
      }),
    onPage(events) {
      addEvents(summary, events);
      if (!options.json) terminal.print(...events.flatMap(replayLines));
    },
  });
  const { results, outcomes } = summary;
  const items = formatCounts(outcomes) || 'none';
  const sentence = `${formatCounts(results) || 'No events'}; items: ${items}.`;
  const note = dryRun ? ' Nothing was changed.' : '';
  terminal.result({ dryRun, ...summary }, options, sentence + note);
  if (isInterrupted) return exitCodes.interrupted;
  const isClean = Object.keys(results).every((one) => one === 'replayed' || one === 'preview');
  return isClean ? exitCodes.ok : exitCodes.failed;
}

interface ReplayPages {
  readonly total: number;
  /** Where to start; undefined: at the oldest event. */
  readonly after: string | undefined;
  readonly replayPage: (cursor: string | undefined) => Promise<WebhookReplay>;
  readonly onPage: (events: readonly ReplayedEvent[]) => void;
}

/** @returns whether Ctrl-C stopped it; however it ends early, it prints how to continue. */
async function replayPages({ terminal }: Context, pages: ReplayPages): Promise<boolean> {
  const bar = await createProgressBar(terminal.streams);
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  process.once('SIGINT', interrupt);
  let cursor: string | null | undefined = pages.after;
  let done = 0;
  try {
    do {
      const page: WebhookReplay = await pages.replayPage(cursor);
      pages.onPage(page.events);
      cursor = page.next;
      done += page.events.length;
      bar.update(done, Math.max(pages.total, done));
    } while (cursor !== null && !interrupted.signal.aborted);
  } finally {
    process.off('SIGINT', interrupt);
    bar.stop();
    if (typeof cursor === 'string') terminal.note(`Continue with --after ${cursor}`);
  }
  return cursor !== null;
}

/** An event without a change is only counted. */
function replayLines({ eventId, result, from, to, items }: ReplayedEvent): string[] {
  const isDone = result === 'replayed' || result === 'preview';
  if (isDone && from === to && items.length === 0) return [];
  const problem = result === 'excluded' ? 'excluded by the filter' : result;
  return [
    `${eventId}  ${isDone ? `${from} → ${to}` : problem}`,
    ...items.map((item) => {
      const isMoved = 'to' in item && item.from !== item.to;
      const change = isMoved ? `${item.from ?? 'new'} → ${item.to}` : '';
      const words = [item.result, item.reason, item.transactionId, change];
      return `  item ${item.index}  ${words.filter(Boolean).map(plainText).join('  ')}`;
    }),
  ];
}

type Counts = Record<string, number>;

interface ReplaySummary {
  readonly results: Counts;
  readonly outcomes: Counts;
  /** The first events. */
  readonly events: ReplayedEvent[];
  isCut: boolean;
}

function addEvents(summary: ReplaySummary, events: readonly ReplayedEvent[]): void {
  for (const { result, outcomes } of events) {
    addCount(summary.results, result, 1);
    for (const [name, items] of Object.entries(outcomes)) addCount(summary.outcomes, name, items);
  }
  const free = maxListed - summary.events.length;
  summary.events.push(...events.slice(0, free));
  summary.isCut ||= events.length > free;
}

function addCount(counts: Counts, name: string, count: number): void {
  counts[name] = (counts[name] ?? 0) + count;
}

/** Exit 1 when one of the events is not open. */
async function accept(
  { call, confirm, terminal }: Context,
  ids: readonly string[],
  options: ChangeOptions & { readonly reason: string },
): Promise<ExitCode> {
  await confirm(
    `Close ${ids.length === 1 ? 'the event' : 'the events'} ${ids.join(', ')}?`,
    options,
  );
  const result: Accepted = await call('webhook accept', { ids, reason: options.reason });
  const { accepted, notOpen } = result;
  const closed = accepted.length === 1 ? '1 event is' : `${accepted.length} events are`;
  const lines = notOpen.map((id) => `There is no anomaly and no orphaned event ${id}.`);
  terminal.result(result, options, `${closed} closed.`, ...lines);
  return notOpen.length === 0 ? exitCodes.ok : exitCodes.failed;
}

interface SendOptions extends Pick<WebhookComposeInput, 'status' | 'shape' | 'refund'>, JsonOption {
  readonly transaction?: string;
  readonly file?: string;
  readonly url?: string;
  readonly secretStdin?: boolean;
}

/** Exit 1 when the service refuses the webhook, 3 when it cannot be reached. */
async function send(context: Context, options: SendOptions) {
  const { transaction, file, secretStdin = false } = options;
  if ((transaction === undefined) === (file === undefined)) {
    throw new UsageError('give either --transaction or --file');
  }
  const { appEnv, webhookSecrets } = context.config();
  if (appEnv === 'production') {
    throw new OpError('REFUSED', 'in production only the provider sends webhooks');
  }
  const { url, isConfigured } = context.serviceUrl(options.url, '/api/v1/webhooks/provider');
  let secret = isConfigured ? webhookSecrets[0] : undefined;
  if (secretStdin) {
    const { readSecretLine } = await import('../prompts.ts');
    secret = await readSecretLine(context.terminal.streams);
  } else if (!isConfigured) {
    context.terminal.note('No secret is sent to this address: give it with --secret-stdin.');
  }
  const payload = await readPayload(context, options);
  const secretHeader = secret === undefined ? {} : { 'x-webhook-secret': secret };
  const headers = { 'content-type': 'application/json', ...secretHeader };
  const response = await post(context, { url, headers, body: payload });
  const { status, body } = response;
  const isStored = status === 200;
  const refusal = `The service refused the webhook (${status}): ${plainText(readRefusal(body))}`;
  const sentence = isStored ? 'The service has stored the webhook.' : refusal;
  context.terminal.result({ url: url.href, ...response }, options, sentence);
  return isStored ? exitCodes.ok : exitCodes.failed;
}

async function readPayload({ call }: Context, options: SendOptions): Promise<Buffer> {
  const { transaction: transactionId, file = '', status, shape, refund } = options;
  if (transactionId !== undefined) {
    const { payload } = await call('webhook send', {
      transactionId,
      status,
      shape,
      ...(refund !== undefined && { refund }),
    });
    return Buffer.from(JSON.stringify(payload));
  }
  try {
    return await readFile(file);
  } catch (error) {
    throw new UsageError(`the file of --file cannot be read${errorCode(error)}`);
  }
}
