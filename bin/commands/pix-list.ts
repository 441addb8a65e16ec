/** `ponte pix list`: transactions. */
import type { PixListInput } from '../../src/operator/pix-list.ts';
import type { PixView } from '../../src/operator/pix-view.ts';
import type { Desk } from '../desk.ts';
import { printList } from '../list.ts';
import { shortTime } from '../short-time.ts';
import type { Column } from '../table.ts';

export interface Options extends Pick<PixListInput, 'status' | 'phase' | 'stuck' | 'limit'> {
  readonly user?: number;
  readonly olderThan?: number;
  readonly json?: boolean;
}

const tones = { PROCESSING: 'doubtful', COMPLETED: 'good', FAILED: 'bad' } as const;

const columns: readonly Column<PixView>[] = [
  { head: 'ID', cell: ({ id }) => id, isWhole: true },
  { head: 'USER', cell: ({ userId }) => userId, align: 'right' },
  { head: 'OPERATION', cell: ({ operation }) => operation },
  { head: 'AMOUNT', cell: ({ amount }) => amount, align: 'right' },
  { head: 'STATUS', cell: ({ status }) => status, tone: ({ status }) => tones[status] },
  { head: 'PHASE', cell: ({ phase }) => phase },
  { head: 'MADE', cell: ({ createdAt }) => shortTime(createdAt) },
  { head: 'END-TO-END ID', cell: ({ endToEnd }) => endToEnd },
];

/** Lists transactions. */
export async function pixList({ run, terminal }: Desk, options: Options): Promise<void> {
  const { user: userId, olderThan: olderThanMs, json = false, ...filter } = options;
  const { transactions } = await run('pix list', {
    ...filter,
    ...(userId !== undefined && { userId }),
    ...(olderThanMs !== undefined && { olderThanMs }),
  });
  const none = filter.stuck ? 'No payment is stuck.' : 'There are no such transactions.';
  const { limit } = options;
  printList(terminal, { name: 'transactions', json, limit, columns, rows: transactions, none });
}
