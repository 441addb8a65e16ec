/** Checks the documents: their tables, the names in them, and their walks, which are run. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { chargeExpired, pixTypes, transactionType } from '../../src/domain/pix.ts';
import { settings } from '../../src/config/report.ts';
import { AppError, errorCodes } from '../../src/errors.ts';
import { scenarios } from '../../src/provider/stub/scenarios.ts';
import {
  root,
  ServiceProcess,
  settingsFor,
  type ServiceAnswer,
} from '../system/service-process.ts';
import { createTestDatabase, serverUrl, type TestDatabase } from '../support/db.ts';
import { anchorOf, codeIn, linksIn, sectionsOf, tablesIn, type Section } from './document.ts';
import { collectionFile, postmanCollection } from './postman.ts';
import { documentsWithParts, shownScripts, walkthroughs, withFreshParts } from './tables.ts';

interface Document {
  readonly path: string;
  readonly text: string;
  readonly sections: readonly Section[];
}

const documents: readonly Document[] = [
  ...['README.md', 'contract/README.md', 'bin/README.md', 'src/README.md', 'test/README.md'],
  ...['src/operator/README.md', 'src/provider/README.md', 'test/bench/README.md'],
  ...['migrations/README.md', 'contract/decisions/README.md'],
].map((path) => {
  const text = readFileSync(join(root, path), 'utf8');
  return { path, text, sections: sectionsOf(text) };
});

function documentAt(path: string): Document {
  const found = documents.find((one) => one.path === path);
  assert.ok(found, path);
  return found;
}

/** The text under a heading. */
function under(path: string, heading: string): string {
  const section = documentAt(path).sections.find((one) => one.heading === heading);
  assert.ok(section, `${path} has no heading "${heading}"`);
  return section.text;
}

function table(path: string, heading: string): string[][] {
  const [found] = tablesIn(under(path, heading));
  assert.ok(found, `"${heading}" of ${path} has no table`);
  return found;
}

const code = (text: string): string => `\`${text}\``;

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

it('the Postman collection is that of the contract; otherwise run: npm run docs', async () => {
  assert.equal(readFileSync(collectionFile, 'utf8'), await postmanCollection());
});

it('README.md has at most 250 lines', () => {
  assert.ok(documentAt('README.md').text.split('\n').length <= 250);
});

describe('the parts of the documents', () => {
  for (const path of documentsWithParts) {
    it(`${path} has the rows and scripts of the sources; otherwise run: npm run docs`, async () => {
      const { text } = documentAt(path);
      assert.equal(text, await withFreshParts(path, text));
    });
  }

  it('list every error of the catalogue with its status', () => {
    const rows = table('contract/README.md', 'Errors');
    assert.deepEqual(
      rows.map(([name, status]) => [name, status]),
      errorCodes.map((name) => [code(name), String(new AppError(name).status)]),
    );
    for (const row of rows) assert.ok(!row.includes(''), row.join());
  });

  it('list every npm script', () => {
    const rows = table('README.md', 'Develop');
    const called = Object.keys(scripts).map((name) =>
      code(name === 'start' || name === 'test' ? `npm ${name}` : `npm run ${name}`),
    );
    assert.deepEqual(
      rows.map(([name]) => name),
      called,
    );
    for (const row of rows) assert.ok(!row.includes(''), row.join());
  });
});

