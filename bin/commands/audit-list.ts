/** `ponte audit list`: what operators have changed. */
import type { ActionView, AuditListInput } from '../../src/operator/audit-list.ts';
import type { Desk } from '../desk.ts';
import { printList } from '../list.ts';
import { shortTime } from '../short-time.ts';
import type { Column } from '../table.ts';

interface Options extends AuditListInput {
  readonly json?: boolean;
}

const columns: readonly Column<ActionView>[] = [
  { head: 'TIME', cell: ({ at }) => shortTime(at) },
  { head: 'OPERATOR', cell: ({ operator }) => operator },
  { head: 'COMMAND', cell: ({ command }) => command },
  { head: 'TARGET', cell: ({ target }) => target, isWhole: true },
  { head: 'OUTCOME', cell: ({ outcome }) => outcome },
  { head: 'REASON', cell: ({ reason }) => reason },
];

/** Lists the actions of operators. */
export async function auditList({ run, terminal }: Desk, options: Options): Promise<void> {
  const { json = false, ...input } = options;
  const { actions } = await run('audit list', input);
  const none = 'No operator has changed anything.';
  const { limit } = options;
  printList(terminal, { name: 'actions', json, limit, columns, rows: actions, none });
}
