/** A table with a chosen row, a page at a time, and lines that scroll. */
import { Box } from 'ink';
import { useLayoutEffect, type ReactNode } from 'react';
import type { List } from '../hooks/use-list.ts';
import { columnGap, layOutTable, type Cell, type Column, type Row } from '../state/table.ts';
import { moreText, type Line, type Room } from '../state/text.ts';
import { Coloured, Lines } from './coloured.tsx';

export interface TableViewProps {
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  readonly list: List;
  readonly room: Room;
  /** The text of an empty table. */
  readonly none: string;
  /** The title on the line above the table. */
  readonly title?: ReactNode;
}

/** The mark before the chosen row. */
const markColumns = 2;

/** The title and an empty line; the heads and the count below. */
const [titleRows, otherRows] = [2, 2];

export function TableView({ columns, rows, list, room, none, title }: TableViewProps) {
  const size = Math.max(1, room.rows - otherRows - (title ? titleRows : 0));
  useLayoutEffect(() => list.fit(size));
  const { chosen } = list;
  const page = Math.floor(chosen / size);
  const table = layOutTable(columns, rows, room.columns - markColumns);
  const pages = Math.ceil(rows.length / size);
  const pageText = pages > 1 ? ` · page ${page + 1} of ${pages}` : '';
  return (
    <Box flexDirection="column" flexShrink={0}>
      {title && <Box height={titleRows}>{title}</Box>}
      <Coloured colour="faint">{rows.length === 0 ? none : `  ${table.head}`}</Coloured>
      {table.rows.slice(page * size, (page + 1) * size).map((cells, index) => (
        <TableRow key={index} cells={cells} isChosen={page * size + index === chosen} />
      ))}
      {rows.length > 0 && (
        <Coloured colour="faint">{`  ${chosen + 1} of ${rows.length}${pageText}`}</Coloured>
      )}
    </Box>
  );
}

interface TableRowProps {
  readonly cells: readonly Cell[];
  readonly isChosen: boolean;
}

function TableRow({ cells, isChosen }: TableRowProps) {
  return (
    <Box flexShrink={0}>
      <Coloured bold>{isChosen ? '› ' : '  '}</Coloured>
      <Box gap={columnGap} flexShrink={0}>
        {cells.map(({ text, colour }, index) => (
          <Coloured key={index} colour={colour} bold={isChosen}>
            {text}
          </Coloured>
        ))}
      </Box>
    </Box>
  );
}

export interface ScrollViewProps {
  /** Wraps the text to this number of columns. */
  lines(columns: number): readonly Line[];
  /** Its chosen item is the first visible line. */
  readonly list: List;
  readonly room: Room;
}

/** As many lines as there is room for, and how many more there are. */
export function ScrollView({ lines, list, room }: ScrollViewProps) {
  const all = lines(room.columns);
  const isWhole = all.length <= room.rows;
  const size = isWhole ? room.rows : room.rows - 1;
  const last = Math.max(0, all.length - size);
  useLayoutEffect(() => list.fit(size, last));
  const above = Math.min(list.chosen, last);
  return (
    <>
      <Lines lines={all.slice(above, above + size)} />
      {!isWhole && <Coloured colour="faint">{moreText(above, all.length - size - above)}</Coloured>}
    </>
  );
}
