/** `ponte webhook list`: the events that came in. */
import type { EventView } from '../../src/operator/webhook-list.ts';
import type { Desk } from '../desk.ts';
import { printList } from '../list.ts';
import { shortTime } from '../short-time.ts';
import type { Column } from '../table.ts';
import { filterOf, outcomesText, stateTones, type FilterOptions } from '../webhook-words.ts';

export interface Options extends FilterOptions {
  readonly event?: string;
  readonly limit: number;
  readonly json?: boolean;
}

const columns: readonly Column<EventView>[] = [
  { head: 'ID', cell: ({ id }) => id, isWhole: true },
  { head: 'STATE', cell: ({ state }) => state, tone: ({ state }) => stateTones[state] },
  { head: 'RECEIVED', cell: ({ receivedAt }) => shortTime(receivedAt) },
  { head: 'LOOKED AT', cell: ({ processedAt }) => shortTime(processedAt) },
  {
    head: 'BYTES',
    cell: ({ payloadBytes }) => payloadBytes ?? 'purged',
    align: 'right',
  },
  { head: 'ITEMS', cell: ({ outcomes }) => outcomesText(outcomes) },
];

/** Lists events. */
export async function webhookList(desk: Desk, options: Options): Promise<void> {
  const { event, limit, json = false } = options;
  const { events } = await desk.run('webhook list', {
    ...filterOf(options, desk.clock),
    ...(event !== undefined && { eventIds: [event] }),
    limit,
  });
  const none = 'There are no such events.';
  printList(desk.terminal, { name: 'events', json, limit, columns, rows: events, none });
}
