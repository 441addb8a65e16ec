/** `ponte pix disputes`, and the lines about a dispute in `ponte pix show`. */
import type { Command } from 'commander';
import type { DisputeView, OpenDisputeView } from '../src/operator/pix-disputes.ts';
import type { Context, Declare } from './context.ts';
import { examples, withListOptions, type ListOptions } from './options.ts';
import { shortTime } from './output.ts';
import type { Column } from './table.ts';

/** Declares the command. */
export function declareDisputes(noun: Command, run: Parameters<Declare>[1]): void {
  withListOptions(noun.command('disputes'))
    .description('list the disputes that the provider has not confirmed or decided, oldest first')
    .addHelpText('after', examples('ponte pix disputes', 'ponte pix disputes --json'))
    .action(run(disputes));
}

const columns: readonly Column<OpenDisputeView>[] = [
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

async function disputes({ call, terminal }: Context, { limit, json }: ListOptions) {
  const found = await call('pix disputes', { limit });
  if (json) terminal.json(found);
  else terminal.table({ columns, rows: found.disputes, none: 'No dispute waits.' });
}

/** The lines of `ponte pix show` about a dispute. */
export function disputeDetails(
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
