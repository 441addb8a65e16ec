/** Columns that several tables share, written the same way everywhere. */
import { p } from '@mikro-orm/core';

/** A point in time, to the millisecond: what a JavaScript date holds, so that none is rounded. */
export const instant = () => p.datetime().length(3);

/** An SQL condition that a column holds one of the given words. */
export function oneOf(column: string, words: readonly string[]): string {
  return `${column} in (${words.map((word) => `'${word}'`).join(', ')})`;
}
