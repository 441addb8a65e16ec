/** The terminal of a command: results go to standard output, everything else to standard error. */
import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import type { SingleBar as SingleBarType } from 'cli-progress';
import { escapeControls } from '../src/domain/text.ts';
import type { Progress } from '../src/operator/op.ts';
import type { JsonOption, ListOptions } from './options.ts';
import { formatDetails, formatTable, type CellValue, type Colour, type Column } from './table.ts';

/** A stream that may be a terminal. */
export interface Output extends Writable {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  hasColors?(): boolean;
}

export interface Input extends Readable {
  readonly isTTY?: boolean | undefined;
}

export interface Streams {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
}

export interface Terminal {
  readonly streams: Streams;
  /** Whether prompts are possible. */
  readonly isInteractive: boolean;
  /** Prints lines of the result. */
  print(...lines: readonly string[]): void;
  /** Prints the result as one JSON document. */
  json(value: unknown): void;
  /** Prints the result: as JSON with `--json`, otherwise as these lines. */
  result(value: unknown, options: JsonOption, ...lines: readonly string[]): void;
  /** Prints rows as a table that fits the terminal. */
  table<Row>(table: Table<Row>): void;
  /** Prints a list: as JSON with `--json`, otherwise as a table. */
  list<Row>(list: List<Row>, options: ListOptions): void;
  /** Prints names and values. */
  details(fields: readonly (readonly [name: string, value: CellValue])[]): void;
  /** Prints lines to standard error: errors, hints, warnings. */
  note(...lines: readonly string[]): void;
  /** Colours a text of the result, if standard output supports it. */
  colour(colour: Colour, text: string): string;
}

export interface Table<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Printed to standard error when there are no rows. */
  readonly none: string;
}

export interface List<Row> extends Table<Row> {
  /** The name of the rows in the JSON document. */
  readonly name: string;
  /** How to get more rows than the limit. */
  readonly more?: string;
}

/** Only terminals get colours, and none when NO_COLOR is set. */
export function createTerminal(streams: Streams): Terminal {
  const { stdin, stdout, stderr } = streams;
  const hasColours = stdout.isTTY === true && (stdout.hasColors?.() ?? false);
  const colour: Terminal['colour'] = (name, text) =>
    hasColours ? styleText(name, text, { validateStream: false }) : text;
  const print = (...lines: readonly string[]): void => void stdout.write(joinLines(lines));
  const note = (...lines: readonly string[]): void => void stderr.write(joinLines(lines));
  const json = (value: unknown): void => print(JSON.stringify(value, null, 2));
  const table: Terminal['table'] = ({ columns, rows, none }) => {
    const width = stdout.isTTY === true ? stdout.columns : undefined;
    if (rows.length === 0) note(none);
    else print(formatTable({ columns, rows, width, colour }));
  };
  return {
    streams,
    print,
    note,
    json,
    table,
    colour,
    isInteractive: stdin.isTTY === true && stderr.isTTY === true,
    result: (value, options, ...lines) => (options.json ? json(value) : print(...lines)),
    list(list, options) {
      const mayHaveMore = list.rows.length >= options.limit;
      const { name, rows, more = 'set a greater --limit, or filter them' } = list;
      if (options.json) {
        json({ [name]: rows, mayHaveMore });
      } else {
        table(list);
        if (mayHaveMore) note(`There may be more: ${more}.`);
      }
    },
    details: (fields) => print(formatDetails(fields, colour)),
  };
}

/** A stored value cannot control the terminal, wherever it is printed. */
function joinLines(lines: readonly string[]): string {
  return lines.map((line) => `${escapeControls(line)}\n`).join('');
}

/** Formats an ISO time for people: UTC, to the second. */
export function shortTime(iso: string | null): string | null {
  return iso && `${iso.slice(0, 10)} ${iso.slice(11, 19)}Z`;
}

export interface ProgressBar {
  readonly update: Progress;
  /** Removes the bar. */
  stop(): void;
}

/** Creates a bar on a terminal's standard error; it appears with the first progress. */
export async function createProgressBar({ stderr }: Streams): Promise<ProgressBar> {
  if (stderr.isTTY !== true) return { update: () => undefined, stop: () => undefined };
  const { SingleBar } = await import('cli-progress');
  let bar: SingleBarType | null = null;
  return {
    update(done, total) {
      if (bar === null) {
        // A total of 0 is unknown.
        const format = total > 0 ? '{bar} {value}/{total}' : '{value} done';
        const options = { stream: stderr, format, barsize: 30, clearOnComplete: true };
        bar = new SingleBar({ ...options, hideCursor: false });
        bar.start(total, done);
      } else {
        bar.setTotal(total);
        bar.update(done);
      }
    },
    stop: () => bar?.stop(),
  };
}
