/** Holds the README to the truth: its tables, the names in it, and its walk, which is run. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { settings } from '../src/config/config.ts';
import { AppError, errorCodes } from '../src/errors.ts';
import { scenarios } from '../src/provider/stub/scenarios.ts';
import {
  root,
  ServiceProcess,
  settingsFor,
  type ServiceAnswer,
} from './process/service-process.ts';
import { anchorOf, codeIn, linksIn, sectionsOf, tablesIn } from './readme/document.ts';
import { createTestDatabase, serverUrl, type TestDatabase } from './support/db.ts';

const readme = readFileSync(join(root, 'README.md'), 'utf8');
const sections = sectionsOf(readme);

/** The text under a heading. */
function under(heading: string): string {
  const section = sections.find((one) => one.heading === heading);
  assert.ok(section, `the README has no heading "${heading}"`);
  return section.text;
}

function table(heading: string, nth = 0): string[][] {
  const found = tablesIn(under(heading))[nth];
  assert.ok(found, `"${heading}" has no table ${nth}`);
  return found;
}

const code = (text: string): string => `\`${text}\``;

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

describe('the tables of the README', () => {
  it('list every setting with its default and its meaning', () => {
    assert.deepEqual(
      table('Settings'),
      settings.map((one) => [code(one.name), one.default, one.meaning]),
    );
  });

  it('list every error of the catalogue with its status', () => {
    const rows = table('Errors');
    assert.deepEqual(
      rows.map(([name, status]) => [name, status]),
      errorCodes.map((name) => [code(name), String(new AppError(name).status)]),
    );
    for (const row of rows) assert.ok(!row.includes(''), row.join());
  });

  it('list every scenario of the simulated bank', () => {
    const rows = table('Scenarios').map((row) => row.map((cell) => cell.replaceAll('`', '')));
    assert.deepEqual(
      rows,
      scenarios.map(({ given, value, happens }) => [given, value, happens.replaceAll('`', '')]),
    );
  });

  it('list every endpoint of the contract', () => {
    assert.deepEqual(table('Endpoints'), contractOperations().map(endpointRow));
  });

  it('list every npm script', () => {
    const names = table('Commands').map(([name]) => name);
    const called = Object.keys(scripts).map((name) =>
      code(name === 'start' || name === 'test' ? `npm ${name}` : `npm run ${name}`),
    );
    assert.deepEqual(names, called);
    for (const row of table('Commands')) assert.ok(!row.includes(''), row.join());
  });

  it('list every command of ponte', () => {
    const { stdout } = spawnSync(join(root, 'bin', 'ponte'), ['--help'], { encoding: 'utf8' });
    const [, commands = ''] = stdout.split('Commands:\n');
    const listed = commands.replaceAll(/\n {9,}/g, ' ').matchAll(/^ {2}(\S.*?) {2,}(\S.*)$/gm);
    assert.deepEqual(
      table('Commands', 1),
      [...listed].map(([, name, what]) => [code(`ponte ${name}`), what]),
    );
  });
});

interface ContractOperation {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly security: readonly object[] | undefined;
}

function contractOperations(): ContractOperation[] {
  const text = readFileSync(join(root, 'contract', 'openapi.yaml'), 'utf8');
  const { paths } = parse(text) as { paths: Record<string, Record<string, ContractOperation>> };
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([name]) => ['get', 'post', 'put', 'patch', 'delete'].includes(name))
      .map(([name, { summary, security }]) => {
        const method = name.toUpperCase();
        return { method, path, summary, security };
      }),
  );
}

function endpointRow({ method, path, summary, security }: ContractOperation): string[] {
  const [first] = security ?? [];
  const tokenless = first && 'webhookSecret' in first ? code('X-Webhook-Secret') : 'no';
  return [code(`${method} ${path}`), security === undefined ? 'yes' : tokenless, summary];
}

