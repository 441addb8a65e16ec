/** Columns and conditions that several tables share. */
import { p } from '@mikro-orm/core';

/** A point in time, in milliseconds like a JavaScript date, so that none is rounded. */
export const instant = () => p.datetime().length(3);

/** An SQL condition that a column has one of some words. */
export function oneOf(column: string, words: readonly string[]): string {
  return `${column} in (${words.map((word) => `'${word}'`).join(', ')})`;
}
