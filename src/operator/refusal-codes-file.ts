/** Reads a table of codes that mean "examined and not executed", as a dialect has it. */
import { parse } from 'yaml';
import { readRefusalCodes } from '../provider/refusals.ts';

export interface CodesFile {
  /** In upper case. */
  readonly codes: readonly string[];
  /** Every fault, as a sentence. */
  readonly faults: readonly string[];
}

/**
 * Reads a file of `CODE: source` in YAML, at the top or under `not_executed`, such as that of a
 * dialect. Every scalar is a text: the code `1E5` is no number.
 */
export function readCodes(text: string): CodesFile {
  let file: unknown;
  try {
    file = parse(text, { schema: 'failsafe' });
  } catch {
    return { codes: [], faults: ['it is not YAML'] };
  }
  const table = isMap(file) && isDialect(file) ? file['not_executed'] : file;
  if (!isMap(table) || Object.keys(table).length === 0) {
    return { codes: [], faults: ['it has no lines of the form CODE: source'] };
  }
  const { codes, faults } = readRefusalCodes(table);
  return { codes: [...codes.keys()], faults };
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isDialect(file: object): boolean {
  return 'not_executed' in file || 'shapes' in file;
}