for (const { path, text } of documents) {
  const folder = dirname(path);
  describe(`the names in ${path}`, () => {
    it('that are linked lead somewhere', () => {
      const broken = linksIn(text).filter((target) => {
        if (/^https?:/.test(target)) return false;
        const [file = '', anchor] = target.split('#');
        const linked = normalize(join(folder, file === '' ? basename(path) : file));
        if (!existsSync(join(root, linked))) return true;
        return anchor !== undefined && !anchorsOf(documentAt(linked)).has(anchor);
      });
      assert.deepEqual(broken, []);
    });

    it('that are paths exist', () => {
      const paths = text.matchAll(/(?<![\w./-])(?:bin|contract|migrations|src|test)\/[\w./-]*\w/g);
      const missing = [...paths]
        .map(([named]) => named)
        .filter((named) => ![root, join(root, folder)].some((at) => existsSync(join(at, named))));
      assert.deepEqual(missing, []);
    });

    it('that are npm scripts exist', () => {
      const called = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name);
      assert.deepEqual(
        called.filter((name) => !(name in scripts)),
        [],
      );
    });

    it('that look like settings or error codes are', () => {
      const types = pixTypes.flatMap((type) => [type, transactionType(type)]);
      const codes = [...errorCodes, chargeExpired];
      const names = ['PONTE_URL', ...settings.map(({ name }) => name)];
      const known = new Set<string>([...names, ...codes, ...types]);
      const named = [...text.matchAll(/`([A-Z]+(?:_[A-Z]+)+)(?:=[^`]*)?`/g)];
      const unknown = named.map(([, name = '']) => name).filter((name) => !known.has(name));
      assert.deepEqual(unknown, []);
    });
  });
}

function anchorsOf({ sections }: Document): ReadonlySet<string> {
  return new Set(sections.map(({ heading }) => anchorOf(heading)));
}

it('the tree of README.md has every folder of the sources', () => {
  const listed = treePaths(codeIn(under('README.md', 'Where things are'), 'text')[0] ?? '');
  assert.deepEqual(
    listed.filter((path) => !existsSync(join(root, path))),
    [],
  );
  const inSources = [...foldersIn('src'), ...foldersIn('src/provider')];
  assert.deepEqual(listed.filter((path) => path.startsWith('src/')).toSorted(), [
    ...inSources.toSorted(),
  ]);
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

describe('what the documents show of a running service', () => {
  let database: TestDatabase;
  let service: ServiceProcess;
  let url: string;

  before(async () => {
    database = await createTestDatabase({ isOwn: true });
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
    const [shown = ''] = codeIn(under('README.md', 'Start'), 'text');
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

  it('is what the walk prints', walks, () =>
    assertWalk({ path: 'contract/README.md', heading: 'A walk with curl' }, url),
  );

  it('is what the opening of an account prints', walks, () =>
    assertWalk({ path: 'contract/README.md', heading: 'An account from nothing' }, url),
  );

  // After the walk, which shows the balance of a new account.
  it('is what the first payment prints', walks, () =>
    assertWalk({ path: 'README.md', heading: 'The first payment' }, url),
  );

  it('is what the routes outside the contract answer', async () => {
    const [, outside = ''] = under('contract/README.md', 'Endpoints').split('Outside the contract');
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
    const keys = scenarios.filter(({ input }) => input === 'Pix key').map(({ value }) => value);
    for (const key of [...keys, 'bruno@example.com']) assertInRule(await send(key, 1), key);
    assertInRule(await send('bruno@example.com', 1_000_000), 'more than the balance');
    assertInRule(await send('bruno@example.com', 0), 'no amount');
    assertInRule(await send('bruno@example.com', 1, 'no.token.this'), 'no token');
    const request = { token, key: 'refused', body: { pix_key: 'reject@ponte.test', amount: 1 } };
    await service.call('/pix/send', request);
    assertInRule(await service.call('/pix/send', request), 'a repeat of a refused payment');
  });
});

interface Place {
  readonly path: string;
  readonly heading: string;
}

/** Runs the script under a heading against a service, and compares what it prints with the text. */
function assertWalk({ path, heading }: Place, url: string): void {
  const [shown = ''] = codeIn(under(path, heading), 'text');
  const { script = '' } = shownScripts.find((one) => one.heading === heading) ?? {};
  const { PATH = '' } = process.env;
  const { stdout, stderr } = spawnSync('bash', [join(walkthroughs, script)], {
    encoding: 'utf8',
    env: { PATH, PONTE_URL: url },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  });
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
    .replaceAll(/rent-[\d-]+/g, '<key>')
    .split('# ')
    .map((step) => step.trim())
    .filter((step) => step !== '');
}

/** Finds the one row of "What the app should do" that is about this answer. */
function assertInRule({ status, headers, body }: ServiceAnswer, about: string): void {
  const answer = status === 200 ? `200 ${code(body.status)}` : String(status);
  const outcome = headers.get('pix-outcome');
  const { code: errorCode } = body as { code?: string };
  const rows = table('README.md', 'What the app should do').filter(
    ([answers = '', outcomes = '', codes = '']) =>
      answers.split(', ').includes(answer) &&
      (outcomes === 'any' || outcomes.includes(outcome === null ? 'absent' : code(outcome))) &&
      (errorCode === undefined ? codes === '–' : codes.includes(code(errorCode))),
  );
  assert.equal(rows.length, 1, `${about}: ${answer}, ${outcome}, ${errorCode}`);
}