describe('the names in the README', () => {
  it('that are linked lead somewhere', () => {
    const anchors = new Set(sections.map(({ heading }) => `#${anchorOf(heading)}`));
    const broken = linksIn(readme).filter((target) => {
      if (/^https?:/.test(target)) return false;
      return target.startsWith('#') ? !anchors.has(target) : !existsSync(join(root, target));
    });
    assert.deepEqual(broken, []);
  });

  it('that are paths exist', () => {
    const paths = readme.matchAll(/(?<![\w./-])(?:bin|contract|migrations|src|test)\/[\w./-]*\w/g);
    const missing = [...paths]
      .map(([path]) => path)
      .filter((path) => !existsSync(join(root, path)));
    assert.deepEqual(missing, []);
  });

  it('that are folders are all folders of the sources', () => {
    const listed = treePaths(codeIn(under('Where things are'), 'text')[0] ?? '');
    assert.deepEqual(
      listed.filter((path) => !existsSync(join(root, path))),
      [],
    );
    const inSources = [...foldersIn('src'), ...foldersIn('src/provider')];
    assert.deepEqual(listed.filter((path) => path.startsWith('src/')).toSorted(), [
      ...inSources.toSorted(),
    ]);
  });

  it('that are npm scripts exist', () => {
    const called = [...readme.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name);
    assert.deepEqual(
      called.filter((name) => !(name in scripts)),
      [],
    );
  });

  it('that look like settings or error codes are', () => {
    const known = new Set<string>([...settings.map(({ name }) => name), ...errorCodes]);
    const named = [...readme.matchAll(/`([A-Z]+(?:_[A-Z]+)+)(?:=[^`]*)?`/g)];
    const unknown = named.map(([, name = '']) => name).filter((name) => !known.has(name));
    assert.deepEqual(unknown, []);
  });
});

/** The paths of a tree that is drawn by indentation. */
function treePaths(tree: string): string[] {
  const parents: string[] = [];
  return tree.split('\n').flatMap((line) => {
    const [, indent = '', name] = /^( *)(\S+)\/ /.exec(line) ?? [];
    if (name === undefined) return [];
    parents.splice(indent.length / 2, Infinity, name);
    return [parents.join('/')];
  });
}

function foldersIn(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${folder}/${name}`);
}

describe('what the README shows of a running service', () => {
  let database: TestDatabase;
  let service: ServiceProcess;
  let url: string;

  before(async () => {
    database = await createTestDatabase();
    // A second each: longer than an answer or a timely event takes, also on a busy machine.
    const patient = { PROVIDER_TIMEOUT_MS: '1000', STUB_SETTLE_MS: '1000' };
    service = new ServiceProcess({ ...settingsFor(database), ...patient });
    url = await service.ready();
  });

  after(async () => {
    await service.kill();
    await database.drop();
  });

  it('is what a start prints', () => {
    const [shown = ''] = codeIn(under('Start'), 'text');
    const printed = service.stdout
      .split('\n')
      .slice(0, shown.trimEnd().split('\n').length)
      .join('\n')
      .replaceAll(url, 'http://127.0.0.1:3000')
      .replace(database.dataDir, '…/ponte/.data');
    const onServer = (text: string): string => text.replace(/^( {2}database).*$/m, '$1');
    assert.equal(
      serverUrl ? onServer(printed) : printed,
      serverUrl ? onServer(shown.trimEnd()) : shown.trimEnd(),
    );
  });

  const walks = { skip: !hasCurl() && 'needs bash and curl' };

  it('is what the walk prints', walks, () => assertWalk('A walk with curl', url));

  it('is what the opening of an account prints', walks, () =>
    assertWalk('An account from nothing', url),
  );

  it('is what the routes outside the contract answer', async () => {
    const [, outside = ''] = under('Endpoints').split('Outside the contract');
    const paths = [...outside.matchAll(/`GET (\S+)`/g)].map(([, path = '']) => path);
    assert.ok(paths.length >= 5);
    for (const path of paths) assert.equal((await fetch(`${url}${path}`)).status, 200, path);
  });

  it('is what the app gets for a send, whatever happens', async () => {
    const token = await service.logIn();
    let made = 0;
    const send = (pixKey: string, amount: number, given: string | undefined = token) =>
      service.call('/pix/send', {
        token: given,
        key: `rule-${(made += 1)}`,
        body: { pix_key: pixKey, amount },
      });
    const keys = scenarios.filter(({ given }) => given === 'PIX key').map(({ value }) => value);
    for (const key of [...keys, 'bruno@example.com']) assertInRule(await send(key, 1), key);
    assertInRule(await send('bruno@example.com', 1_000_000), 'more than the balance');
    assertInRule(await send('bruno@example.com', 0), 'no amount');
    assertInRule(await send('bruno@example.com', 1, 'no.token.this'), 'no token');
    const request = { token, key: 'refused', body: { pix_key: 'reject@ponte.test', amount: 1 } };
    await service.call('/pix/send', request);
    assertInRule(await service.call('/pix/send', request), 'a repeat of a refused payment');
  });
});

/** Runs the script under a heading against a service, and compares what it prints with the text. */
function assertWalk(heading: string, url: string): void {
  const [script = ''] = codeIn(under(heading), 'sh');
  const [shown = ''] = codeIn(under(heading), 'text');
  assert.ok(script.includes('http://127.0.0.1:3000/'));
  const { PATH = '' } = process.env;
  const { stdout, stderr } = spawnSync(
    'bash',
    ['--norc', '-c', script.replaceAll('http://127.0.0.1:3000/', `${url}/`)],
    { encoding: 'utf8', env: { PATH }, stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 },
  );
  assert.equal(stderr, '');
  assert.deepEqual(stepsOf(stdout), stepsOf(shown));
}

function hasCurl(): boolean {
  return spawnSync('bash', ['-c', 'command -v curl']).status === 0;
}

/** What the walk prints at each step, with what differs from run to run taken out. */
function stepsOf(output: string): string[] {
  return output
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>')
    .replaceAll(/E\d{20}\w{11}/g, '<end-to-end id>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/rent-\d+/g, '<key>')
    .split('# ')
    .map((step) => step.trim())
    .filter((step) => step !== '');
}

/** Finds the one row of "What the app should do" that is about this answer. */
function assertInRule({ status, headers, body }: ServiceAnswer, about: string): void {
  const answer = status === 200 ? `200 ${code(body.status)}` : String(status);
  const outcome = headers.get('pix-outcome');
  const { code: errorCode } = body as { code?: string };
  const rows = table('What the app should do').filter(
    ([answers = '', outcomes = '', codes = '']) =>
      answers.split(', ').includes(answer) &&
      (outcomes === 'any' || outcomes.includes(outcome === null ? 'absent' : code(outcome))) &&
      (errorCode === undefined ? codes === '–' : codes.includes(code(errorCode))),
  );
  assert.equal(rows.length, 1, `${about}: ${answer}, ${outcome}, ${errorCode}`);
}
