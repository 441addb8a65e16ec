/** Which item of a list is chosen. */
import { useRef, useState } from 'react';
import type { Press } from '../model/keyboard.ts';
import { moved } from '../model/list.ts';

export interface ListHandle {
  readonly chosen: number;
  /** @returns whether the key was one of the list's. */
  press(press: Press): boolean;
  /** Chooses this one, or the first one. */
  choose(index?: number): void;
  /** Told by the drawing how many items are seen at once: a page. */
  fits(pageSize: number): void;
}

/** @param count how many items there are now; @param first the one that is chosen at first. */
export function useList(count: number, first = 0): ListHandle {
  const [index, setIndex] = useState(first);
  const pageSize = useRef(1);
  const chosen = Math.max(0, Math.min(index, count - 1));
  return {
    chosen,
    press(press) {
      const to = moved(press, chosen, { count, pageSize: pageSize.current });
      if (to !== null) setIndex(to);
      return to !== null;
    },
    choose: (to = 0) => setIndex(to),
    fits: (size) => {
      pageSize.current = size;
    },
  };
}
