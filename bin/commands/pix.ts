/** `ponte pix`: payments and charges. */
import { Option } from 'commander';
import type { InvariantResult } from '../../src/operator/pix-audit.ts';
import type { PixListInput } from '../../src/operator/pix-list.ts';
import type { DisputeView, OpenDisputeView } from '../../src/operator/pix-disputes.ts';
import type { PayeeView, PixShown, TimelineView } from '../../src/operator/pix-show.ts';
import type { PixView } from '../../src/operator/pix-view.ts';
import { parseAmount } from '../amount.ts';
import type { Context, Declare } from '../context.ts';
import { exitCodes, UsageError, type ExitCode } from '../exit-codes.ts';
import { declarePause } from '../pix-pause.ts';
import {
  choice,
  examples,
  parseDuration,
  parseId,
  parseTime,
  parseUser,
  resolvePeriod,
  withChangeOptions,
  withJson,
  withListOptions,
  type ChangeOptions,
  type JsonOption,
  type ListOptions,
  type TypedPeriod,
} from '../options.ts';
import { shortTime, type Terminal } from '../output.ts';
import type { Column } from '../table.ts';

const anyId = "id, end-to-end id, txid, provider's id or Idempotency-Key of the transaction";

const exampleId = '01a1fc38-f5e5-7517-8ecb-a7d299a5dbba';

export const declare: Declare = (noun, run) => {
  noun.addHelpText('after', examples('ponte pix list --stuck', 'ponte pix audit'));

  withListOptions(noun.command('list'))
    .description('list transactions, newest first')
    .option('--user <id>', 'only of this user', parseId)
    .option('--email <address>', 'only of the user with this e-mail', parseUser)
    .option('--amount <reais>', 'only of exactly this amount, such as 150.50', parseAmount)
    .option('--since <time>', 'only made since this time in UTC, or an age such as 2h', parseTime)
    .option('--until <time>', 'only made until this time; a day alone is its start', parseTime)
    .addOption(
      choice('--status <status>', 'only this status', ['PROCESSING', 'COMPLETED', 'FAILED']),
    )
    .addOption(
      choice('--phase <phase>', 'only this phase', [
        'RESERVED',
        'RESOLVED',
        'PAYING',
        'ACCEPTED',
        'REJECTED',
        'UNKNOWN',
        'SETTLED',
      ]),
    )
    .option('--older-than <duration>', 'only created longer ago, such as 10m', parseDuration)
    .option('--stuck', 'only sends that have left and that no process advances, oldest first')
    .option('--corrected', 'only what had failed and was paid, the last corrected first')
    .option(
      '--open-with-the-bank',
      'only sends and returns that are open 36 hours after their last attempt, oldest first',
    )
    .option('--file <file>', 'with --open-with-the-bank: write all of them as CSV for the bank')
    .addHelpText(
      'after',
      examples(
        'ponte pix list --stuck',
        'ponte pix list --email maria@example.com --amount 150.50 --since 1d',
        'ponte pix list --open-with-the-bank --file bank.csv',
      ),
    )
    .addHelpText('after', fileForBank)
    .action(run(list));

  withJson(noun.command('show'))
    .description('show a transaction, its timeline, what it waits for and what can be done')
    .argument('<id>', anyId)
    .addHelpText(
      'after',
      examples(`ponte pix show ${exampleId}`, 'ponte pix show E11165756202611210349AZI8BYWKo82'),
    )
    .action(run(show));

  withJson(noun.command('audit'))
    .description('check the money rules against every row; exit 1 when one is broken')
    .addHelpText('after', examples('ponte pix audit --json'))
    .action(run(audit));

  declareResolve(noun, run);
  declarePause(noun, run);
  declareDisputes(noun, run);
};

const fileForBank = `
The file has the end-to-end id, the request id, the amount, the time and the account of each order;
of a return, its return id. The bank fills the column outcome with completed or failed, and
ponte pix resolve --from takes the file back; lines without an outcome stay open.`;

const linesOfList = `
A line of --from, whose file is the confirmation of the bank:
  E11165756202611210349AZI8BYWKo82,completed
  {"id": "${exampleId}", "as": "failed"}`;

