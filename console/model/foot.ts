/** The keys that help, in the last lines of every screen. */

/** Puts the keys on as many lines as they need. */
export function footOf(keys: readonly string[], columns: number): string[] {
  const lines: string[] = [];
  for (const key of keys) {
    const line = lines.at(-1);
    const joined = `${line} · ${key}`;
    if (line === undefined || joined.length > columns) lines.push(key);
    else lines[lines.length - 1] = joined;
  }
  return lines;
}

/** The keys of a form, for its screen to show. */
export function formKeys(doing: string): string[] {
  return ['↑↓ fields', `ctrl+s ${doing}`, 'ctrl+u empty the field'];
}
