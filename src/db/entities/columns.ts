/** Columns and conditions that several tables share. */
import { p } from '@mikro-orm/core';

/** A point in time in milliseconds, the precision of a JavaScript date: no value is rounded. */
export const instant = () => p.datetime().length(3);

/** An SQL condition: the column has one of these values. */
export function isOneOf(column: string, words: readonly string[]): string {
  return `${column} in (${words.map((word) => `'${word}'`).join(', ')})`;
}
