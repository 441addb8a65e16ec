/** What an operator looks at: which command tells of it, and what of it is shown in a list. */
import { shortUtcMoment, utcMoment } from './moments.ts';
import type { Column } from './table.ts';
import { toneOf } from './tones.ts';

/** A row as the command prints it. */
export type Row = Readonly<Record<string, unknown>>;

export interface OperatorView {
  readonly name: string;
  /** What is given to `ponte`. */
  readonly words: readonly string[];
  /** Where in what it prints the rows are. */
  readonly member: string;
  readonly columns: readonly Column<Row>[];
  readonly none: string;
  /** What its rows are; more can be asked about an event or a payment. */
  readonly of: 'counts' | 'job' | 'event' | 'payment';
}

/** A member of a row as a word. */
export function wordOf(row: Row, name: string): string {
  const value = row[name];
  if (value === null || value === undefined || value === '') return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Its last characters tell one id from another; the whole of it is in the details. */
function idEnd(row: Row): string {
  const id = wordOf(row, 'id');
  return id.length > 16 ? `…${id.slice(-12)}` : id;
}

/** How many items came to what, such as `2 applied`. */
export function countsText(counts: unknown): string {
  const entries = Object.entries((counts ?? {}) as Readonly<Record<string, number>>);
  return entries.map(([name, count]) => `${count} ${name}`).join(', ') || '–';
}

function plain(head: string, name: string): Column<Row> {
  return { head, cell: (row) => wordOf(row, name) };
}

function moment(head: string, name: string): Column<Row> {
  return { head, cell: (row) => shortUtcMoment(wordOf(row, name)) };
}

function numeric(head: string, name: string): Column<Row> {
  return { ...plain(head, name), align: 'right' };
}

const state: Column<Row> = {
  ...plain('STATE', 'state'),
  tone: (row) => (row['lapsed'] ? 'bad' : toneOf(wordOf(row, 'state'))),
};

const id: Column<Row> = { head: 'ID', cell: idEnd };

const eventColumns: readonly Column<Row>[] = [
  id,
  moment('RECEIVED', 'receivedAt'),
  moment('LOOKED AT', 'processedAt'),
  { head: 'ITEMS', cell: (row) => countsText(row['outcomes']) },
];

function events(name: string, eventState: string): OperatorView {
  return {
    ...{ name, of: 'event', member: 'events', columns: eventColumns },
    words: ['webhook', 'list', '--state', eventState],
    none: `No event is ${name === 'anomalies' ? 'an anomaly' : name}.`,
  };
}

export const operatorViews: readonly OperatorView[] = [
  {
    ...{ name: 'queue', of: 'counts', member: 'counts', words: ['jobs', 'stats'] },
    columns: [
      plain('KIND', 'kind'),
      state,
      numeric('JOBS', 'jobs'),
      moment('OLDEST', 'oldestAt'),
      numeric('SECONDS', 'oldestAgeSeconds'),
      numeric('LAPSED', 'lapsed'),
    ],
    none: 'The queue is empty.',
  },
  {
    ...{ name: 'dead jobs', of: 'job', member: 'jobs' },
    words: ['jobs', 'list', '--state', 'dead'],
    columns: [
      numeric('ID', 'id'),
      plain('KIND', 'kind'),
      numeric('ATTEMPTS', 'attempts'),
      moment('ENDED', 'finishedAt'),
      plain('LAST ERROR', 'lastError'),
    ],
    none: 'No job is dead.',
  },
  events('parked', 'parked'),
  events('orphaned', 'orphaned'),
  events('anomalies', 'anomaly'),
  {
    ...{ name: 'stuck', of: 'payment', member: 'transactions' },
    words: ['pix', 'list', '--stuck'],
    columns: [
      id,
      moment('MADE', 'createdAt'),
      numeric('AMOUNT', 'amount'),
      numeric('USER', 'userId'),
      plain('PHASE', 'phase'),
      plain('END-TO-END ID', 'endToEnd'),
    ],
    none: 'No payment is stuck.',
  },
];

/** The rows in what a command has printed. */
export function rowsOf({ member }: OperatorView, printed: unknown): readonly Row[] {
  const rows = (printed as Readonly<Record<string, unknown>> | null)?.[member];
  return Array.isArray(rows) ? (rows as Row[]) : [];
}

/** The command that tells all about a row; null where the row is all. */
export function showWords({ of }: OperatorView, row: Row): readonly string[] | null {
  if (of === 'event') return ['webhook', 'show', wordOf(row, 'id')];
  return of === 'payment' ? ['pix', 'show', wordOf(row, 'id')] : null;
}

/** Names and values of a row, its times in full. */
export function rowFacts(row: Row): (readonly [name: string, value: string])[] {
  return Object.keys(row).map((name) => {
    const word = wordOf(row, name);
    const value = /(?:At|Until)$/.test(name) ? utcMoment(word) : word;
    return [inWords(name), name === 'outcomes' ? countsText(row[name]) : value];
  });
}

/** `receivedAt` is `received at`. */
function inWords(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
