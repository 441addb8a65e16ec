/** `ponte session list`: who is logged in. */
import type { SessionView } from '../../src/operator/session-list.ts';
import type { Desk } from '../desk.ts';
import { printList } from '../list.ts';
import { shortTime } from '../short-time.ts';
import type { Column } from '../table.ts';

interface Options {
  readonly user?: string;
  readonly limit: number;
  readonly json?: boolean;
}

const columns: readonly Column<SessionView>[] = [
  { head: 'SESSION', cell: ({ id }) => id, isWhole: true },
  { head: 'USER', cell: ({ userId }) => userId, align: 'right', isWhole: true },
  { head: 'E-MAIL', cell: ({ email }) => email },
  { head: 'SINCE', cell: ({ since }) => shortTime(since) },
  { head: 'LAST LOGIN', cell: ({ renewedAt }) => shortTime(renewedAt) },
  {
    head: 'TOKEN UNTIL',
    cell: ({ tokenExpiresAt }) => shortTime(tokenExpiresAt),
    tone: ({ expired }) => (expired ? 'faint' : null),
  },
];

/** Lists sessions. */
export async function sessionList({ run, terminal }: Desk, options: Options): Promise<void> {
  const { json = false, ...filter } = options;
  const { sessions } = await run('session list', filter);
  const none = 'Nobody is logged in.';
  const { limit } = options;
  printList(terminal, { name: 'sessions', json, limit, columns, rows: sessions, none });
}
