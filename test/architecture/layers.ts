/**
 * Who may import whom. Each folder of `src` has a rank, and imports only from folders below it,
 * types included. The command, the console, the contract and the migrations stand outside.
 */
import type { Import, Source } from './source.ts';

/** The folders of `src` and its two loose files, from the top down. */
const ranks = `
  app operator pages http retention settlement login onboarding app-events disputes pix pix-keys
  ledger accounts auth jobs context process provider contract config db security telemetry domain
  errors.ts clock.ts
`
  .trim()
  .split(/\s+/)
  .map((name) => `src/${name}`);

/** What code outside `src` may import besides itself; null: everything. */
const outside: ReadonlyMap<string, readonly string[] | null> = new Map([
  ['test', null],
  ['bin', null],
  ['console', ['contract']],
  ['contract', ['src/contract']],
  ['migrations', ['src/db/online-migration.ts']],
  ['mikro-orm.config.ts', ['src/db']],
]);

/** Folders that do not know each other, although the ranks would allow it: the upper, the lower. */
const apart: ReadonlyMap<string, string> = new Map([['src/settlement', 'src/pix']]);

/** What `src` may import of the contract: generated types, which have no code. */
const generatedTypes = ['contract/types.ts', 'contract/provider-types.ts'];

const httpObjects = /^(?:node:(?:http|https|http2|net|tls)|undici)(?:$|\/)/;

/** Packages and node modules that a folder must not import. */
const without: ReadonlyMap<string, RegExp> = new Map([
  // `cpf` is pure as well: the arithmetic of tax identifiers, with nothing below it.
  ['src/domain', /^(?!(?:node:crypto|cpf)$)/],
  ['src/http', /^undici(?:$|\/)/],
  ...[
    'settlement',
    'login',
    'disputes',
    'pix',
    'pix-keys',
    'ledger',
    'accounts',
    'auth',
    'jobs',
    'retention',
  ].map((name) => [`src/${name}`, httpObjects] as const),
]);

/** These parts of the provider are sealed: only the provider's own files import them. */
const sealed = [
  'src/provider/dialect',
  'src/provider/http',
  'src/provider/resilience',
  'src/provider/sandbox/bank',
  'src/provider/wire-reading.ts',
];

/** The reader of events, and what checks a dialect: the port has both. */
const unsealed = ['dialects', 'load', 'samples'].map((name) => `src/provider/dialect/${name}.ts`);

const contains = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(`${folder}/`);

/** The folder of a file by the lists above; null: none. */
export function findFolder(path: string): string | null {
  return [...ranks, ...outside.keys()].find((folder) => contains(folder, path)) ?? null;
}

/** The imports that the lists do not allow, each as a sentence. */
export function findBreaches({ path, imports }: Source): string[] {
  const folder = findFolder(path);
  if (folder === null) return [`${path} stands in no folder of test/architecture/layers.ts.`];
  return imports.flatMap((imported) => {
    const { line, specifier, target } = imported;
    const fault = findFault(folder, imported);
    return fault === null ? [] : [`${path}:${line} imports ${target ?? specifier}. ${fault}`];
  });
}

function findFault(folder: string, { path, specifier, target }: Import): string | null {
  if (target === null) {
    const isForbidden = without.get(folder)?.test(specifier) ?? false;
    return isForbidden ? `${folder} does without this package.` : null;
  }
  const found = findFolder(target);
  if (found === folder || target === 'package.json') return isSealed(path, target);
  const allowed = outside.get(folder);
  if (allowed === null) return null;
  if (allowed !== undefined) {
    const isAllowed = allowed.some((part) => contains(part, target));
    return isAllowed ? null : `${folder} imports only: ${allowed.join(', ')}.`;
  }
  if (generatedTypes.includes(target)) return null;
  if (found === null || ranks.indexOf(found) < ranks.indexOf(folder)) {
    return `A folder imports only from those below it in the list of ranks.`;
  }
  if (apart.get(folder) === found) return `What both need stands in src/ledger.`;
  return isSealed(path, target);
}

function isSealed(path: string, target: string): string | null {
  const part = sealed.find((folder) => contains(folder, target));
  if (part === undefined || contains('src/provider', path)) return null;
  if (unsealed.includes(target)) return null;
  return `${part} is sealed: use the port, src/provider/*.ts.`;
}

/** The imports of one operation by another one, each as a sentence. */
export function operationImports(sources: readonly Source[]): string[] {
  const table = sources.find(({ path }) => path === 'src/app/operations.ts');
  const operations = new Set(
    table?.imports.flatMap(({ target, typeOnly }) => (target === null || typeOnly ? [] : target)),
  );
  return sources
    .filter(({ path }) => operations.has(path))
    .flatMap(({ imports }) => imports)
    .filter(({ target }) => target !== null && operations.has(target))
    .map(({ path, line, target }) => `${path}:${line} imports ${target}`);
}
/** Circles of imports, each as a chain of paths; a file is in one circle at most. */
export function cyclesAmong(sources: readonly Source[]): string[] {
  const targets = new Map(
    sources.map(({ path, imports }) => [path, imports.flatMap(({ target }) => target ?? [])]),
  );
  const done = new Set<string>();
  const chain: string[] = [];
  const cycles: string[] = [];
  const visit = (path: string): void => {
    const start = chain.indexOf(path);
    if (start !== -1) cycles.push([...chain.slice(start), path].join(' → '));
    if (start !== -1 || done.has(path)) return;
    chain.push(path);
    for (const target of targets.get(path) ?? []) visit(target);
    chain.pop();
    done.add(path);
  };
  for (const path of targets.keys()) visit(path);
  return cycles;
}
