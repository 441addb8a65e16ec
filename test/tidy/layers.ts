/**
 * Who may import whom. Every file belongs to a part of the house, and imports point one way:
 * bin, console → app → http, jobs, ops, pages → operations → services → the port, db → domain.
 */
import type { Import, Source } from './source.ts';

interface Rule {
  /** The parts that it may import, besides itself. */
  readonly may: readonly Part[];
  /** Packages and node modules that it must not import. */
  readonly without?: RegExp;
  readonly instead: string;
}

type Part = keyof typeof members;

/** The first part that matches is the one: what is special stands before what is general. */
const members = {
  'contract/types.ts': /^contract\/types\.ts$/,
  contract: /^contract\//,
  migrations: /^migrations\//,
  'mikro-orm.config.ts': /^mikro-orm\.config\.ts$/,
  test: /^test\//,
  bin: /^bin\//,
  console: /^console\//,
  clock: /^src\/clock\.ts$/,
  config: /^src\/config(?:-[a-z]+)*\.ts$/,
  errors: /^src\/errors\.ts$/,
  log: /^src\/log\.ts$/,
  metrics: /^src\/metrics(?:-gauges)?\.ts$/,
  context: /^src\/context\.ts$/,
  domain: /^src\/domain\//,
  'db/online-migration.ts': /^src\/db\/online-migration\.ts$/,
  db: /^src\/db\//,
  security: /^src\/security\//,
  'the port': /^src\/provider\/(?:provider|errors|webhook-events|statement-\w+|listed-keys)\.ts$/,
  'provider words': /^src\/provider\/(?:wire|webhook)-[a-z-]+\.ts$/,
  'provider/http': /^src\/provider\/http\//,
  'provider/stub': /^src\/provider\/stub\//,
  'provider/sandbox': /^src\/provider\/sandbox\//,
  'provider wraps': /^src\/provider\/(?:wrap-provider\.ts$|resilience\/)/,
  services: /^src\/services\//,
  'operations/operation.ts': /^src\/operations\/operation\.ts$/,
  'operations/index.ts': /^src\/operations\/index\.ts$/,
  operations: /^src\/operations\//,
  http: /^src\/http\//,
  jobs: /^src\/jobs\//,
  ops: /^src\/ops\//,
  pages: /^src\/pages\//,
  app: /^src\/[^/]+\.ts$/,
} as const satisfies Record<string, RegExp>;

/** What an operation, a job and a command may all build on. */
const belowOperations = [
  'services',
  'the port',
  'db',
  'domain',
  'context',
  'errors',
  'log',
  'metrics',
  'clock',
  'config',
] as const satisfies Part[];

const httpObjects = /^(?:node:(?:http|https|http2|net|tls)|undici)(?:$|\/)/;

