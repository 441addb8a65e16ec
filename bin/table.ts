/** Tables for people: no borders, as wide as the terminal, one line a row. */
import { stripVTControlCharacters } from 'node:util';
import CliTable from 'cli-table3';

/** Green is good, yellow needs attention, red is bad, dim is secondary. */
export type Colour = 'green' | 'yellow' | 'red' | 'dim';

export type CellValue = string | number | boolean | null | undefined;

type Cell = CellValue | readonly [CellValue, Colour | null];

export interface Column<Row> {
  readonly head: string;
  cell(row: Row): Cell;
  /** Values that a person copies, such as ids, are never cut. */
  readonly isWhole?: boolean;
  readonly align?: 'left' | 'right';
}

export interface TableLayout<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Of the terminal, in columns; undefined: unlimited, for a file or another program. */
  readonly width: number | undefined;
  readonly colour: (colour: Colour, text: string) => string;
}

/** The smallest width that a column is cut to, its gap included. */
const narrowest = 10;

const gap = 2;

/**
 * Formats a table. When it is too wide, its widest columns are cut; when that is not enough, each
 * row becomes a paragraph.
 */
export function formatTable<Row>(layout: TableLayout<Row>): string {
  const { columns, rows, width, colour } = layout;
  const widths = fitWidths(columns, rows, width);
  if (widths === null) {
    return rows
      .map((row) => columns.map((column) => [column.head, cellText(column.cell(row))] as const))
      .map((fields) => formatDetails(fields, colour))
      .join('\n\n');
  }
  const head = columns.map((column) => colour('dim', column.head));
  const aligns = columns.map(({ align }) => align ?? 'left');
  const table = createTable({ head, colWidths: widths, colAligns: aligns });
  for (const row of rows) {
    table.push(
      columns.map((column) => {
        const cell = column.cell(row);
        const name = typeof cell === 'object' && cell?.[1];
        return name ? colour(name, cellText(cell)) : cellText(cell);
      }),
    );
  }
  return table.toString().replaceAll(/[^\S\n]+$/gm, '');
}

/** Formats names and values, one pair a line. */
export function formatDetails(
  fields: readonly (readonly [name: string, value: CellValue])[],
  colour: TableLayout<unknown>['colour'],
): string {
  const longest = Math.max(...fields.map(([name]) => name.length));
  return fields
    .map(([name, value]) => `${colour('dim', name.padEnd(longest))}  ${plainText(value)}`.trimEnd())
    .join('\n');
}

/** Formats a value on one line; a stored value cannot control the terminal. */
export function plainText(value: CellValue): string {
  if (value === null || value === undefined || value === '') return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return stripVTControlCharacters(String(value)).replaceAll(
    /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_C}]/gu,
    ' ',
  );
}

function cellText(cell: Cell): string {
  return plainText(typeof cell === 'object' ? cell?.[0] : cell);
}

/** @returns null when the columns cannot be cut to the limit. */
function fitWidths<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  limit = Infinity,
): number[] | null {
  const widths = columns.map((column) => {
    const table = createTable({});
    table.push([column.head], ...rows.map((row) => [cellText(column.cell(row))]));
    return table.width;
  });
  // A part of a time says nothing.
  const whole = columns.map(
    ({ isWhole = false, cell }) => isWhole || rows.some((row) => isTime(cellText(cell(row)))),
  );
  // The gap of the last column may exceed the limit.
  let excess = widths.reduce((total, width) => total + width, -gap) - limit;
  for (; excess > 0; excess -= 1) {
    const cuttable = widths.map((width, index) => (whole[index] ? 0 : width));
    const widest = Math.max(...cuttable);
    if (widest <= narrowest) return null;
    widths[cuttable.indexOf(widest)] = widest - 1;
  }
  return widths;
}

function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ$/.test(text);
}

const noBorders = Object.fromEntries(
  [
    'top',
    'top-mid',
    'top-left',
    'top-right',
    'bottom',
    'bottom-mid',
    'bottom-left',
    'bottom-right',
    'left',
    'left-mid',
    'mid',
    'mid-mid',
    'right',
    'right-mid',
    'middle',
  ].map((name) => [name, '']),
);

function createTable(options: CliTable.TableConstructorOptions) {
  const style = { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': gap };
  const all = { ...options, chars: noBorders, style };
  return new CliTable(all) as CliTable.GenericTable<CliTable.HorizontalTableRow>;
}
