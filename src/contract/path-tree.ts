/** Finds the entry of a URL's path. */
import findMyWay from 'find-my-way';

/** What a URL leads to. */
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

/** Longer paths do not come through: the request's head is bounded. */
const MAX_PARAM_LENGTH = 16 * 1024;

/**
 * Makes the tree. It finds paths and not methods, so that a path of its own (`/pix/send`) is never
 * taken for the parameter of another (`/pix/{transactionId}`) because of the method.
 *
 * @param entries by the template of their path, such as `/api/v1/pix/{transactionId}`.
 */
export function createPathTree<Entry>(entries: ReadonlyMap<string, Entry>): PathTree<Entry> {
  const tree = findMyWay({
    querystringParser: (query) => query,
    maxParamLength: MAX_PARAM_LENGTH,
    onBadUrl: unused,
  });
  for (const [path, entry] of entries) {
    tree.on('GET', path.replaceAll(/\{(\w+)\}/g, ':$1'), unused, entry);
  }
  return {
    find(url) {
      const match = tree.find('GET', url);
      // A parameter takes at least one character; the tree lets it take none.
      if (match === null || hasEmptyParameter(match.params)) return 'unknown';
      // The tree answers a target that it cannot decode with a route of its own, without a store.
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

/** The tree only finds: the caller runs what is found. */
function unused(): void {
  throw new Error('routes are not called through the tree');
}
