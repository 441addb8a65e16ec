/** The lists of an operator, and the commands that print them. */
import { shortUtcTime } from './format.ts';
import {
  acceptActions,
  codeActions,
  endedEventActions,
  readActions,
  replayActions,
  resolveActions,
  retryActions,
  type OperatorAction,
} from './operator-actions.ts';
import { cellText, type FormatCell, type Row } from './table.ts';

export interface OperatorList {
  readonly name: string;
  /** The arguments of `ponte` that print the list. */
  readonly command: readonly string[];
  /** The member of the output that has the rows. */
  readonly rows: string;
  /** The members of a row that the list shows. */
  readonly columns: readonly string[];
  readonly none: string;
  /** The arguments of `ponte` that describe the row of an id; null where the row says it all. */
  readonly details: readonly string[] | null;
  /** Whether a row is an event, which may name a payment. */
  readonly isOfEvents?: true;
  /** What an operator can do about a row. */
  readonly actions: readonly OperatorAction[];
}

function eventList(name: string, state: string): OperatorList {
  return {
    name,
    rows: 'events',
    none: `There is no event in state ${state}.`,
    command: ['webhook', 'list', '--state', state],
    details: ['webhook', 'show'],
    isOfEvents: true,
    columns: ['id', 'receivedAt', 'processedAt', 'outcomes'],
    actions: state === 'parked' ? replayActions : endedEventActions,
  };
}

/** Of a payment, wherever it is named, too. */
export const paymentList: OperatorList = {
  name: 'payment',
  rows: 'transactions',
  none: 'There is no stuck payment.',
  actions: resolveActions,
  command: ['pix', 'list', '--stuck'],
  details: ['pix', 'show'],
  columns: ['id', 'createdAt', 'amount', 'userId', 'phase', 'endToEnd'],
};

export const operatorLists: readonly [OperatorList, ...OperatorList[]] = [
  {
    name: 'queue',
    rows: 'counts',
    none: 'The queue is empty.',
    details: null,
    actions: [],
    command: ['jobs', 'stats'],
    columns: ['kind', 'state', 'jobs', 'lapsed', 'oldestAt', 'nextDueAt'],
  },
  {
    name: 'dead jobs',
    rows: 'jobs',
    none: 'There is no dead job.',
    details: null,
    command: ['jobs', 'list', '--state', 'dead'],
    actions: retryActions,
    columns: ['id', 'kind', 'attempts', 'finishedAt', 'lastError'],
  },
  eventList('parked', 'parked'),
  eventList('orphaned', 'orphaned'),
  eventList('anomalies', 'anomaly'),
  { ...paymentList, name: 'stuck' },
  {
    name: 'unknown',
    rows: 'answers',
    none: 'No payment waits for the meaning of a code.',
    actions: codeActions,
    command: ['provider', 'unknown'],
    details: null,
    columns: ['httpStatus', 'providerStatus', 'code', 'payments', 'oldestAt', 'transactionIds'],
  },
  {
    name: 'differences',
    rows: 'differences',
    none: 'There is no open difference.',
    actions: acceptActions,
    command: ['reconcile', 'list'],
    details: null,
    columns: ['id', 'day', 'userId', 'kind', 'amount', 'storedAmount', 'endToEnd'],
  },
  {
    name: 'unread',
    rows: 'days',
    none: 'Every statement was read.',
    actions: readActions,
    command: ['reconcile', 'waiting'],
    details: null,
    columns: ['day', 'userId', 'reason', 'triedAt'],
  },
];

/** The marks of names that do not fit, with a space each. */
const moreColumns = 4;

/** @returns the names of as many lists as fit, with the one of this index in brackets. */
export function namesAround(index: number, columns: number): string[] {
  const names = operatorLists.map(({ name }, at) => (at === index ? `[${name}]` : name));
  let [first, last] = [index, index];
  const width = (from: number, to: number): number =>
    names.slice(from, to + 1).join(' ').length + moreColumns;
  for (const _ of names) {
    if (last + 1 < names.length && width(first, last + 1) <= columns) last += 1;
    if (first > 0 && width(first - 1, last) <= columns) first -= 1;
  }
  const before = first > 0 ? ['‹'] : [];
  return [...before, ...names.slice(first, last + 1), ...(last + 1 < names.length ? ['›'] : [])];
}

/** @returns the rows in the JSON that the command of a list has printed. */
export function readRows({ rows: member }: OperatorList, output: string): readonly Row[] {
  const rows = (JSON.parse(output) as Row)[member];
  return Array.isArray(rows) ? (rows as Row[]) : [];
}

/** @returns the first payment that an event names, in the JSON of its command; null: none. */
export function readPayment(output: string): string | null {
  const { items = [] } = JSON.parse(output) as { items?: { transactionId?: string }[] };
  return items.find(({ transactionId }) => transactionId !== undefined)?.transactionId ?? null;
}

/** The cells of a list. The end of an id differs most; the details show all of it. */
export const operatorCell: FormatCell = (row, name) => {
  const text = cellText(row, name);
  if (name === 'outcomes') return countsText(row[name]);
  // The other ids are in the details.
  if (name === 'transactionIds') return readFirst(row[name]);
  // The oldest of the queued jobs is not due yet.
  if (name === 'oldestAt' && typeof row['nextDueAt'] === 'string') return '–';
  if (name === 'id' && text.length > 16) return `…${text.slice(-12)}`;
  return shortUtcTime(text);
};

function readFirst(ids: unknown): string {
  return Array.isArray(ids) && typeof ids[0] === 'string' ? ids[0] : '–';
}

/** The number of items with each result, such as `2 applied`. */
function countsText(counts: unknown): string {
  const entries = Object.entries((counts ?? {}) as Readonly<Record<string, number>>);
  return entries.map(([name, count]) => `${count} ${name}`).join(', ') || '–';
}
