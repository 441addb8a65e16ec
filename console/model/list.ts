/** Which item of a list is chosen, and how each key changes it. Nothing here is drawn. */
import type { KeyName, Press } from './keyboard.ts';

interface ListSize {
  readonly count: number;
  readonly pageSize: number;
}

const moves: Partial<Record<KeyName, (chosen: number, size: ListSize) => number>> = {
  up: (chosen) => chosen - 1,
  down: (chosen) => chosen + 1,
  pageup: (chosen, { pageSize }) => chosen - pageSize,
  pagedown: (chosen, { pageSize }) => chosen + pageSize,
  home: () => 0,
  end: (_chosen, { count }) => count - 1,
};

/** @returns the index that a key leads to, or null when the key is none of a list's. */
export function moved(press: Press, chosen: number, size: ListSize): number | null {
  const to = moves[press.key]?.(chosen, size);
  return to === undefined ? null : Math.max(0, Math.min(size.count - 1, to));
}

/** The page that an item is on: the index of its first item. */
export function pageStart(chosen: number, pageSize: number): number {
  return Math.floor(chosen / pageSize) * pageSize;
}
