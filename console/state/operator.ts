/** The lists of an operator, and the commands that print them. */
import { shortUtcTime } from './format.ts';
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
  /** The actions of an operator on a row. */
  readonly action: 'replay' | 'retry' | null;
}

function eventList(name: string, state: string): OperatorList {
  return {
    name,
    rows: 'events',
    none: `There is no event in state ${state}.`,
    command: ['webhook', 'list', '--state', state],
    details: ['webhook', 'show'],
    columns: ['id', 'receivedAt', 'processedAt', 'outcomes'],
    action: 'replay',
  };
}

export const operatorLists: readonly [OperatorList, ...OperatorList[]] = [
  {
    name: 'queue',
    rows: 'counts',
    none: 'The queue is empty.',
    details: null,
    action: null,
    command: ['jobs', 'stats'],
    columns: ['kind', 'state', 'jobs', 'lapsed', 'oldestAt', 'nextDueAt'],
  },
  {
    name: 'dead jobs',
    rows: 'jobs',
    none: 'There is no dead job.',
    details: null,
    command: ['jobs', 'list', '--state', 'dead'],
    action: 'retry',
    columns: ['id', 'kind', 'attempts', 'finishedAt', 'lastError'],
  },
  eventList('parked', 'parked'),
  eventList('orphaned', 'orphaned'),
  eventList('anomalies', 'anomaly'),
  {
    name: 'stuck',
    rows: 'transactions',
    none: 'There is no stuck payment.',
    action: null,
    command: ['pix', 'list', '--stuck'],
    details: ['pix', 'show'],
    columns: ['id', 'createdAt', 'amount', 'userId', 'phase', 'endToEnd'],
  },
];

/** @returns the rows in the JSON that the command of a list has printed. */
export function readRows({ rows: member }: OperatorList, output: string): readonly Row[] {
  const rows = (JSON.parse(output) as Row)[member];
  return Array.isArray(rows) ? (rows as Row[]) : [];
}

/** The cells of a list. The end of an id differs most; the details show all of it. */
export const operatorCell: FormatCell = (row, name) => {
  const text = cellText(row, name);
  if (name === 'outcomes') return countsText(row[name]);
  // The oldest of the queued jobs is not due yet.
  if (name === 'oldestAt' && typeof row['nextDueAt'] === 'string') return '–';
  if (name === 'id' && text.length > 16) return `…${text.slice(-12)}`;
  return shortUtcTime(text);
};

/** The number of items with each result, such as `2 applied`. */
function countsText(counts: unknown): string {
  const entries = Object.entries((counts ?? {}) as Readonly<Record<string, number>>);
  return entries.map(([name, count]) => `${count} ${name}`).join(', ') || '–';
}
