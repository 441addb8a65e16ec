/** How large a window has to be. */

export interface WindowSize {
  readonly columns: number;
  readonly rows: number;
}

export const smallestWindow: WindowSize = { columns: 60, rows: 20 };

/** In a window that is too small nothing can be shown, and so no key is taken either. */
export function isTooSmall({ columns, rows }: WindowSize): boolean {
  return columns < smallestWindow.columns || rows < smallestWindow.rows;
}
