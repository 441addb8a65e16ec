/** How the two lists of a statement are shown. */
import type { RemoteStatementItem, StatementItem } from '../../contract/types.ts';
import { toneOf } from './tones.ts';
import { longMoment, shortMoment } from './moments.ts';
import { money } from './money.ts';
import type { Column } from './table.ts';

type Facts = readonly (readonly [name: string, value: string | null])[];

const types = {
  PIX_SEND: 'sent',
  PIX_CHARGE: 'charge',
  PIX_RECEIVED: 'received',
} as const satisfies Record<StatementItem['type'], string>;

export const localColumns: readonly Column<StatementItem>[] = [
  { head: 'WHEN', cell: ({ created_at: at }) => shortMoment(at) },
  { head: 'WHAT', cell: ({ type }) => types[type] },
  {
    head: 'AMOUNT',
    align: 'right',
    cell: ({ type, amount }) => money(type === 'PIX_SEND' ? -amount : amount),
  },
  { head: 'STATUS', cell: ({ status }) => status, tone: ({ status }) => toneOf(status) },
  { head: 'PIX KEY', cell: ({ pix_key: key }) => key ?? '–' },
];

/** All that is known of an item. */
export function localFacts(item: StatementItem): Facts {
  return [
    ['Transaction', item.id],
    ['Type', item.type],
    ['Amount', money(item.amount)],
    ['Status', item.status],
    ['PIX key', item.pix_key],
    ["Bank's id", item.provider_txid],
    ['When', longMoment(item.created_at)],
  ];
}

/** The provider's items come as they are; this is what they mostly hold. */
export const remoteColumns: readonly Column<RemoteStatementItem>[] = [
  { head: 'WHEN', cell: (item) => shortMoment(wordOf(item['createdAt'])) },
  { head: 'TYPE', cell: (item) => wordOf(item['type']) },
  { head: 'AMOUNT', align: 'right', cell: (item) => amountWord(item['amount']) },
  { head: 'STATUS', cell: (item) => wordOf(item['status']) },
  { head: 'DESCRIPTION', cell: (item) => wordOf(item['description']) },
];

/** Every member that an item has. */
export function remoteFacts(item: RemoteStatementItem): Facts {
  return Object.entries(item).map(([name, value]) => [name, wordOf(value)] as const);
}

function amountWord(value: unknown): string {
  return typeof value === 'number' ? money(value) : wordOf(value);
}

function wordOf(value: unknown): string {
  if (value === undefined || value === null) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
