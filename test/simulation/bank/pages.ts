/** Statements in pages: only the first one is answered, with a sign that there are others. */
import type { PageSign } from './adversary.ts';

/** The number of lines of a page. */
const pageSize = 1;

/** The sizes of pages that the dialect `ponte` declares: a list of so many lines may be a page. */
const declaredSizes: ReadonlySet<number> = new Set([50, 100, 200, 250, 500, 1000, 2000, 5000]);

/** Whether a list without a sign of further pages may be a full page. */
export function mayBePage(lines: readonly unknown[]): boolean {
  return declaredSizes.has(lines.length);
}

/**
 * @param lines the whole statement.
 * @returns the first page and the sign beside it; null: all lines fit in one page, without a sign.
 */
export function firstPage<Line>(
  lines: readonly Line[],
  sign: PageSign | null,
): { readonly lines: readonly Line[]; readonly beside: object } | null {
  if (sign === null || lines.length <= pageSize) return null;
  return { lines: lines.slice(0, pageSize), beside: makeSign(sign, lines.length) };
}

function makeSign(sign: PageSign, total: number): object {
  const pages = Math.ceil(total / pageSize);
  switch (sign) {
    case 'total':
      return { total };
    case 'pages':
      return { page: 1, totalPages: pages };
    case 'next':
      return { next: '/internal/api/v1/account/statement?page=2' };
    case 'more':
      return { hasMore: true };
    case 'cursor':
      return { pagination: { cursor: 'eyJwIjoyfQ' } };
    case 'links':
      return { _links: { self: {}, next: { href: '?page=2' } } };
    case 'size':
      return { pageSize };
  }
}
