/** `ponte pix show`: one transaction. */
import type { PixShown, TimelineView } from '../../src/operator/pix-show.ts';
import type { Desk } from '../desk.ts';
import { shortTime } from '../short-time.ts';
import type { Column } from '../table.ts';

const columns: readonly Column<TimelineView>[] = [
  { head: 'TIME', cell: ({ at }) => at },
  {
    head: 'PHASE',
    cell: ({ phase }) => phase,
    tone: ({ phase }) => (phase === 'ANOMALY' ? 'bad' : null),
  },
  { head: 'ATTEMPT', cell: ({ attempt }) => attempt, align: 'right' },
  { head: 'PROVIDER', cell: ({ providerStatus }) => providerStatus },
  { head: 'EVENT', cell: ({ eventId }) => eventId, isWhole: true },
  { head: 'NOTE', cell: ({ note }) => note },
];

/** Shows a transaction. */
export async function pixShow(
  { run, terminal }: Desk,
  id: string,
  { json = false }: { readonly json?: boolean },
): Promise<void> {
  const shown = await run('pix show', { id });
  if (json) terminal.json(shown);
  else print(shown, terminal);
}

function print(shown: PixShown, terminal: Desk['terminal']): void {
  terminal.details(detailsOf(shown));
  terminal.print('');
  terminal.table({ columns, rows: shown.timeline, none: 'It has no timeline.' });
  if (shown.timelineIsCut) terminal.print('… and more: see the event list of this transaction.');
  terminal.print('', `Waits for  ${shown.waitsFor}`, `You can    ${shown.operator}`);
}

function detailsOf({ transaction }: Pick<PixShown, 'transaction'>) {
  return [
    ['transaction', transaction.id],
    ['user', transaction.userId],
    ['operation', transaction.operation],
    ['amount', transaction.amount],
    ['status', `${transaction.status} in ${transaction.phase}`],
    ['outcome', transaction.outcome],
    ['failure', transaction.failureCode],
    ['end-to-end id', transaction.endToEnd],
    ['client request id', transaction.clientRequestId],
    ['identification', transaction.transactionIdentification],
    ["provider's id", transaction.providerTxid],
    ['made', shortTime(transaction.createdAt)],
    ['ended', shortTime(transaction.settledAt)],
  ] as const;
}
