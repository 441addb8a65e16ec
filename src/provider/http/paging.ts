/** Signs of further pages outside the body of a response. */
import type { HttpResponse } from './client.ts';

/**
 * Whether the status or a header says that a list may not be whole: a status other than 200 (206 is
 * a part: RFC 9110, section 15.3.7), a link to the next page (RFC 8288), or a header of paging, by
 * the rules for such fields in a body. No other header counts: a gateway adds what it likes.
 *
 * @param count the items of the list.
 */
export function hasFurtherPages(
  { status, headers }: Pick<HttpResponse, 'status' | 'headers'>,
  count: number,
): boolean {
  if (status !== 200) return true;
  const found = Object.entries(headers).flatMap(([name, value]) => readHeader(name, String(value)));
  const valuesOf = (kind: Kind): string[] =>
    found.flatMap((sign) => (sign.kind === kind ? [sign.value] : []));
  const isFirst = (value: string): boolean => ['', '0', '1', '1/1'].includes(value);
  const totals = valuesOf('total').filter((value) => value !== '');
  const pages = valuesOf('pages').filter((value) => value !== '');
  const isOnlyPage =
    valuesOf('next').every((value) => nothingFollows.has(value)) &&
    [...valuesOf('page'), ...pages].every(isFirst) &&
    totals.every((value) => Number(value) === count);
  if (!isOnlyPage) return true;
  if (totals.length + pages.length > 0) return false;
  return valuesOf('size').some((value) => Number(value) > 0 && Number(value) <= count);
}

type Kind = 'next' | 'page' | 'pages' | 'size' | 'total';

interface Sign {
  readonly kind: Kind;
  /** In lower case. */
  readonly value: string;
}

const nothingFollows = new Set(['', '0', '-1', 'false', 'f', 'no', 'n', 'none', 'null']);

/** The names of headers and of fields in `X-Pagination`, without `X-` and dashes. */
const names: Readonly<Record<Kind, ReadonlySet<string>>> = {
  next: wordsOf(`next nextpage nextcursor nexttoken nextpagetoken nextoffset nextlink nexturl
    cursor pagetoken continuation continuationtoken mscontinuation resumekey lastevaluatedkey more
    morepages hasmore hasmorepages hasnext hasnextpage truncated istruncated proxima proximapagina
    possuimais temmais`),
  page: wordsOf('page currentpage pagenumber paginationpage pagina paginaatual'),
  pages: wordsOf('pages pagecount totalpages lastpage paginationpages paginas totalpaginas'),
  size: wordsOf('perpage pagesize pagelimit paginationlimit tamanhopagina'),
  total:
    wordsOf(`total totalcount totalitems totalrecords totalelements totalresults count itemcount
    resultcount recordcount paginationtotal paginationcount totalregistros`),
};

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}

function readHeader(name: string, value: string): Sign[] {
  if (name === 'link') return hasNextLink(value) ? [{ kind: 'next', value: 'link' }] : [];
  if (name === 'content-range') return totalOfRange(value);
  const folded = name.replace(/^x-/, '').replaceAll(/[-_]/g, '');
  if (folded === 'pagination') return readPagination(value);
  // A gateway and the bank behind it may each have added the header.
  return value.split(',').flatMap((part) => readField(folded, part));
}

function readField(name: string, value: string): Sign[] {
  const kinds = (Object.keys(names) as Kind[]).filter((kind) => names[kind].has(name));
  return kinds.map((kind) => ({ kind, value: value.trim().toLowerCase() }));
}

/** `{"totalCount": 200, "hasNext": true}` */
function readPagination(value: string): Sign[] {
  try {
    const fields = Object.entries(JSON.parse(value) as Readonly<Record<string, unknown>>);
    return fields.flatMap(([name, field]) => {
      const text = typeof field === 'string' ? field : JSON.stringify(field);
      return readField(name.toLowerCase(), text);
    });
  } catch {
    return [];
  }
}

/** `items 0-49/200`; a range of bytes, and an unknown total, say nothing of pages. */
function totalOfRange(value: string): Sign[] {
  const total = /^(?!bytes)\w+ .*\/(\d+)$/.exec(value.trim())?.[1];
  return total === undefined ? [] : [{ kind: 'total', value: total }];
}

function hasNextLink(value: string): boolean {
  const relations = value.matchAll(/;\s*rel\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;,]+))/gi);
  return [...relations].some(([, ...quoted]) =>
    quoted.some((relation) => relation?.toLowerCase().split(/\s+/).includes('next')),
  );
}
