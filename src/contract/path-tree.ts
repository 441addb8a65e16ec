/** Finds the entry of a URL's path. */
import findMyWay from 'find-my-way';

/** The entry that matches a URL. */
export interface FoundPath<Entry> {
  readonly entry: Entry;
  /** The path's parameters, decoded; each has at least one character. */
  readonly params: Readonly<Record<string, string | undefined>>;
  /** The query string, still encoded. */
  readonly query: string;
}

export interface PathTree<Entry> {
  /** @param url the target of a request. */
  find(url: string): FoundPath<Entry> | 'unknown' | 'malformed';
}

/** The limit of a request's head, so no parameter is longer. */
const maxValueLength = 16 * 1024;

/**
 * Creates a tree that matches paths, not methods: `GET /pix/send` is a wrong method and not the
 * transaction `send` of `/pix/{transactionId}`.
 *
 * @param entries by the template of their path, such as `/api/v1/pix/{transactionId}`.
 */
export function createPathTree<Entry>(entries: ReadonlyMap<string, Entry>): PathTree<Entry> {
  const tree = findMyWay({
    querystringParser: (query) => query,
    maxParamLength: maxValueLength,
    onBadUrl: unused,
  });
  for (const [path, entry] of entries) {
    tree.on('GET', path.replaceAll(/\{(\w+)\}/g, ':$1'), unused, entry);
  }
  return {
    find(url) {
      const match = tree.find('GET', url);
      // The tree also matches empty parameters.
      if (match === null || hasEmptyParameter(match.params)) return 'unknown';
      // For a target that it cannot decode, the tree returns a route without a store.
      if (match.store === null) return 'malformed';
      const query = match.searchParams as unknown as string;
      return { entry: match.store as Entry, params: match.params, query };
    },
  };
}

function hasEmptyParameter(params: Readonly<Record<string, string | undefined>>): boolean {
  for (const name in params) if (params[name] === '') return true;
  return false;
}

/** The handler of every path: the tree only finds entries, and the caller runs them. */
function unused(): void {
  throw new Error('routes are not called through the tree');
}
