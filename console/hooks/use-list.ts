/** The chosen item of a list, or the first visible line of a text that scrolls. */
import { useRef, useState } from 'react';
import type { Press } from './use-keys.ts';

export interface List {
  readonly chosen: number;
  /** @returns whether the list uses the key. */
  press(press: Press): boolean;
  choose(index: number): void;
  /**
   * The view reports how many items are visible at once: the size of a page.
   * @param last the last index that can be chosen, where it is not that of the last item.
   */
  fit(pageSize: number, last?: number): void;
}

/** @param count the number of items, where it is known; @param first the index chosen at first. */
export function useList(count = Infinity, first = 0): List {
  const [index, setIndex] = useState(first);
  const fitted = useRef({ pageSize: 1, last: count - 1 });
  const chosen = Math.max(0, Math.min(index, count - 1));
  return {
    chosen,
    press({ key }) {
      const to = moveInList(key, chosen, fitted.current);
      if (to !== null) setIndex(to);
      return to !== null;
    },
    choose: setIndex,
    fit: (pageSize, last = count - 1) => {
      fitted.current = { pageSize, last };
    },
  };
}

/** @returns the index that a key leads to; null when it is not a key of a list. */
export function moveInList(
  key: string,
  from: number,
  { pageSize, last }: { readonly pageSize: number; readonly last: number },
): number | null {
  const targets: Readonly<Record<string, number>> = {
    up: from - 1,
    down: from + 1,
    home: 0,
    end: last,
    pageup: from - pageSize,
    pagedown: from + pageSize,
  };
  const to = targets[key];
  return to === undefined ? null : Math.max(0, Math.min(last, to));
}
