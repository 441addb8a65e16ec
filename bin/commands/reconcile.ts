/** `ponte reconcile`: the provider's statement against what is stored. */
import type { Accepted } from '../../src/operator/accept.ts';
import type { Command } from 'commander';
import type {
  DifferencesInput,
  DifferenceView,
  WaitingView,
} from '../../src/operator/reconcile.ts';
import type { Context, Declare } from '../context.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import {
  examples,
  parseAnyIds,
  parseDay,
  parseTime,
  parseUser,
  withChangeOptions,
  withListOptions,
  withReason,
  type ChangeOptions,
  type ListOptions,
} from '../options.ts';
import { shortTime } from '../output.ts';
import { reconcileDay, type RunOptions } from '../reconcile-run.ts';
import type { Column } from '../table.ts';

const onlyUser = 'only this user: id or e-mail';

export const declare: Declare = (noun, run) => {
  noun.addHelpText('after', examples('ponte reconcile', 'ponte reconcile list'));

  declareRun(noun.command('run', { isDefault: true })).action(run(runDay));

  withListOptions(noun.command('list'))
    .description('list the open differences, the oldest first, each with what to do')
    .option('--user <user>', onlyUser, parseUser)
    .option('--day <day>', 'only of this day, such as 2026-11-25', parseDay)
    .option('--all', 'closed ones, too')
    .option('--blocking', 'only those that block orders, found after a loss of commits')
    .addHelpText(
      'after',
      examples('ponte reconcile list --day 2026-11-25', 'ponte reconcile list --blocking'),
    )
    .action(run(list));

  withListOptions(noun.command('waiting'))
    .description('list users and days whose statement could not be read, the oldest first')
    .option('--user <user>', onlyUser, parseUser)
    .addHelpText('after', examples('ponte reconcile waiting --user maria@example.com'))
    .action(run(waiting));

  withChangeOptions(noun.command('accept'))
    .description('close differences that are explained otherwise: they block no orders any more')
    .argument('<ids...>', 'ids of differences', parseAnyIds)
    .requiredOption('--reason <text>', 'why; required; it is recorded: no personal data')
    .addHelpText('after', examples(acceptExample))
    .action(run(accept));
};

const acceptExample = "ponte reconcile accept 17 --reason 'paid in another channel, ticket 7'";

function declareRun(command: Command): Command {
  return withReason(withChangeOptions(command))
    .description('settle what the statement of a day proves, and list the rest; the default')
    .option('--user <user>', `${onlyUser}, also if the day was read before`, parseUser)
    .option(
      '--day <day>',
      'in America/Sao_Paulo, such as 2026-11-25 (default: the last that ended over an hour ago)',
      parseDay,
    )
    .option('--read-before <time>', 'read again whom a run has read before this time', parseTime)
    .option('--dry-run', 'show what would be settled, and write nothing')
    .option('--report <file>', 'append a line of JSON for each user to this file')
    .addHelpText(
      'after',
      examples(
        'ponte reconcile --yes',
        'ponte reconcile run --day 2026-11-25 --report closing.jsonl',
        'ponte reconcile --user maria@example.com --dry-run',
      ),
    );
}

/** Exit 1 when there are differences, or statements that could not be read. */
function runDay(context: Context, options: RunOptions): Promise<ExitCode> {
  return reconcileDay(context, options);
}

const columns: readonly Column<DifferenceView>[] = [
  { head: 'ID', cell: ({ id }) => id, isWhole: true, align: 'right' },
  { head: 'DAY', cell: ({ day }) => day },
  { head: 'USER', cell: ({ userId }) => userId, align: 'right' },
  { head: 'DIFFERENCE', cell: ({ kind, closedAs }) => closedAs ?? [kind, 'yellow'] },
  { head: 'AMOUNT', cell: ({ amount }) => amount, align: 'right' },
  { head: 'STORED', cell: ({ storedAmount }) => storedAmount, align: 'right' },
  { head: 'END-TO-END ID', cell: ({ endToEnd, subject }) => endToEnd ?? subject, isWhole: true },
];

async function list(
  { call, terminal }: Context,
  { json, ...filter }: DifferencesInput & ListOptions,
): Promise<void> {
  const { differences } = await call('reconcile list', filter);
  const none = 'There are no such differences.';
  const table = { name: 'differences', columns, rows: differences, none };
  terminal.list(table, { limit: filter.limit, ...(json && { json }) });
  if (json) return;
  const steps = differences.map(({ id, says, todo }) => `${id}: ${says}.\n   → ${todo}`);
  if (steps.length > 0) terminal.print('', ...steps.flatMap((step) => step.split('\n')));
}

const waitingColumns: readonly Column<WaitingView>[] = [
  { head: 'DAY', cell: ({ day }) => day },
  { head: 'USER', cell: ({ userId }) => userId, align: 'right' },
  { head: 'WHY', cell: ({ reason }) => reason },
  { head: 'TRIED', cell: ({ triedAt }) => shortTime(triedAt) },
];

async function waiting(
  { call, terminal }: Context,
  { json, ...filter }: Pick<DifferencesInput, 'user'> & ListOptions,
): Promise<void> {
  const { days } = await call('reconcile waiting', filter);
  const none = 'Every statement was read.';
  const options = { limit: filter.limit, ...(json && { json }) };
  terminal.list({ name: 'days', columns: waitingColumns, rows: days, none }, options);
}

/** Exit 1 when one of the differences is not open. */
async function accept(
  { call, confirm, terminal }: Context,
  ids: readonly string[],
  options: ChangeOptions & { readonly reason: string },
): Promise<ExitCode> {
  await confirm(`Close the differences ${ids.join(', ')} permanently?`, options);
  const result: Accepted = await call('reconcile accept', { ids, reason: options.reason });
  const { accepted, notOpen } = result;
  const closed = accepted.length === 1 ? '1 difference is' : `${accepted.length} differences are`;
  const lines = notOpen.map((id) => `There is no open difference ${id}.`);
  terminal.result(result, options, `${closed} closed.`, ...lines);
  return notOpen.length === 0 ? exitCodes.ok : exitCodes.failed;
}
