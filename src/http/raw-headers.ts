/**
 * Counts the fields of a header. `headers` has only the first of those that may not be repeated,
 * and `headersDistinct` copies them all.
 *
 * @param rawHeaders names and values in turn, as they were sent.
 * @param name in lower case.
 */
export function countHeader(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at] ?? '';
    if (sent.length === name.length && sent.toLowerCase() === name) count += 1;
  }
  return count;
}
