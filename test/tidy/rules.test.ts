/** That the rules of tidiness see what they are there for, on files made up for it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockDoor, environmentDoor, providerDoor, trespasses, type Door } from './doors.ts';
import { breachesOf, cyclesAmong } from './layers.ts';
import { parseAll } from './parser.ts';
import { readSource, type Source } from './source.ts';
import { hasEmptyName, isDeadCode, longLines } from './texts.ts';

function sourcesOf(files: Readonly<Record<string, string>>): Source[] {
  return parseAll('/made-up', new Map(Object.entries(files)), readSource);
}

function sourceOf(text: string, path = 'src/http/made-up.ts'): Source {
  const [source] = sourcesOf({ [path]: text });
  assert.ok(source);
  return source;
}

test('an import against the table is a breach, as a value, a type or at run time', () => {
  const breaches: Record<string, string> = {
    'src/domain/money.ts': `import { clock } from '../clock.ts';`,
    'src/domain/text.ts': `import { readFileSync } from 'node:fs';`,
    'src/db/rows.ts': `import type { Provider } from '../provider/provider.ts';`,
    'src/provider/stub/one.ts': `type Row = import('../../db/rows.ts').Row;`,
    'src/services/one.ts': `import { createStub } from '../provider/stub/index.ts';`,
    'src/operations/pix/one.ts': `const other = await import('./other.ts');`,
    'src/operations/pix/two.ts': `import type { IncomingMessage } from 'node:http';`,
    'src/http/one.ts': `export { operations } from '../operations/index.ts';`,
    'src/jobs/one.ts': `import { jsonReply } from '../http/reply.ts';`,
    'src/ops/one.ts': `import { jobs } from '../jobs/index.ts';`,
    'src/context.ts': `import { systemClock } from './clock.ts';`,
    'src/log.ts': `import { AppError } from './errors.ts';`,
    'console/one.ts': `import { cents } from '../src/domain/money.ts';`,
    'src/elsewhere/one.ts': `export const one = 1;`,
  };
  const sources = sourcesOf(breaches);
  assert.deepEqual(
    sources.filter((source) => breachesOf(source).length !== 1).map(({ path }) => path),
    [],
  );
});

test('an import along the table is none', () => {
  const sources = sourcesOf({
    'src/domain/one.ts': `import { randomInt } from 'node:crypto'; import { two } from './two.ts';`,
    'src/services/one.ts': `import { ProviderError } from '../provider/outcome.ts';`,
    'src/operations/pix/one.ts': `import type { SendPix } from '../../../contract/types.ts';`,
    'src/context.ts': `import type { Clock } from './clock.ts';`,
    'bin/commands/one.ts': `const { startApp } = await import('../../src/app.ts');`,
  });
  assert.deepEqual(sources.flatMap(breachesOf), []);
});

test('a circle of imports is found and told as a chain', () => {
  const sources = sourcesOf({
    'src/db/one.ts': `import { two } from './two.ts';`,
    'src/db/two.ts': `import type { Three } from './three.ts';`,
    'src/db/three.ts': `export * from './one.ts';`,
  });
  const chain = ['src/db/one.ts', 'src/db/two.ts', 'src/db/three.ts', 'src/db/one.ts'];
  assert.deepEqual(cyclesAmong(sources), [chain.join(' → ')]);
});

const trespassing: ReadonlyArray<readonly [Door, string]> = [
  [environmentDoor, `const home = process.env['HOME'];`],
  [environmentDoor, `const { env } = process; `.replace('process', 'globalThis.process.env')],
  [environmentDoor, `import { env } from 'node:process';`],
  [clockDoor, `const now = Date.now();`],
  [clockDoor, `const now = new Date();`],
  [clockDoor, `const measure = performance.now;`],
  [clockDoor, `const timer = setTimeout(() => 1, 10);`],
  [clockDoor, `const wait = promisify(setTimeout);`],
  [clockDoor, `const signal = AbortSignal.timeout(10);`],
  [clockDoor, `import { setTimeout as wait } from 'node:timers/promises';`],
  [providerDoor, `const answer = await fetch('http://provider');`],
  [providerDoor, `import { Agent } from 'undici';`],
  [providerDoor, `import { request as call } from 'node:http';`],
];

for (const [door, text] of trespassing) {
  test(`past the door of ${door.name} goes ${text}`, () => {
    assert.equal(trespasses(door, sourceOf(text)).length, 1);
  });
}

test('a keeper passes its door, and no further than its reason goes', () => {
  const source = sourceOf(`setImmediate(run); setTimeout(run, 1);`, 'src/db/embedded.ts');
  assert.deepEqual(
    trespasses(clockDoor, source).map(({ what }) => what),
    ['setTimeout'],
  );
  assert.deepEqual(trespasses(clockDoor, sourceOf(`new Date(0);`)), []);
  assert.deepEqual(trespasses(environmentDoor, sourceOf(`process.env;`, 'src/config.ts')), []);
});

test('a function is measured in lines and parameters, without `this`', () => {
  const { callables } = sourceOf(
    `export const add = (a: number, b: number): number => {\n  return a + b;\n};\n` +
      `interface Adder { add(this: Adder, a: number): number }`,
  );
  assert.deepEqual(
    callables.map(({ name, lines, parameters, line }) => ({ name, lines, parameters, line })),
    [
      { name: 'add', lines: 3, parameters: 2, line: 1 },
      { name: 'add', lines: 1, parameters: 1, line: 4 },
    ],
  );
});

test('exports are seen with their docstrings, and a default one as such', () => {
  const source = sourceOf(
    `/** Adds. */\nexport function add() {}\n// Not a docstring.\nexport class Sum {}\n` +
      `export const less = () => 0;\nexport const zero = 0;\nexport default add;`,
  );
  assert.deepEqual(
    source.exported.map(({ name, documented }) => [name, documented]),
    [
      ['add', true],
      ['Sum', false],
      ['less', false],
    ],
  );
  assert.deepEqual(
    source.defaultExports.map(({ line }) => line),
    [7],
  );
});

