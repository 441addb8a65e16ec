/** How far down one has scrolled in some lines. */
import { useRef, useState } from 'react';
import type { Press } from '../model/keyboard.ts';
import { moved } from '../model/list.ts';

export interface ScrollHandle {
  /** How many lines are above the first one that is seen. */
  readonly above: number;
  /** @returns whether the key scrolled. */
  press(press: Press): boolean;
  toTop(): void;
  /** Told by the drawing how many lines are seen at once. */
  fits(lines: number): void;
}

/** @param count how many lines there are now. */
export function useScroll(count: number): ScrollHandle {
  const [above, setAbove] = useState(0);
  const seen = useRef(1);
  const last = (): number => Math.max(0, count - seen.current);
  return {
    above,
    press(press) {
      const size = { count: last() + 1, pageSize: seen.current };
      const to = moved(press, Math.min(above, last()), size);
      if (to !== null) setAbove(to);
      return to !== null;
    },
    toTop: () => setAbove(0),
    fits: (lines) => {
      seen.current = lines;
    },
  };
}
