/** Rows as lines under named columns, as wide as there is room for. */
import { cut, type Tone } from './lines.ts';

export interface Column<Row> {
  readonly head: string;
  readonly align?: 'left' | 'right';
  cell(row: Row): string;
  tone?(row: Row): Tone;
}

export interface Cell {
  readonly text: string;
  readonly tone: Tone;
}

export interface Table {
  readonly head: string;
  readonly rows: readonly (readonly Cell[])[];
}

const gap = 2;

/** Where there is no room for a column of so many characters, it goes. */
const narrowest = 6;

/** Lays rows out; where it is too wide the last column is cut, and the ones without room go. */
export function tableOf<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  columnsWide: number,
): Table {
  let left = columnsWide;
  const laid = columns.flatMap((column) => {
    const natural = Math.max(
      column.head.length,
      ...rows.map((row) => [...column.cell(row)].length),
    );
    const width = Math.min(natural, left);
    if (width < Math.min(natural, narrowest)) return [];
    left -= width + gap;
    return [{ column, width }];
  });
  const filled = (text: string, width: number, align: Column<Row>['align']): string => {
    const short = cut(text, width);
    const space = ' '.repeat(width - [...short].length);
    return align === 'right' ? `${space}${short}` : `${short}${space}`;
  };
  return {
    head: laid
      .map(({ column, width }) => filled(column.head, width, column.align))
      .join(' '.repeat(gap)),
    rows: rows.map((row) =>
      laid.map(({ column, width }) => ({
        text: filled(column.cell(row), width, column.align),
        tone: column.tone?.(row) ?? 'plain',
      })),
    ),
  };
}
