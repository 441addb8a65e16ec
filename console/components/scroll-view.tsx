/** Draws lines from where one has scrolled to, never past the end. */
import { useLayoutEffect } from 'react';
import type { ScrollHandle } from '../listen/use-scroll.ts';
import { moreText, type Line } from '../model/lines.ts';
import type { Room } from './frame.tsx';
import { LinesView } from './lines-view.tsx';
import { Toned } from './toned.tsx';

export interface ScrollViewProps {
  readonly lines: readonly Line[];
  readonly scroll: ScrollHandle;
  readonly room: Room;
}

/** As many lines as there is room for, and how many more there are. */
export function ScrollView({ lines, scroll, room }: ScrollViewProps) {
  const size = lines.length <= room.rows ? room.rows : room.rows - 1;
  useLayoutEffect(() => scroll.fits(size));
  const above = Math.max(0, Math.min(scroll.above, lines.length - size));
  const below = Math.max(0, lines.length - size - above);
  return (
    <>
      <LinesView lines={lines.slice(above, above + size)} />
      {size < room.rows && <Toned tone="faint">{moreText({ above, below })}</Toned>}
    </>
  );
}