const declareResolve: Declare = (noun, run) => {
  withChangeOptions(noun.command('resolve'))
    .description('record how a payment ended that the provider leaves open; moves no money')
    .argument('[id]', `${anyId}; or --from`)
    .addOption(choice('--as <end>', 'how it ended; required with an id', ['completed', 'failed']))
    .option('--end-to-end <id>', 'with --as completed, for a send whose commits were lost')
    .addOption(
      new Option(
        '--from <file>',
        'a list that the bank has confirmed; its lines are below',
      ).conflicts(['endToEnd', 'overrule']),
    )
    .requiredOption('--reason <text>', 'why; required; it stays in the timeline: no personal data')
    .option(
      '--confirm <words>',
      "with --yes: 'money has moved' (--as completed), 'money may have moved' (failed)",
    )
    .option('--despite-statement', 'with --as failed: although the statement may show the payment')
    .addOption(
      new Option(
        '--overrule',
        'with --as failed: although it is COMPLETED; takes two persons',
      ).conflicts('endToEnd'),
    )
    .addHelpText(
      'after',
      examples(
        `ponte pix resolve ${exampleId} --as completed --reason 'ticket 7'`,
        "ponte pix resolve --from ends.csv --reason 'list of the bank, 2026-11-25'",
        `ponte pix resolve ${exampleId} --as failed --overrule --reason 'ticket 8'`,
      ),
    )
    .addHelpText('after', linesOfList)
    .action(run(resolve));
};

const declareDisputes: Declare = (noun, run) => {
  withListOptions(noun.command('disputes'))
    .description('list the disputes that the provider has not confirmed or decided, oldest first')
    .addHelpText('after', examples('ponte pix disputes', 'ponte pix disputes --json'))
    .action(run(disputes));
};

const statusColours = { PROCESSING: 'yellow', COMPLETED: 'green', FAILED: 'red' } as const;

const columns: readonly Column<PixView>[] = [
  { head: 'ID', cell: ({ id }) => id, isWhole: true },
  { head: 'USER', cell: ({ userId }) => userId, align: 'right' },
  { head: 'TYPE', cell: ({ operation }) => operation },
  { head: 'AMOUNT', cell: ({ amount }) => amount, align: 'right' },
  { head: 'STATUS', cell: ({ status }) => [status, statusColours[status]] },
  { head: 'PHASE', cell: ({ phase }) => phase },
  { head: 'MADE', cell: ({ createdAt }) => shortTime(createdAt) },
  { head: 'END-TO-END ID', cell: ({ endToEnd }) => endToEnd },
];

interface PixListOptions
  extends
    Pick<PixListInput, 'status' | 'phase' | 'stuck' | 'corrected' | 'limit'>,
    TypedPeriod,
    ListOptions {
  readonly user?: number;
  readonly olderThan?: number;
  readonly email?: string;
  readonly amount?: number;
  readonly openWithTheBank?: boolean;
  readonly file?: string;
}

async function list(context: Context, options: PixListOptions): Promise<void> {
  const { openWithTheBank, file, ...others } = options;
  if (openWithTheBank) {
    const { limit, json, ...filters } = others;
    if (Object.keys(filters).length > 0) {
      throw new UsageError('--open-with-the-bank is one list: it takes no filter');
    }
    const { listForBank } = await import('../pix-for-bank.ts');
    const asked = { limit, ...(json && { json }), ...(file !== undefined && { file }) };
    return listForBank(context, asked);
  }
  if (file !== undefined) throw new UsageError('--file needs --open-with-the-bank');
  return listAll(context, others);
}

async function listAll({ call, clock, terminal }: Context, options: PixListOptions) {
  const { user: userId, olderThan: olderThanMs, email, amount, limit, stuck, ...rest } = options;
  const { json: _json, since: _since, until: _until, ...filter } = rest;
  if (userId !== undefined && email !== undefined) {
    throw new UsageError('give either --user or --email');
  }
  if (stuck && filter.corrected) throw new UsageError('give either --stuck or --corrected');
  const user = email ?? userId?.toString();
  const which = {
    ...filter,
    ...resolvePeriod(options, clock),
    ...(user !== undefined && { user }),
    ...(amount !== undefined && { amountCents: amount }),
    ...(olderThanMs !== undefined && { olderThanMs }),
  };
  const { transactions } = await call('pix list', { ...which, limit, ...(stuck && { stuck }) });
  const isAnyStuck = stuck && Object.keys(which).length === 0;
  const none = isAnyStuck ? 'No payment is stuck.' : 'There are no such transactions.';
  terminal.list({ name: 'transactions', columns, rows: transactions, none }, options);
}

async function show({ call, terminal }: Context, id: string, { json }: JsonOption) {
  const shown = await call('pix show', { id });
  if (json) terminal.json(shown);
  else printTransaction(shown, terminal);
}

