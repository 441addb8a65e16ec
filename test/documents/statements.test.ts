/** `src/db/statements.sql` has every statement of the sources, unchanged. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadModule, parseSync } from 'libpg-query';
import { root } from '../system/service-process.ts';
import {
  declaredStatements,
  declaringFiles,
  renderStatements,
  statementsFile,
} from './statements.ts';

const declared = await declaredStatements();
const text = readFileSync(statementsFile, 'utf8');

test('statements.sql is that of the sources; otherwise run: npm run docs', async () => {
  assert.equal(text, await renderStatements());
});

test('statements.sql misses no statement: every call that declares one has declared one', () => {
  const made = new Set(declared.flatMap(({ calls }) => calls));
  const written = declaringFiles.flatMap((path) => {
    const source = readFileSync(join(root, path), 'utf8');
    return [...source.matchAll(/(?<![.\w])(?:batchedS|s)tatement\(\{/g)].map(({ index }) => {
      const lines = source.slice(0, index).split('\n');
      return `${path}:${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`;
    });
  });
  assert.ok(written.length > 150, `${written.length} calls`);
  assert.deepEqual(
    written.filter((call) => !made.has(call)),
    [],
  );
  const shown = [...text.matchAll(/^-- (src\/\S+\.ts): (\S+)/gm)].map(
    ([, file = '', name = '']) => `${file} ${name}`,
  );
  const names = declared.map(({ file, statement }) => `${file} ${statement.name}`);
  assert.deepEqual(shown.toSorted(), names.toSorted());
  const once = new Set(declared.map(({ statement }) => statement.name));
  assert.equal(once.size, declared.length, 'a name is taken twice');
});

test('no file outside src/db runs a statement that it has not declared', () => {
  const others = globSync('{src,bin}/**/*.ts', { cwd: root }).filter(
    (path) => !path.startsWith('src/db/'),
  );
  const undeclared = others.filter((path) =>
    /\.(?:query|execute)\(\s*[`'"{]|\bname: ''/.test(readFileSync(join(root, path), 'utf8')),
  );
  assert.deepEqual(undeclared, []);
});

test('the layout changes no statement: PostgreSQL reads the same from it', async () => {
  await loadModule();
  const blocks = text.split(/^-- src\/\S+\.ts: /m).slice(1);
  assert.equal(blocks.length, declared.length);
  for (const block of blocks) {
    const [, name = ''] = /^(\S+)/.exec(block) ?? [];
    const shown = block.split('\n').slice(1).join('\n');
    const source = declared.find(({ statement }) => statement.name === name);
    assert.ok(source, name);
    assert.deepEqual(treeOf(shown), treeOf(source.statement.text), name);
  }
});

/** What PostgreSQL's parser reads, without the places in the text. */
function treeOf(sql: string): unknown {
  const [first] = parseSync(sql).stmts ?? [];
  const isPlace = /^(?:location|(?:rexpr_)?list_(?:start|end))$/;
  return JSON.parse(
    JSON.stringify(first?.stmt, (key, value: unknown) => (isPlace.test(key) ? undefined : value)),
  );
}
