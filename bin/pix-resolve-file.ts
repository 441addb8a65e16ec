/** Reads a list of ends of payments: CSV or JSON lines. The function is pure. */
import { isUuid } from '../src/domain/text.ts';
import type { ListedEnd } from '../src/operator/pix-resolve-list.ts';

export interface EndsFile {
  readonly entries: readonly ListedEnd[];
  /** Every faulty line, with its number, as a sentence. */
  readonly faults: readonly string[];
}

/**
 * Reads the lines of a file. A line is `id,completed` or `{"id": …, "as": "failed"}`; the id is
 * that of a transaction, or an end-to-end id. Empty lines and a heading `id,as` are skipped.
 */
export function readEnds(text: string): EndsFile {
  const entries: ListedEnd[] = [];
  const faults: string[] = [];
  const lineNumbers = new Map<string, number>();
  for (const [index, raw] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    const line = index + 1;
    const content = raw.trim();
    if (content === '' || (line === 1 && isHeading(content))) continue;
    const read = content.startsWith('{') ? readJsonLine(content) : readCsvLine(content);
    const fault = typeof read === 'string' ? read : findFault(read, lineNumbers);
    if (fault !== null || typeof read === 'string') faults.push(`line ${line}: ${fault}`);
    else {
      lineNumbers.set(read.name, line);
      entries.push({ line, ...read, as: read.as === 'failed' ? 'failed' : 'completed' });
    }
  }
  return { entries, faults };
}

interface RawEnd {
  readonly name: string;
  readonly as: string;
}

function isHeading(line: string): boolean {
  return /^"?(?:id|end_to_end)"?\s*[,;]\s*"?(?:as|status|end)"?$/i.test(line);
}

function readCsvLine(line: string): RawEnd | string {
  const cells = line.split(/[,;]/).map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'));
  const [name = '', as = ''] = cells;
  if (cells.length !== 2)
    return `it has ${cells.length} columns instead of 2: id, completed or failed`;
  return { name: plainName(name), as: as.toLowerCase() };
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
  const isName = isUuid(name) || /^E[0-9A-Za-z]{31}$/.test(name);
  const faults = [
    ...(isName ? [] : ['the id is neither that of a transaction nor an end-to-end id']),
    ...(as === 'completed' || as === 'failed' ? [] : ['the end is neither completed nor failed']),
    ...(lineNumbers.has(name) ? [`line ${lineNumbers.get(name)} has the same id`] : []),
  ];
  return faults.length > 0 ? faults.join('; ') : null;
}
