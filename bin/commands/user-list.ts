/** `ponte user list`: who may log in. */
import type { UserStatus } from '../../src/operator/find-user.ts';
import type { UserView } from '../../src/operator/user-list.ts';
import type { Desk } from '../desk.ts';
import { printList } from '../list.ts';
import { shortTime } from '../short-time.ts';
import type { Column } from '../table.ts';

interface Options {
  readonly status?: UserStatus;
  readonly email?: string;
  readonly before?: number;
  readonly limit: number;
  readonly json?: boolean;
}

const columns: readonly Column<UserView>[] = [
  { head: 'ID', cell: ({ id }) => id, align: 'right', isWhole: true },
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'E-MAIL', cell: ({ email }) => email },
  { head: 'TYPE', cell: ({ personType }) => personType, isWhole: true },
  {
    head: 'STATUS',
    cell: ({ status }) => status,
    isWhole: true,
    tone: ({ status }) => (status === 'DISABLED' ? 'bad' : null),
  },
  { head: 'LOGGED IN', cell: ({ loggedIn }) => loggedIn, isWhole: true },
  { head: 'CREATED', cell: ({ createdAt }) => shortTime(createdAt) },
];

/** Lists users. */
export async function userList({ run, terminal }: Desk, options: Options): Promise<void> {
  const { json = false, ...filter } = options;
  const { users } = await run('user list', filter);
  printList(terminal, {
    ...{ name: 'users', json, limit: options.limit, columns, rows: users },
    none: 'There are no such users.',
    further: `go on with --before ${users.at(-1)?.id}`,
  });
}
