/** Tables for people: no borders, as wide as the terminal, one line a row. */
import { stripVTControlCharacters } from 'node:util';
import CliTable from 'cli-table3';
import type { Tone } from './tone.ts';

export type CellValue = string | number | boolean | null | undefined;

export interface Column<Row> {
  readonly head: string;
  cell(row: Row): CellValue;
  /** It is for copying, such as an id: it is never cut. */
  readonly isWhole?: boolean;
  readonly align?: 'left' | 'right';
  tone?(row: Row): Tone | null;
}

export interface TableLayout<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Undefined: as wide as it gets, for a file or another program. */
  readonly columnsWide: number | undefined;
  readonly tone: (tone: Tone, text: string) => string;
}

/** A column that is cut keeps this many columns of the terminal, its gap included. */
const narrowest = 10;

const gap = 2;

const noLines = Object.fromEntries(
  [
    ...['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left'],
    ...['bottom-right', 'left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'],
  ].map((name) => [name, '']),
);

/**
 * Lays a table out. Where it is too wide its widest columns are cut; where that is not enough each
 * row becomes a paragraph of its own.
 */
export function tableText<Row>(layout: TableLayout<Row>): string {
  const { columns, rows, columnsWide, tone } = layout;
  const natural = columns.map((column) => naturalWidth(column, rows));
  const widths = fittedWidths(columns, natural, columnsWide);
  if (widths === null) return paragraphs(layout);
  const head = columns.map((column) => tone('faint', column.head));
  const aligns = columns.map(({ align }) => align ?? 'left');
  const table = emptyTable({ head, colWidths: widths, colAligns: aligns });
  table.push(...rows.map((row) => columns.map((column) => toned(column, row, tone))));
  return trimmed(table.toString());
}

/** Names and values, one a line. */
export function detailsText(
  fields: readonly (readonly [name: string, value: CellValue])[],
  tone: TableLayout<unknown>['tone'],
): string {
  const longest = Math.max(...fields.map(([name]) => name.length));
  return fields
    .map(([name, value]) => `${tone('faint', name.padEnd(longest))}  ${plainText(value)}`.trimEnd())
    .join('\n');
}

/** What is stored may hold anything: nothing of it writes to the terminal but as text. */
export function plainText(value: CellValue): string {
  if (value === null || value === undefined || value === '') return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return stripVTControlCharacters(String(value)).replaceAll(
    /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_C}]/gu,
    ' ',
  );
}

function toned<Row>(column: Column<Row>, row: Row, tone: TableLayout<Row>['tone']): string {
  const text = plainText(column.cell(row));
  const name = column.tone?.(row);
  return name ? tone(name, text) : text;
}

function naturalWidth<Row>(column: Column<Row>, rows: readonly Row[]): number {
  const table = emptyTable({});
  table.push([column.head], ...rows.map((row) => [plainText(column.cell(row))]));
  return table.width;
}

/** @returns null when the columns cannot be made narrow enough. */
function fittedWidths<Row>(
  columns: readonly Column<Row>[],
  natural: readonly number[],
  limit: number | undefined,
): number[] | null {
  const widths = [...natural];
  // The last column's gap need not fit.
  let over = limit === undefined ? 0 : sum(widths) - gap - limit;
  while (over > 0) {
    const widest = columns.reduce<number | null>((best, { isWhole }, index) => {
      const width = widths[index] ?? 0;
      if (isWhole || width <= narrowest) return best;
      return best === null || width > (widths[best] ?? 0) ? index : best;
    }, null);
    if (widest === null) return null;
    widths[widest] = (widths[widest] ?? 0) - 1;
    over -= 1;
  }
  return widths;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function paragraphs<Row>({ columns, rows, tone }: TableLayout<Row>): string {
  return rows
    .map((row) =>
      detailsText(
        columns.map((column) => [column.head, column.cell(row)]),
        tone,
      ),
    )
    .join('\n\n');
}

function emptyTable(options: CliTable.TableConstructorOptions) {
  const style = { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': gap };
  return new CliTable({
    ...options,
    chars: noLines,
    style,
  }) as CliTable.GenericTable<CliTable.HorizontalTableRow>;
}

function trimmed(text: string): string {
  return text.replaceAll(/[^\S\n]+$/gm, '');
}
