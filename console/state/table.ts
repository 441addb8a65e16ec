/** Rows as cells under named columns, as wide as there is room for. */
import { cut, statusColour, measureWidth, type Colour, type Facts } from './text.ts';

/** Any object of JSON. */
export type Row = Readonly<Record<string, unknown>>;

/** @returns the members of an object. */
export function toRow(item: object): Row {
  return { ...item };
}

/** @returns the text of a member, which is named in the head of its column. */
export type FormatCell = (row: Row, name: string) => string;

export interface Column {
  readonly head: string;
  cell(row: Row): string;
}

export interface Cell {
  readonly text: string;
  readonly colour: Colour;
}

/** @returns a member of a row as one text. */
export const cellText: FormatCell = (row, name) => {
  const value = row[name];
  if (value === null || value === undefined || value === '') return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** @returns a column for each member: `receivedAt` and `received_at` are under RECEIVED AT. */
export function memberColumns(names: readonly string[], format: FormatCell): Column[] {
  return names.map((name) => ({
    head: memberLabel(name).toUpperCase(),
    cell: (row) => format(row, name),
  }));
}

/** @returns the names and the values of all members. */
export function memberFacts(row: Row, format: FormatCell): Facts {
  return Object.keys(row).map((name) => [memberLabel(name), format(row, name)]);
}

function memberLabel(name: string): string {
  return name.replaceAll(/_|(?=[A-Z])/g, ' ').toLowerCase();
}

/** Columns stand this far apart. */
export const columnGap = 2;

/** A column that has room for fewer characters is left out. */
const minimumWidth = 6;

const timePattern = /^\d\d\/\d\d \d\d:\d\dZ?$/;

/** Lays rows out under their heads; columns without room are cut or left out. */
export function layOutTable(
  columns: readonly Column[],
  rows: readonly Row[],
  totalWidth: number,
): { readonly head: string; readonly rows: readonly (readonly Cell[])[] } {
  let left = totalWidth;
  const shown = columns.flatMap(({ head, cell }) => {
    const cells = rows.map(cell);
    const natural = Math.max(head.length, ...cells.map(measureWidth));
    const width = Math.min(natural, left);
    // A part of a time says nothing.
    const needed = cells.some((text) => timePattern.test(text)) ? natural : minimumWidth;
    if (width < Math.min(natural, needed)) return [];
    left -= width + columnGap;
    const isNumeric = cells.every((text) => /^-?(?:R\$ )?[\d.,]+$|^–$/.test(text));
    const pad = (text: string): string => {
      const short = cut(text, width);
      const space = ' '.repeat(Math.max(0, width - measureWidth(short)));
      return isNumeric ? `${space}${short}` : `${short}${space}`;
    };
    return [{ head: pad(head), cells, pad }];
  });
  return {
    head: shown.map(({ head }) => head).join(' '.repeat(columnGap)),
    rows: rows.map((_row, index) =>
      shown.map(({ cells, pad }) => {
        const text = cells[index] ?? '';
        return { text: pad(text), colour: statusColour(text) };
      }),
    ),
  };
}
