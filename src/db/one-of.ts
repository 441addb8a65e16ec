/** An SQL condition that a column holds one of the given words. */
export function oneOf(column: string, words: readonly string[]): string {
  return `${column} in (${words.map((word) => `'${word}'`).join(', ')})`;
}