const timelineColumns: readonly Column<TimelineView>[] = [
  { head: 'TIME', cell: ({ at }) => at },
  {
    head: 'PHASE',
    cell: ({ phase }) => [phase, phase === 'ANOMALY' ? 'red' : null],
  },
  { head: 'ATTEMPT', cell: ({ attempt }) => attempt, align: 'right' },
  { head: 'PROVIDER', cell: ({ providerStatus }) => providerStatus },
  { head: 'STATUS', cell: ({ httpStatus }) => httpStatus, align: 'right' },
  { head: 'CODE', cell: ({ providerCode }) => providerCode },
  { head: 'EVENT', cell: ({ eventId }) => eventId, isWhole: true },
  { head: 'NOTE', cell: ({ note }) => note },
];

function printTransaction(shown: PixShown, terminal: Terminal): void {
  const { transaction, timeline, payee } = shown;
  terminal.details([
    ['transaction', transaction.id],
    ['user', transaction.userId],
    ['type', transaction.operation],
    ['amount', transaction.amount],
    ['payee', payee && formatPayee(payee)],
    ['status', `${transaction.status} in ${transaction.phase}`],
    ['outcome', transaction.outcome],
    ['failure', transaction.failureCode],
    [transaction.originalId === null ? 'end-to-end id' : 'return id', transaction.endToEnd],
    ['refunds', transaction.originalId],
    ['refunded', transaction.refundedAmount],
    ['being refunded', transaction.refundingAmount],
    ['expires', shortTime(transaction.expiresAt)],
    ['client request id', transaction.clientRequestId],
    ['identification', transaction.transactionIdentification],
    ["provider's id", transaction.providerTxid],
    ['made', shortTime(transaction.createdAt)],
    ['ended', shortTime(transaction.settledAt)],
    ['held for analysis', shortTime(transaction.heldAt)],
    ['corrected', shortTime(transaction.correctedAt)],
    ['overruled', shortTime(transaction.overruledAt)],
    ['paid again by', transaction.paidAgainBy],
    ['received by its payee', transaction.reachedPayee ? 'as a report says' : null],
    ...disputeDetails(shown.dispute),
  ]);
  terminal.print('');
  terminal.table({ columns: timelineColumns, rows: timeline, none: 'The timeline is empty.' });
  if (shown.timelineIsCut) {
    terminal.print(`… and more: run \`ponte webhook list --transaction ${transaction.id}\`.`);
  }
  if (shown.refunds.length > 0) {
    terminal.print('', 'Refunds');
    terminal.table({ columns, rows: shown.refunds, none: '' });
  }
  terminal.print('', `Waits for  ${shown.waitsFor}`, `To do      ${shown.operator}`);
}

function formatPayee({ name, document, ispb, bank }: PayeeView): string {
  const place = bank === null ? ispb : `${bank} (${ispb})`;
  const parts = [name, document, place === null ? null : `at ${place}`];
  return parts.filter((part) => part !== null).join(', ');
}

/** Exit 1 when a rule is broken. */
async function audit({ call, terminal }: Context, options: JsonOption) {
  const result = await call('pix audit', {});
  const { invariants, checked } = result;
  const broken = invariants.filter((one) => one.broken > 0).length;
  const rows =
    `${checked.transactions} transactions, ${checked.events} events, ` +
    `${checked.jobs} running jobs`;
  terminal.result(
    result,
    options,
    ...invariants.flatMap((rule) => invariantLines(rule, terminal)),
    '',
    `${rows}: ${result.ok ? 'every rule holds' : `${broken} of ${invariants.length} broken`}.`,
  );
  return result.ok ? exitCodes.ok : exitCodes.failed;
}

function invariantLines(rule: InvariantResult, { colour }: Terminal): string[] {
  if (rule.broken === 0) return [`${colour('green', 'holds ')}  ${rule.says}`];
  const more = rule.broken - rule.rows.length;
  return [
    `${colour('red', 'BROKEN')}  ${rule.says} (${rule.broken})`,
    ...rule.rows.map(({ id, found }) => `          ${rule.of} ${id}: ${found}`),
    ...(more > 0 ? [`          … and ${more} more`] : []),
  ];
}

interface ResolveOptions extends ChangeOptions {
  readonly as?: 'completed' | 'failed';
  readonly endToEnd?: string;
  readonly from?: string;
  readonly reason: string;
  readonly confirm?: string;
  readonly despiteStatement?: boolean;
  readonly overrule?: boolean;
}

