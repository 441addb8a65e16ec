/** Signs of further pages outside the body of a response. */
import type { HttpResponse } from './client.ts';

/**
 * Whether the status or a header may say that a list is not whole: a status other than 200 (206 is
 * a part: RFC 9110, section 15.3.7), a link to the next page (RFC 8288), a cursor, a page that is
 * not the first or is full, or a total that is not the number of the items.
 *
 * @param count the items of the list.
 */
export function hasFurtherPages(
  { status, headers }: Pick<HttpResponse, 'status' | 'headers'>,
  count: number,
): boolean {
  return (
    status !== 200 ||
    Object.entries(headers).some(([name, value]) => isSign(name, String(value).trim(), count))
  );
}

const nothingFollows: ReadonlySet<string> = new Set(['', '0', 'false', 'no', 'null']);

function isSign(name: string, value: string, count: number): boolean {
  if (name === 'link') return /\brel\s*=\s*(?:next\b|"[^"]*\bnext\b)/i.test(value);
  if (name === 'content-range') return !value.endsWith(`/${count}`);
  const words = new Set(name.split(/[-_]/));
  const has = (...some: readonly string[]): boolean => some.some((word) => words.has(word));
  if (has('next', 'cursor', 'more')) return !nothingFollows.has(value.toLowerCase());
  if (has('page') && has('per', 'size')) return !(Number(value) > count);
  if (has('page', 'pages')) return !['0', '1'].includes(value);
  return has('total') && Number(value) !== count;
}
