/** Checks the documents: their tables and the names in them. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { describe, it } from 'node:test';
import { pixTypes, transactionType } from '../../src/domain/pix.ts';
import { differenceKinds } from '../../src/domain/reconciliation.ts';
import { settings } from '../../src/config/report.ts';
import { AppError, errorCodes } from '../../src/errors.ts';
import { failureReason } from '../../src/pix/failure-reason.ts';
import { meanings } from '../../src/provider/dialect/format.ts';
import { root } from '../system/service-process.ts';
import { toAnchor, codeIn, linksIn } from './document.ts';
import { collectionFile, postmanCollection } from './postman.ts';
import { code, documentAt, documents, table, under, type Document } from './project-documents.ts';
import { documentsWithParts, withFreshParts, withPaySafely } from './tables.ts';

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

const contractText = readFileSync(join(root, 'contract', 'openapi.yaml'), 'utf8');

/** The codes that the contract lists, such as those of a failed step. */
const codesOfContract = [...contractText.matchAll(/^ *- `([A-Z_]+)`: /gm)].map(
  ([, name = '']) => name,
);

it('the Postman collection is that of the contract; otherwise run: npm run docs', async () => {
  assert.equal(readFileSync(collectionFile, 'utf8'), await postmanCollection());
});

it('the contract says how to pay safely, as README.md does; otherwise run: npm run docs', () => {
  assert.match(contractText, /^ {4}\| `repeat` \| .* \*\*same key\*\*.* \|$/m);
  assert.equal(contractText, withPaySafely(contractText));
});

it('README.md has at most 120 lines', () => {
  assert.ok(documentAt('README.md').text.trimEnd().split('\n').length <= 120);
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
    const rows = table('src/README.md', 'Scripts');
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
        return anchor !== undefined && !listAnchors(documentAt(linked)).has(anchor);
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

    // Of the provider, its words are named as well.
    if (path === 'contract/provider.md') return;

    it('that look like settings or error codes are', () => {
      const types = pixTypes.flatMap((type) => [type, transactionType(type)]);
      const codes = [...errorCodes, ...codesOfContract];
      const names = ['PONTE_URL', ...settings.map(({ name }) => name)];
      const words = [...types, ...differenceKinds, ...meanings];
      const known = new Set<string>([...names, ...codes, ...words]);
      const named = [...text.matchAll(/`([A-Z]+(?:_[A-Z]+)+)(?:=[^`]*)?`/g)];
      const unknown = named
        .map(([, name = '']) => name)
        .filter((name) => !known.has(name) && failureReason(name).code !== name);
      assert.deepEqual(unknown, []);
    });
  });
}

function listAnchors({ sections }: Document): ReadonlySet<string> {
  return new Set(sections.map(({ heading }) => toAnchor(heading)));
}

it('the tree of src/README.md has every folder of the sources', () => {
  const listed = treePaths(codeIn(under('src/README.md', 'Where things are'), 'text')[0] ?? '');
  assert.deepEqual(
    listed.filter((path) => !existsSync(join(root, path))),
    [],
  );
  const inSources = [...foldersIn('src'), ...foldersIn('src/provider')];
  assert.deepEqual(
    listed.filter((path) => path.startsWith('src/')).toSorted(),
    inSources.toSorted(),
  );
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