async function resolve(
  context: Context,
  id: string | undefined,
  options: ResolveOptions,
): Promise<ExitCode> {
  const { as, from } = options;
  if (options.despiteStatement && as !== 'failed') {
    throw new UsageError('--despite-statement needs --as failed');
  }
  if (from !== undefined) {
    if (id !== undefined || as !== undefined)
      throw new UsageError('--from takes no id and no --as');
    const { resolveFrom } = await import('../pix-resolve-from.ts');
    return resolveFrom(context, { ...options, from });
  }
  if (id === undefined || as === undefined) throw new UsageError('name an id and --as, or --from');
  if (options.overrule) {
    if (as !== 'failed') throw new UsageError('--overrule needs --as failed');
    const { overrule } = await import('../pix-overrule.ts');
    return overrule(context, id, options);
  }
  return resolveOne(context, id, { ...options, as });
}

async function resolveOne(
  { call, confirm, terminal }: Context,
  id: string,
  options: ResolveOptions & { readonly as: 'completed' | 'failed' },
): Promise<ExitCode> {
  const { riskOfCompleting, riskOfFailing } = await import('../../src/operator/pix-resolve.ts');
  const { as, reason, endToEnd: paidAs, despiteStatement } = options;
  const isFailed = as === 'failed';
  const words = isFailed ? riskOfFailing : riskOfCompleting;
  if (options.yes && options.confirm === undefined) {
    const risk = isFailed ? 'the person could pay twice' : 'the person is told so';
    throw new UsageError(`--as ${as} with --yes needs --confirm '${words}': ${risk}`);
  }
  const decision = {
    id,
    as,
    reason,
    ...(paidAs !== undefined && { endToEnd: paidAs }),
    confirm: options.confirm ?? words,
    ...(despiteStatement && { despiteStatement }),
  };
  const { transaction, statement } = await call('pix resolve', { ...decision, onlyCheck: true });
  const { operation, amount, status, phase, endToEnd } = transaction;
  terminal.note(
    `A ${operation} of ${amount} reais, ${status} in phase ${phase}.`,
    `End-to-end id ${endToEnd ?? paidAs ?? 'none'}.`,
    ...(statement === null ? [] : [toLine(statement.sentence)]),
    'The reason stays in the timeline: it must not contain personal data.',
  );
  const correction = status === 'FAILED' ? ', although it is FAILED now' : '';
  const question = isFailed
    ? `Mark it as FAILED permanently, although ${words}? The app will offer to pay again.`
    : `Mark it as COMPLETED permanently${correction}, because ${words}?`;
  await confirm(question, options);
  const corrects = status === 'FAILED';
  const resolved = await call('pix resolve', { ...decision, corrects });
  terminal.result(resolved, options, `${id} is ${resolved.transaction.status}.`);
  return exitCodes.ok;
}

function toLine(sentence: string): string {
  return `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}.`;
}

const disputeColumns: readonly Column<OpenDisputeView>[] = [
  { head: 'TRANSACTION', cell: ({ transactionId }) => transactionId, isWhole: true },
  { head: 'END-TO-END ID', cell: ({ endToEnd }) => endToEnd, isWhole: true },
  { head: 'USER', cell: ({ userId }) => userId, align: 'right' },
  { head: 'STATUS', cell: ({ status }) => status },
  { head: 'REQUESTED', cell: ({ requestedAt }) => shortTime(requestedAt) },
  { head: 'NOTE', cell: formatNote },
];

function formatNote({ status, mayBeDone, withdrawalRequestedAt, hasSession }: OpenDisputeView) {
  const isPending = status === 'REQUESTED' || withdrawalRequestedAt !== null;
  return [
    withdrawalRequestedAt === null ? null : 'withdrawal not confirmed',
    mayBeDone ? 'a call may have reached the bank' : null,
    isPending && !hasSession ? 'waits for a login' : null,
  ]
    .filter((part) => part !== null)
    .join(', ');
}

async function disputes({ call, terminal }: Context, options: ListOptions) {
  const { disputes: rows } = await call('pix disputes', { limit: options.limit });
  const none = 'No dispute waits.';
  const more = 'set a greater --limit';
  terminal.list({ name: 'disputes', columns: disputeColumns, rows, none, more }, options);
}

/** The lines of `ponte pix show` about a dispute. */
function disputeDetails(
  dispute: DisputeView | null,
): readonly (readonly [name: string, value: string | null])[] {
  if (dispute === null) return [];
  const { status, situation, requestedAt, endedAt, withdrawalRequestedAt } = dispute;
  return [
    ['dispute', [status, situation ?? 'of another channel'].join(', ')],
    ['disputed', shortTime(requestedAt)],
    ['dispute withdrawn', shortTime(withdrawalRequestedAt)],
    ['dispute ended', shortTime(endedAt)],
  ];
}
