/**
 * Who may import whom. Every file belongs to a part, and imports point one way:
 * bin, console → app → operator, http, jobs, pages → operations → capabilities → the port, db →
 * domain.
 *
 * A capability of the bank has a folder: auth, accounts, pix, pix-keys, settlement, onboarding. Its
 * operations (files named by their verb) may use every capability. What else is in the folder may
 * use the capabilities below it: settlement, onboarding → pix, pix-keys → accounts → auth.
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

const operationFiles = new RegExp(
  String.raw`^src\/(?:auth|accounts|pix|pix-keys|settlement|onboarding)\/(?:login|logout|` +
    String.raw`(?:get|list|create|delete|register|send|receive|start|submit|confirm|request|sync|` +
    String.raw`decode|look-up)-[a-z-]+)\.ts$`,
);

const portFiles = new RegExp(
  String.raw`^src\/provider\/(?:provider|errors|webhook-events|refusals|dialect\/dialects)\.ts$`,
);

/** The first part that matches is the one: special files stand before general ones. */
const members = {
  'contract/types.ts': /^contract\/types\.ts$/,
  'contract/provider-types.ts': /^contract\/provider-types\.ts$/,
  contract: /^contract\//,
  migrations: /^migrations\//,
  'mikro-orm.config.ts': /^mikro-orm\.config\.ts$/,
  test: /^test\//,
  bin: /^bin\//,
  console: /^console\//,
  clock: /^src\/clock\.ts$/,
  config: /^src\/config\//,
  errors: /^src\/errors\.ts$/,
  log: /^src\/log\.ts$/,
  metrics: /^src\/metrics(?:-gauges)?\.ts$/,
  context: /^src\/context\.ts$/,
  domain: /^src\/domain\//,
  'contract reader': /^src\/contract\//,
  'db/online-migration.ts': /^src\/db\/online-migration\.ts$/,
  db: /^src\/db\//,
  security: /^src\/security\//,
  'the port': portFiles,
  'provider/dialect/load.ts': /^src\/provider\/dialect\/load\.ts$/,
  'provider words': /^src\/provider\/(?:wire-reading|qr-code|dialect\/[a-z-]+)\.ts$/,
  'provider/http': /^src\/provider\/http\//,
  'simulated bank': /^src\/provider\/sandbox\/bank\//,
  'provider/sandbox': /^src\/provider\/sandbox\//,
  'provider wraps': /^src\/provider\/resilience\//,
  'jobs/queue.ts': /^src\/jobs\/(?:queue|job-repository)\.ts$/,
  'http/operation.ts': /^src\/http\/operation\.ts$/,
  'http/operations.ts': /^src\/http\/operations\.ts$/,
  operations: operationFiles,
  auth: /^src\/auth\//,
  accounts: /^src\/accounts\//,
  pix: /^src\/pix\//,
  'pix-keys': /^src\/pix-keys\//,
  'app-events': /^src\/app-events\//,
  settlement: /^src\/settlement\//,
  onboarding: /^src\/onboarding\//,
  http: /^src\/http\//,
  jobs: /^src\/jobs\//,
  operator: /^src\/operator\//,
  pages: /^src\/pages\//,
  app: /^src\/[^/]+\.ts$/,
} as const satisfies Record<string, RegExp>;

/** What every capability builds on. */
const belowCapabilities = [
  ...(['jobs/queue.ts', 'the port', 'security', 'db', 'domain', 'context'] as const),
  ...(['errors', 'log', 'metrics', 'clock', 'config'] as const),
] as const satisfies Part[];

const capabilities = [
  ...(['auth', 'accounts', 'pix', 'pix-keys', 'settlement', 'onboarding', 'app-events'] as const),
] as const satisfies Part[];

const httpObjects = /^(?:node:(?:http|https|http2|net|tls)|undici)(?:$|\/)/;

/** The rule of a capability's shared files. */
function capability(...below: Part[]): Rule {
  return {
    may: [...belowCapabilities, ...below],
    without: httpObjects,
    instead: 'A capability uses those below it and returns values; its operations make answers.',
  };
}