const rules: Readonly<Record<Part, Rule>> = {
  'contract/types.ts': { may: [], instead: 'It is generated: change contract/generate-types.ts.' },
  contract: { may: [], instead: 'The contract stands alone: it is read, it reads nothing.' },
  migrations: {
    may: ['db/online-migration.ts'],
    instead: 'A migration is history: write what it needs into it.',
  },
  'db/online-migration.ts': { may: [], instead: 'Migrations that have landed depend on it.' },
  'mikro-orm.config.ts': { may: ['db'], instead: 'It only hands on the options of src/db/orm.ts.' },
  test: { may: ['contract', 'test'], instead: '' },
  bin: {
    may: ['app', 'ops', 'provider/sandbox', 'domain', 'errors', 'log', 'clock', 'config'],
    instead: 'A command asks src/app.ts to run something, or a function of src/ops.',
  },
  console: {
    may: ['contract/types.ts'],
    instead: "The console is a client: it knows the contract's types and calls over HTTP.",
  },
  clock: { may: [], instead: 'A leaf imports nothing of ours.' },
  config: { may: ['domain'], instead: 'It reads the environment: the domain has the pure rules.' },
  errors: { may: [], instead: 'A leaf imports nothing of ours.' },
  log: { may: [], instead: 'A leaf imports nothing of ours: take it as a parameter.' },
  metrics: { may: [], instead: 'A leaf imports nothing of ours: take it as a parameter.' },
  context: {
    may: ['clock', 'config', 'db', 'log', 'metrics', 'the port', 'security', 'services'],
    instead: 'It names the types of what is passed down, and nothing above services.',
  },
  domain: {
    may: ['errors'],
    // `cpf` is pure as well: the arithmetic of tax identifiers, with nothing below it.
    without: /^(?!(?:node:crypto|cpf)$)/,
    instead: 'The domain is pure: pass in what it needs. Of the outside it has chance alone.',
  },
  db: {
    may: ['domain', 'errors', 'clock'],
    instead: 'The database knows the domain only: take the rest as an option, from src/app.ts.',
  },
  security: {
    may: ['errors', 'clock'],
    instead: 'It knows keys and bytes only: take the rest as an option, from src/app.ts.',
  },
  'the port': {
    may: ['provider words', 'domain', 'errors'],
    instead: 'The port is words: what does something stands behind it or wraps it.',
  },
  'provider words': {
    may: ['the port', 'domain', 'errors'],
    instead: "It reads the provider's words, wherever they come from, and calls nobody.",
  },
  'provider wraps': {
    may: ['the port', 'domain', 'errors', 'clock'],
    instead: 'It wraps any provider through the port: take the rest as an option.',
  },
  'provider/http': {
    may: ['the port', 'provider words', 'domain', 'errors', 'clock'],
    instead: 'The client implements the port alone: take the rest as an option.',
  },
  'provider/stub': {
    may: ['the port', 'domain', 'errors', 'clock'],
    instead: 'The simulated bank stands behind the port: take the rest as an option.',
  },
  'provider/sandbox': {
    may: ['provider/stub', 'provider/http', 'the port', 'domain', 'errors', 'clock'],
    instead: "It is the simulated bank over HTTP, and knows nothing of Ponte's inside.",
  },
  services: {
    may: [...belowOperations, 'security'],
    without: httpObjects,
    instead: 'A service returns a value; whoever calls it makes an answer or a job of it.',
  },
  'operations/operation.ts': {
    may: [...belowOperations, 'security', 'contract/types.ts'],
    without: httpObjects,
    instead: 'The form of an operation has no HTTP objects in it.',
  },
  'operations/index.ts': {
    may: ['operations', 'operations/operation.ts'],
    instead: 'The table lists operations and does nothing else.',
  },
  operations: {
    may: [...belowOperations, 'security', 'contract/types.ts', 'operations/operation.ts'],
    without: httpObjects,
    instead:
      'An operation takes checked input and returns { status, body, headers }. What two of them ' +
      'need is a service; the provider is `context.provider`.',
  },
  http: {
    may: [...belowOperations, 'security', 'contract/types.ts', 'operations/operation.ts'],
    without: /^undici(?:$|\/)/,
    instead:
      'The wire knows the form of an operation and none by name: src/app.ts passes the table.',
  },
  jobs: {
    may: [...belowOperations, 'operations', 'operations/operation.ts'],
    without: httpObjects,
    instead: 'A job has no caller: what it shares with an operation is a service.',
  },
  ops: {
    may: [...belowOperations, 'security', 'operations', 'operations/operation.ts'],
    instead: 'A command of the CLI is a function over the context: what it shares is a service.',
  },
  pages: {
    may: [...belowOperations, 'security', 'http', 'operations/operation.ts'],
    instead: 'A development page shows what services and queries give.',
  },
  app: {
    may: [
      ...belowOperations,
      ...(['http', 'jobs', 'ops', 'pages', 'operations', 'operations/operation.ts'] as const),
      ...(['operations/index.ts', 'contract/types.ts', 'security', 'provider wraps'] as const),
      ...(['provider/http', 'provider/stub', 'provider/sandbox'] as const),
    ],
    instead: 'It puts the parts together for bin/, which it does not know.',
  },
};

/** Files of these parts do not know each other either. */
const notAmongThemselves: readonly Part[] = ['operations'];

export function partOf(path: string): Part | null {
  const found = Object.entries(members).find(([, pattern]) => pattern.test(path));
  return found ? (found[0] as Part) : null;
}

/** The imports that the table does not allow, each as a sentence. */
export function breachesOf(source: Source): string[] {
  const part = partOf(source.path);
  if (part === null) return [`${source.path} belongs to no part of the house: see the tidy test.`];
  if (part === 'test') return [];
  return source.imports.flatMap((imported) => breach(part, imported) ?? []);
}

function breach(part: Part, imported: Import): string | null {
  const { path, line, specifier, target, typeOnly } = imported;
  const { may, without, instead } = rules[part];
  const sentence = (what: string): string => `${path}:${line} imports ${what}. ${instead}`;
  if (target === null) return without?.test(specifier) ? sentence(specifier) : null;
  if (target === 'package.json') return null;
  if (part === 'context' && !typeOnly) return sentence(`${target} as a value, not as a type`);
  const found = partOf(target);
  if (found === null) return sentence(`${target}, which is no part of the house`);
  if (found === part && !notAmongThemselves.includes(part)) return null;
  return may.includes(found) ? null : sentence(`${target} (${found})`);
}

/** Circles of imports, each as a chain of paths; a file stands in one circle at most. */
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