test('a file is types only when nothing of it is left at run time', () => {
  assert.equal(sourceOf(`import type { A } from './a.ts'; export type B = A;`).typesOnly, true);
  assert.equal(sourceOf(`import { type A } from './a.ts'; export type B = A;`).typesOnly, false);
});

test('comments are those outside of literals', () => {
  const { comments } = sourceOf(
    "const a = `// no ${/* yes */ 1} // no`; const b = '// no'; const c = /[/]* no/; // yes",
  );
  assert.deepEqual(
    comments.map(({ text }) => text),
    ['/* yes */', '// yes'],
  );
});

test('a comment with a statement in it is dead code, a sentence is not', () => {
  const place = { path: 'src/made-up.ts', line: 1 };
  const dead = ['// const a = 1;', '// send(order);', '/*\n  if (late) {\n*/', '// a.b = c;'];
  const alive = [
    '// If it is late, it waits; else it goes.',
    '/** const a = 1; */',
    '// See send().',
  ];
  assert.deepEqual(
    dead.map((text) => isDeadCode({ ...place, text })),
    dead.map(() => true),
  );
  assert.deepEqual(
    alive.map((text) => isDeadCode({ ...place, text })),
    alive.map(() => false),
  );
});

test('a line is too long only where it could be broken', () => {
  const text = 'word '.repeat(21).trim();
  assert.deepEqual(longLines(sourceOf(`// ${text}`)), ['src/http/made-up.ts:1 (107)']);
  assert.deepEqual(longLines(sourceOf(`// https://example.com/${text}`)), []);
  assert.deepEqual(longLines(sourceOf(`const sql =\n  '${text}';`)), []);
});

test('a name that says nothing is found anywhere in a path', () => {
  assert.ok(hasEmptyName('src/utils/money.ts'));
  assert.ok(hasEmptyName('src/http/body-helpers.ts'));
  assert.ok(!hasEmptyName('src/db/database.ts'));
});
