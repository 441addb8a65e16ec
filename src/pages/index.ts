/**
 * The development pages and the API reference, for `APP_ENV=local` only. They are static files that
 * call the service over HTTP like any app. Beside the simulated bank they also play its other side.
 */
import { readFile, readdir } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jsonReply, type Headers, type Reply } from '../http/reply.ts';
import type { LocalContext } from '../context/context.ts';
import type { SystemRoute } from '../http/router.ts';
import { staticReply } from '../http/static-reply.ts';
import { changesRoute } from './changes.ts';
import { bankRoutes, type BankControls } from './bank-controls.ts';

const html = 'text/html; charset=utf-8';

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': html,
  '.json': 'application/json',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.ts': 'text/javascript; charset=utf-8',
};

/** No inline code, no other origins, and no framing. */
const ownPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The script of the reference page sets inline styles. */
const referencePolicy = ownPolicy.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'");

/** The page that replaces the provider's page is shown in a frame of the app. */
const framedPolicy = ownPolicy.replace("; frame-ancestors 'none'", '');

const devFolder = new URL('./dev/', import.meta.url);
const docsFolder = new URL('./docs/', import.meta.url);

const contractFile = new URL('../../contract/openapi.generated.json', import.meta.url);

/** The modules of the console that the pages use too. They import nothing but types. */
const sharedModules = ['format', 'outcomes'] as const;

const sharedFolder = new URL('../../console/state/', import.meta.url);

/** A value that triggers a scenario of the simulated bank. */
export interface PageScenario {
  /** The field that it is entered in, such as `Pix key`. */
  readonly input: string;
  readonly value: string;
  readonly effect: string;
}

/** Facts about the service that the pages show. */
export interface PageFacts {
  readonly scenarios: readonly PageScenario[];
  /** The provider in words, such as `simulated bank`. */
  readonly provider: string;
  readonly version: string;
  /** The simulated bank; null with a real provider. */
  readonly bank: BankControls | null;
}

/** The routes of `/dev` and `/docs`; `/` leads to the first. */
export async function developmentPages(
  context: LocalContext,
  facts: PageFacts,
): Promise<SystemRoute[]> {
  const all = await readdir(devFolder);
  const assets = all.filter((name) => !name.endsWith('.html'));
  const { provider, version, bank } = facts;
  const scenarios = facts.scenarios.map(({ input, value, effect }) => ({ input, value, effect }));
  return [
    redirect('/', '/dev'),
    framedPage('/dev', { title: 'development', main: 'account.html' }),
    framedPage('/dev/onboarding', { title: 'onboarding', main: 'onboarding.html' }),
    page('/dev/prova-vida/{session}', new URL('prova-vida.html', devFolder), framedPolicy),
    json('/dev/scenarios.json', scenarios),
    json('/dev/about.json', { provider, version, hasBank: bank !== null }),
    changesRoute(context),
    ...(bank === null ? [] : bankRoutes(bank)),
    ...assets.map((name) => page(`/dev/assets/${name}`, new URL(name, devFolder), ownPolicy)),
    ...sharedModules.map((name) =>
      page(`/dev/assets/${name}.js`, new URL(`${name}.ts`, sharedFolder), ownPolicy),
    ),
    ...(await referencePages()),
  ];
}

/** The API reference, if its development package is installed. */
async function referencePages(): Promise<SystemRoute[]> {
  if (!hasReference()) return [];
  const docs = await readdir(docsFolder);
  return [
    page('/docs', new URL('index.html', docsFolder), referencePolicy),
    page('/docs/contract.json', contractFile, ownPolicy),
    ...docs.map((name) => page(`/docs/assets/${name}`, new URL(name, docsFolder), ownPolicy)),
    referenceScript('/docs/assets/scalar.js'),
  ];
}

function hasReference(): boolean {
  try {
    return import.meta.resolve('@scalar/fastify-api-reference') !== '';
  } catch {
    return false;
  }
}

/** Reads the file for each request, so that an edit shows at the next reload. */
function page(path: string, file: URL, policy: string): SystemRoute {
  return route(path, async () => ({
    status: 200,
    headers: pageHeaders(policy),
    content: { type: mediaType(file), bytes: await readPage(file) },
  }));
}

/** A page whose content is put into the frame: the header, the navigation and the requests. */
function framedPage(path: string, { title, main }: { title: string; main: string }): SystemRoute {
  const read = (name: string) => readFile(new URL(name, devFolder), 'utf8');
  return route(path, async () => {
    const frame = await read('frame.html');
    const content = await read(main);
    const bytes = frame.replace('{{title}}', title).replace('{{main}}', () => content);
    return { status: 200, headers: pageHeaders(ownPolicy), content: { type: html, bytes } };
  });
}

function route(path: string, reply: () => Reply | Promise<Reply>): SystemRoute {
  return { kind: 'system', name: 'page', method: 'GET', path, reply };
}

async function readPage(file: URL): Promise<Buffer | string> {
  const bytes = await readFile(file);
  return file.pathname.endsWith('.ts') ? withoutTypes(bytes.toString('utf8')) : bytes;
}

/** Removes the types of a module, without Node's warning that the function is experimental. */
function withoutTypes(source: string): string {
  const emitWarning = process.emitWarning;
  process.emitWarning = () => undefined;
  try {
    return stripTypeScriptTypes(source);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** The script of the reference, which its package has only as a plugin of Fastify. */
function referenceScript(path: string): SystemRoute {
  const type = 'text/javascript; charset=utf-8';
  const headers = pageHeaders(ownPolicy);
  const reply = staticReply({ type, load: loadReference, headers });
  return { kind: 'system', name: 'page', method: 'GET', path, reply };
}

async function loadReference(): Promise<Buffer> {
  const [{ fastify }, { default: plugin }] = await Promise.all([
    import('fastify'),
    import('@scalar/fastify-api-reference'),
  ]);
  const server = fastify();
  await server.register(plugin, { configuration: { url: '/openapi.yaml' } });
  return (await server.inject('/reference/js/scalar.js')).rawPayload;
}

function mediaType(file: URL): string {
  return types[extname(fileURLToPath(file))] ?? 'application/octet-stream';
}

function pageHeaders(policy: string): Headers {
  return { 'Content-Security-Policy': policy, 'Referrer-Policy': 'no-referrer' };
}

function redirect(path: string, target: string): SystemRoute {
  return route(path, () => ({ status: 302, headers: { Location: target }, content: null }));
}

function json(path: string, body: unknown): SystemRoute {
  return route(path, () => jsonReply(200, body));
}
