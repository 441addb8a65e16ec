/** `ponte audit events`: logins, refusals and what operators have done to users. */
import type { AuditEventsInput, SecurityEventView } from '../../src/operator/audit-events.ts';
import type { Desk } from '../desk.ts';
import { printList } from '../list.ts';
import { shortTime } from '../short-time.ts';
import type { Column } from '../table.ts';

interface Options extends AuditEventsInput {
  readonly json?: boolean;
}

const columns: readonly Column<SecurityEventView>[] = [
  { head: 'TIME', cell: ({ at }) => shortTime(at) },
  { head: 'EVENT', cell: ({ kind }) => kind },
  { head: 'USER', cell: ({ userId }) => userId, align: 'right' },
  { head: 'E-MAIL (DIGEST)', cell: ({ identity }) => identity },
  { head: 'ADDRESS (DIGEST)', cell: ({ address }) => address },
];

/** Lists security events. */
export async function auditEvents({ run, terminal }: Desk, options: Options): Promise<void> {
  const { json = false, ...input } = options;
  const { events } = await run('audit events', input);
  const none = 'There are no such events.';
  const { limit } = options;
  printList(terminal, { name: 'events', json, limit, columns, rows: events, none });
}
