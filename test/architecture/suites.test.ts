/** Every test file runs: `npm test` or `npm run test:system` names it, or a suite of theirs. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';

const root = join(import.meta.dirname, '..', '..');

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<'test' | 'test:system', string>;
};

const find = (pattern: string): string[] => globSync(pattern, { cwd: root });

/** @returns the files that a suite runs: those in the folders that it names. */
function membersOf(suite: string): string[] {
  const folders = /runSuite\(import\.meta\.dirname, \[(?<names>[^\]]+)\]\)/.exec(
    readFileSync(join(root, suite), 'utf8'),
  )?.groups?.['names'];
  return (folders?.match(/[\w-]+/g) ?? []).flatMap((folder) =>
    find(`${join(dirname(suite), folder)}/**/*.test.ts`),
  );
}

it('every test file runs, once', () => {
  const patterns = [scripts.test, scripts['test:system']].flatMap(
    (script) => script.match(/(?<=[ '])test\/\S+\.test\.ts/g) ?? [],
  );
  const named = patterns.flatMap(find);
  const runs = [...named, ...named.flatMap(membersOf)];
  assert.deepEqual(runs.toSorted(), find('test/**/*.test.ts').toSorted());
});
