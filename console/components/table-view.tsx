/** Draws a table with the chosen row marked, a page at a time. */
import { Box } from 'ink';
import { useLayoutEffect } from 'react';
import { pageStart } from '../model/list.ts';
import type { ListHandle } from '../listen/use-list.ts';
import { tableOf, type Cell, type Column } from '../model/table.ts';
import type { Room } from './frame.tsx';
import { Toned } from './toned.tsx';

export interface TableViewProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly list: ListHandle;
  readonly room: Room;
  /** What is said when there are no rows. */
  readonly none: string;
}

/** The mark before the chosen row. */
const markColumns = 2;

/** The heads, and the count below. */
const otherRows = 2;

export function TableView<Row>({ columns, rows, list, room, none }: TableViewProps<Row>) {
  const size = Math.max(1, room.rows - otherRows);
  useLayoutEffect(() => list.fits(size));
  if (rows.length === 0) return <Toned tone="faint">{none}</Toned>;
  const { chosen } = list;
  const start = pageStart(chosen, size);
  const { head, rows: cells } = tableOf(columns, rows, room.columns - markColumns);
  const pages = Math.ceil(rows.length / size);
  const page = pages > 1 ? ` · page ${start / size + 1} of ${pages}` : '';
  return (
    <Box flexDirection="column" flexShrink={0}>
      <Toned tone="faint">{`  ${head}`}</Toned>
      {cells.slice(start, start + size).map((row, index) => (
        <Row key={start + index} cells={row} isChosen={start + index === chosen} />
      ))}
      <Toned tone="faint">{`  ${chosen + 1} of ${rows.length}${page}`}</Toned>
    </Box>
  );
}

function Row({ cells, isChosen }: { readonly cells: readonly Cell[]; readonly isChosen: boolean }) {
  return (
    <Box flexShrink={0}>
      <Toned bold>{isChosen ? '› ' : '  '}</Toned>
      <Box gap={2} flexShrink={0}>
        {cells.map(({ text, tone }, index) => (
          <Toned key={index} tone={tone} bold={isChosen}>
            {text}
          </Toned>
        ))}
      </Box>
    </Box>
  );
}
