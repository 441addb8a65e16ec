/** Every test file runs in `npm test`, in `npm run test:system`, or in one of their suites. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';

const root = join(import.meta.dirname, '..', '..');

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<'test' | 'test:system', string>;
};

const find = (pattern: string): string[] =>
  globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] });

/** @returns the files that a suite runs: those in the folders that it names. */
function listMembers(suite: string): string[] {
  const folders = /runSuite\(import\.meta\.dirname, \[(?<names>[^\]]+)\]/.exec(
    readFileSync(join(root, suite), 'utf8'),
  )?.groups?.['names'];
  return (folders?.match(/[\w/-]+/g) ?? []).flatMap((folder) =>
    find(`${join(dirname(suite), folder)}/**/*.test.ts`),
  );
}

const patterns = [scripts.test, scripts['test:system']].flatMap(
  (script) => script.match(/(?<=[ '])test\/\S+\.test\.ts/g) ?? [],
);
const named = patterns.flatMap(find);
const members = named.flatMap(listMembers);

it('every test file runs, once', () => {
  assert.deepEqual([...named, ...members].toSorted(), find('test/**/*.test.ts').toSorted());
});

it('what a file of a suite declares is declared once the file is loaded', () => {
  const late = members.filter((file) =>
    /\b(?:describe|suite)\([^\n]*\basync\b/.test(readFileSync(join(root, file), 'utf8')),
  );
  assert.deepEqual(late, [], 'Await above the describe: a suite finds no parent for a late test');
});
