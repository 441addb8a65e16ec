/** Where a command reads and writes: results on standard output, everything else on the other. */
import { styleText } from 'node:util';
import type { Readable, Writable } from 'node:stream';
import { detailsText, tableText, type CellValue, type Column } from './table.ts';
import { toneStyles, type Tone } from './tone.ts';

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
  /** Whether somebody can be asked something. */
  readonly isInteractive: boolean;
  /** Writes lines of the result. */
  print(...lines: readonly string[]): void;
  /** Writes the result for programs: one JSON document. */
  json(value: unknown): void;
  /** Writes the result as a table that fits the terminal; `none` is said when it has no rows. */
  table<Row>(table: Table<Row>): void;
  /** Writes one thing of the result: names and values. */
  details(fields: readonly (readonly [name: string, value: CellValue])[]): void;
  /** Writes lines beside the result: what went wrong, hints, what is asked. */
  remark(...lines: readonly string[]): void;
  /** Puts a tone on a text of the result, where there are colours. */
  tone(tone: Tone, text: string): string;
}

export interface Table<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly none: string;
}

/** Makes the terminal of these streams. Only terminals have colours, and none with NO_COLOR. */
export function createTerminal(streams: Streams): Terminal {
  const { stdin, stdout, stderr } = streams;
  const hasColours = stdout.isTTY === true && (stdout.hasColors?.() ?? false);
  const tone = (name: Tone, text: string): string =>
    hasColours ? styleText(toneStyles[name], text, { validateStream: false }) : text;
  const print = (...lines: readonly string[]): void => void stdout.write(textOf(lines));
  return {
    streams,
    isInteractive: stdin.isTTY === true && stderr.isTTY === true,
    print,
    json: (value) => print(JSON.stringify(value, null, 2)),
    table({ columns, rows, none }) {
      if (rows.length === 0) return void stderr.write(textOf([none]));
      const columnsWide = stdout.isTTY === true ? stdout.columns : undefined;
      print(tableText({ columns, rows, columnsWide, tone }));
    },
    details: (fields) => print(detailsText(fields, tone)),
    remark: (...lines) => void stderr.write(textOf(lines)),
    tone,
  };
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