const rules: Readonly<Record<Part, Rule>> = {
  'contract/types.ts': { may: [], instead: 'It is generated: change contract/generate-types.ts.' },
  'contract/provider-types.ts': {
    may: [],
    instead: 'It is generated: change contract/generate-types.ts.',
  },
  contract: {
    may: ['contract reader'],
    instead: 'The contract imports nothing else; generators read it as the service does.',
  },
  'contract reader': {
    may: ['domain', 'errors'],
    without: httpObjects,
    instead: 'It reads any contract, and knows values and no requests.',
  },
  migrations: {
    may: ['db/online-migration.ts'],
    instead: 'A migration is history: write what it needs into it.',
  },
  'db/online-migration.ts': { may: [], instead: 'Migrations that have landed depend on it.' },
  'mikro-orm.config.ts': { may: ['db'], instead: 'It passes on the options of src/db/orm.ts.' },
  test: { may: ['contract', 'test'], instead: '' },
  bin: {
    may: [
      ...(['app', 'operator', 'provider/sandbox', 'domain', 'errors', 'log', 'clock'] as const),
      ...(['config', 'http'] as const),
    ],
    instead: 'A command starts src/app/app.ts, or calls a function of src/operator.',
  },
  console: {
    may: ['contract', 'contract/types.ts'],
    instead: 'The console is a client: it knows the contract and its types, and calls over HTTP.',
  },
  clock: { may: [], instead: 'A leaf imports no module of the project.' },
  config: { may: ['domain'], instead: 'It reads the environment: the domain has the pure rules.' },
  errors: { may: [], instead: 'A leaf imports no module of the project.' },
  log: { may: [], instead: 'A leaf imports no module of the project: take it as a parameter.' },
  metrics: { may: [], instead: 'A leaf imports no module of the project: take it as a parameter.' },
  context: {
    may: [...belowCapabilities, ...capabilities],
    instead: 'It names the types of what is passed down.',
  },
  domain: {
    may: ['errors'],
    // `cpf` is pure as well: the arithmetic of tax identifiers, with nothing below it.
    without: /^(?!(?:node:crypto|cpf)$)/,
    instead: 'The domain is pure: pass in what it needs. It may draw random numbers.',
  },
  db: {
    may: ['domain', 'errors', 'clock'],
    instead: 'The database knows the domain only: take the rest as an option, from src/app/app.ts.',
  },
  security: {
    may: ['errors', 'clock'],
    instead: 'It knows keys and bytes only: take the rest as an option, from src/app/app.ts.',
  },
  'the port': {
    may: ['provider words', 'domain', 'errors'],
    instead: 'The port is types and values: what acts implements or wraps it.',
  },
  'provider/dialect/load.ts': {
    may: ['the port', 'provider words'],
    instead: 'It reads the files of dialects.',
  },
  'provider words': {
    may: ['the port', 'domain', 'errors'],
    instead: "It reads the provider's words, wherever they come from, and calls nothing.",
  },
  'provider wraps': {
    may: ['the port', 'domain', 'errors', 'clock'],
    instead: 'It wraps any provider through the port: take the rest as an option.',
  },
  'provider/http': {
    may: [
      ...(['the port', 'provider words', 'contract/provider-types.ts'] as const),
      ...(['domain', 'errors', 'clock'] as const),
    ],
    instead: 'The client implements the port alone: take the rest as an option.',
  },
  'simulated bank': {
    may: ['the port', 'provider words', 'domain', 'errors', 'clock'],
    instead: 'The bank knows no transport: take the rest as an option.',
  },
  'provider/sandbox': {
    may: [
      ...(['simulated bank', 'provider/http', 'the port', 'contract reader'] as const),
      ...(['contract/provider-types.ts', 'domain', 'errors', 'clock'] as const),
    ],
    instead: "It is the simulated bank's API, and knows nothing of Ponte's inside.",
  },
  'jobs/queue.ts': {
    may: ['db', 'domain', 'context', 'errors', 'clock'],
    instead: 'It stores jobs and runs none: the loop does.',
  },
  'http/operation.ts': {
    may: [...belowCapabilities, 'auth', 'contract/types.ts'],
    without: httpObjects,
    instead: 'The type of an operation has no HTTP objects in it.',
  },
  'http/operations.ts': {
    may: ['operations', 'http/operation.ts'],
    instead: 'The table lists operations and does nothing else.',
  },
  operations: {
    may: [...belowCapabilities, ...capabilities, 'contract/types.ts', 'http/operation.ts'],
    without: httpObjects,
    instead:
      'An operation takes checked input and returns { status, body, headers }. What two of them ' +
      'need is in the same folder; the provider is `context.provider`.',
  },
  auth: capability(),
  accounts: capability('auth'),
  pix: capability('accounts', 'auth'),
  'pix-keys': capability('accounts', 'auth'),
  'app-events': {
    may: belowCapabilities,
    instead: "It writes to the app's own backend, which knows ids alone.",
  },
  settlement: capability('pix', 'pix-keys', 'accounts', 'auth'),
  onboarding: capability('pix', 'pix-keys', 'accounts', 'auth'),
  http: {
    may: [
      ...belowCapabilities,
      ...(['auth', 'contract reader', 'contract/types.ts'] as const),
      ...(['http/operation.ts', 'http/operations.ts'] as const),
    ],
    without: /^undici(?:$|\/)/,
    instead: 'The wire knows operations by their table only.',
  },
  jobs: {
    may: [...belowCapabilities, ...capabilities],
    without: httpObjects,
    instead: 'A job has no caller: what it shares with an operation belongs to the capability.',
  },
  operator: {
    may: [
      ...belowCapabilities,
      ...capabilities,
      'app',
      'provider/dialect/load.ts',
      'provider/http',
    ],
    instead: 'It does what an operator requests, over the context.',
  },
  pages: {
    may: [...belowCapabilities, ...capabilities, 'http', 'http/operation.ts'],
    instead: 'A development page shows what capabilities return.',
  },
  app: {
    may: [
      ...belowCapabilities,
      ...capabilities,
      ...(['http', 'http/operation.ts', 'http/operations.ts', 'jobs', 'operator'] as const),
      ...(['pages', 'operations', 'contract/types.ts', 'provider wraps'] as const),
      ...(['provider/http', 'simulated bank', 'provider/sandbox'] as const),
      'provider/dialect/load.ts',
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
