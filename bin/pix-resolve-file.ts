/** Reads a list of ends of payments: CSV or JSON lines. The function is pure. */
import { isUuid } from '../src/domain/text.ts';
import type { ListedEnd } from '../src/operator/pix-resolve-list.ts';
import { readCsvCells, separatorOf } from './csv.ts';

export interface EndsFile {
  readonly entries: readonly ListedEnd[];
  /** How many lines below a heading have no end yet. */
  readonly unanswered: number;
  /** Every faulty line, with its number, as a sentence. */
  readonly faults: readonly string[];
}

/**
 * Reads the lines of a file. A line is `id,completed` or `{"id": …, "as": "failed"}`; the id is
 * that of a transaction, or an end-to-end id. A heading such as `id,as` may name further columns,
 * as that of the list for the bank does; below it, a line whose end is empty is not answered yet.
 * Empty lines are skipped.
 */
export function readEnds(text: string): EndsFile {
  const entries: ListedEnd[] = [];
  const faults: string[] = [];
  const lineNumbers = new Map<string, number>();
  let unanswered = 0;
  const [first = '', ...rest] = text.replace(/^\uFEFF/, '').split('\n');
  const heading = readHeading(first.trim());
  for (const [index, raw] of (heading === null ? [first, ...rest] : rest).entries()) {
    const line = index + (heading === null ? 1 : 2);
    const content = raw.trim();
    if (content === '') continue;
    const read = content.startsWith('{') ? readJsonLine(content) : readCsvLine(content, heading);
    if (typeof read !== 'string' && read.as === '' && heading?.isList) {
      unanswered += 1;
      continue;
    }
    const fault = typeof read === 'string' ? read : findFault(read, lineNumbers);
    if (fault !== null || typeof read === 'string') faults.push(`line ${line}: ${fault}`);
    else {
      lineNumbers.set(read.name, line);
      entries.push({ line, ...read, as: read.as === 'failed' ? 'failed' : 'completed' });
    }
  }
  return { entries, unanswered, faults };
}

interface RawEnd {
  readonly name: string;
  readonly as: string;
}

/** Where the columns are. */
interface Heading {
  readonly columns: number;
  readonly name: number;
  readonly as: number;
  readonly separator: ',' | ';';
  /** Whether it has further columns. */
  readonly isList: boolean;
}

const plain: Omit<Heading, 'separator'> = { columns: 2, name: 0, as: 1, isList: false };

/** @returns null when the line is not a heading. */
function readHeading(line: string): Heading | null {
  const separator = separatorOf(line);
  const names = readCsvCells(line, separator).map((cell) => cell.toLowerCase());
  const name = names.findIndex((one) => one === 'id' || one === 'end_to_end');
  const as = names.findIndex((one) => ['as', 'status', 'end', 'outcome'].includes(one));
  const columns = names.length;
  return name < 0 || as < 0 ? null : { columns, name, as, separator, isList: columns > 2 };
}

function readCsvLine(line: string, heading: Heading | null): RawEnd | string {
  const at = heading ?? { ...plain, separator: separatorOf(line) };
  const cells = readCsvCells(line, at.separator);
  if (cells.length !== at.columns) {
    const wanted = at.isList ? `${at.columns} as its heading` : '2: id, completed or failed';
    const has = cells.length === 1 ? '1 column' : `${cells.length} columns`;
    return `it has ${has} instead of ${wanted}`;
  }
  return { name: plainName(cells[at.name] ?? ''), as: (cells[at.as] ?? '').toLowerCase() };
}

function readJsonLine(line: string): RawEnd | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return 'it is not JSON';
  }
  const { id, end_to_end: endToEnd, as, ...others } = value as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return 'it has members other than id, end_to_end and as';
  if (id !== undefined && endToEnd !== undefined) return 'it has both id and end_to_end';
  return { name: plainName(asText(id ?? endToEnd)), as: asText(as).toLowerCase() };
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** An id in any case is one transaction; an end-to-end id depends on its case. */
function plainName(name: string): string {
  return isUuid(name) ? name.toLowerCase() : name;
}

function findFault({ name, as }: RawEnd, lineNumbers: ReadonlyMap<string, number>): string | null {
  const isName = isUuid(name) || /^[DE][0-9A-Za-z]{31}$/.test(name);
  const faults = [
    ...(isName ? [] : ['the id is neither that of a transaction nor an end-to-end id']),
    ...(as === 'completed' || as === 'failed' ? [] : ['the end is neither completed nor failed']),
    ...(lineNumbers.has(name) ? [`line ${lineNumbers.get(name)} has the same id`] : []),
  ];
  return faults.length > 0 ? faults.join('; ') : null;
}
