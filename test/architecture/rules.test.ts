/** That the rules of tidiness see what they are there for, on files made up for it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockDoor, environmentDoor, providerDoor, trespasses, type Door } from './doors.ts';
import { gaugesIn } from './gauges.ts';
import { findBreaches, cyclesAmong, operationImports } from './layers.ts';
import { parseAll } from './parser.ts';
import { readSource, type Source } from './source.ts';
import { hasEmptyName, isDeadCode, longLines, writesOf } from './texts.ts';

const words = 'word '.repeat(21).trim();

/** Paths and what is in them, by what they are made up for; parsed together, which is quicker. */
const madeUp = {
  breaches: {
    'src/domain/money.ts': `import { clock } from '../db/database.ts';`,
    'src/domain/text.ts': `import { readFileSync } from 'node:fs';`,
    'src/db/rows.ts': `import type { Provider } from '../provider/provider.ts';`,
    'src/provider/sandbox/bank/one.ts': `type Row = import('../../../jobs/job.ts').Row;`,
    'src/contract/one.ts': `import { jsonReply } from '../http/reply.ts';`,
    'src/settlement/two.ts': `import { readFields } from '../provider/wire-reading.ts';`,
    'src/settlement/three.ts': `import { moveRow } from '../pix/rows.ts';`,
    'src/ledger/one.ts': `import { claimOrder } from '../pix/idempotency.ts';`,
    'src/pix/words.ts': `import { compileShape } from '../provider/dialect/compile.ts';`,
    'src/pix/claims.ts': `import { createBank } from '../provider/sandbox/bank/bank.ts';`,
    'src/auth/roles.ts': `import { decide } from '../ledger/decide.ts';`,
    'src/pix/send-two.ts': `import type { IncomingMessage } from 'node:http';`,
    'src/jobs/one.ts': `import { jsonReply } from '../http/reply.ts';`,
    'src/operator/one.ts': `const { jobs } = await import('../app/jobs.ts');`,
    'src/context/context.ts': `export type { PixRow } from '../pix/rows.ts';`,
    'src/errors.ts': `import { systemClock } from './app/compose.ts';`,
    'console/one.ts': `import { cents } from '../src/domain/money.ts';`,
    'migrations/One.ts': `import { openPool } from '../src/db/pool.ts';`,
    'src/elsewhere/one.ts': `export const one = 1;`,
  },
  allowed: {
    'src/domain/one.ts': `import { randomInt } from 'node:crypto'; import { two } from './two.ts';`,
    'src/settlement/one.ts': `import { ProviderError } from '../provider/errors.ts';`,
    'src/settlement/four.ts': `import { decide } from '../ledger/decide.ts';`,
    'src/pix/send-one.ts': `import type { SendPix } from '../../contract/types.ts';`,
    'src/provider/sandbox/one.ts': `import { loadContract } from '../../contract/contract.ts';`,
    'src/context/context.ts': `import type { Clock } from '../clock.ts';`,
    'bin/commands/one.ts': `const { startApp } = await import('../../src/app/app.ts');`,
    'test/one.ts': `import { createBank } from '../src/provider/sandbox/bank/bank.ts';`,
  },
  operations: {
    'src/app/operations.ts':
      `import { sendOne } from '../pix/send-one.ts';\n` +
      `import { getOne } from '../pix/get-one.ts';`,
    'src/pix/send-one.ts': `const other = await import('./get-one.ts');`,
    'src/pix/get-one.ts': `import { row } from './rows.ts';`,
  },
  circle: {
    'src/db/one.ts': `import { two } from './two.ts';`,
    'src/db/two.ts': `import type { Three } from './three.ts';`,
    'src/db/three.ts': `export * from './one.ts';`,
  },
  environment: {
    'src/one.ts': `const home = process.env['HOME'];`,
    'src/two.ts': `const { env } = process;`,
    'src/three.ts': `import { env } from 'node:process';`,
    'bin/four.ts': `const home = globalThis.process.env.HOME;`,
  },
  clock: {
    'src/one.ts': `const now = Date.now();`,
    'src/two.ts': `const now = new Date();`,
    'src/three.ts': `const measure = performance.now;`,
    'src/four.ts': `const timer = setTimeout(() => 1, 10);`,
    'src/five.ts': `const wait = promisify(setTimeout);`,
    'src/six.ts': `const signal = AbortSignal.timeout(10);`,
    'src/seven.ts': `import { setTimeout as wait } from 'node:timers/promises';`,
    'bin/eight.ts': `globalThis.setInterval(() => 1, 10);`,
  },
  provider: {
    'src/one.ts': `const response = await fetch('http://provider');`,
    'src/two.ts': `import { Agent } from 'undici';`,
    'src/three.ts': `import { request as call } from 'node:http';`,
  },
  doorsKept: {
    'src/config/config.ts': `const values = process.env;`,
    'src/clock.ts': `setTimeout(() => new Date(), 10);`,
    'src/provider/http/pool.ts': `import { Agent } from 'undici';`,
    'src/http/one.ts': `import { createServer } from 'node:http'; new Date(0); process.exit(1);`,
    'test/one.ts': `process.env; setTimeout(run, 1); fetch('/');`,
  },
  snippets: {
    'src/keeper.ts': `setImmediate(run); setTimeout(run, 1);`,
    'src/callables.ts':
      `export const add = (a: number, b: number): number => {\n  return a + b;\n};\n` +
      `interface Adder { add(this: Adder, a: number): number }`,
    'src/exported.ts':
      `/** Adds. */\nexport function add() {}\n// Not a docstring.\nexport class Sum {}\n` +
      `export const less = () => 0;\nexport const zero = 0;\nexport default add;`,
    'src/types.ts': `import type { A } from './a.ts'; export type B = A;`,
    'src/types-and-import.ts': `import { type A } from './a.ts'; export type B = A;`,
    'src/comments.ts': `const a = \`// \${/* yes */ 1} //\`, b = '// no', c = /[/]* no/; // yes`,
    'src/long-comment.ts': `// ${words}`,
    'src/long-address.ts': `// https://example.com/${words}`,
    'src/long-title.ts': `  it('says ${words}', () => {});`,
    'src/long-literal.ts': `const sql =\n  '${words}';`,
  },
} satisfies Record<string, Record<string, string>>;

type Group = keyof typeof madeUp;

const sources = parseAll(
  '/made-up',
  new Map(
    Object.entries(madeUp).flatMap(([group, files]) =>
      Object.entries(files).map(([path, text]) => [`${group}/${path}`, text] as const),
    ),
  ),
  (path, tree) => {
    const [group = '', ...rest] = path.split('/');
    return { group, source: readSource(rest.join('/'), tree) };
  },
);

function listSources(group: Group): Source[] {
  return sources.filter((one) => one.group === group).map(({ source }) => source);
}

function snippet(name: string): Source {
  const found = listSources('snippets').find(({ path }) => path === `src/${name}.ts`);
  assert.ok(found, name);
  return found;
}

test('an import against the table is a breach, as a value, a type or at run time', () => {
  const seen = listSources('breaches').filter((source) => findBreaches(source).length === 1);
  assert.deepEqual(
    seen.map(({ path }) => path),
    Object.keys(madeUp.breaches),
  );
});

test('an import down the ranks is no breach', () => {
  assert.deepEqual(listSources('allowed').flatMap(findBreaches), []);
});

test('a statement that writes a table is seen, whatever its layout', () => {
  const writes = ['insert into pix', 'UPDATE pix set', 'update\n  only pix', 'delete from "pix"'];
  const reads = ['select from pix for update', 'update pix_limits set', 'join pix on true'];
  const seen = [...writes, ...reads].filter((text) => writesOf('pix', 'one.ts', text).length > 0);
  assert.deepEqual(seen, writes);
  assert.deepEqual(writesOf('pix', 'one.ts', 'with a as (\n update  pix t'), [
    'one.ts:2 update pix',
  ]);
});

test('an operation that imports another one is found', () => {
  assert.deepEqual(operationImports(listSources('operations')), [
    'src/pix/send-one.ts:1 imports src/pix/get-one.ts',
  ]);
});

test('a circle of imports is found, types included, and reported as a chain', () => {
  const chain = ['src/db/one.ts', 'src/db/two.ts', 'src/db/three.ts', 'src/db/one.ts'];
  assert.deepEqual(cyclesAmong(listSources('circle')), [chain.join(' → ')]);
});

const doors: ReadonlyMap<'environment' | 'clock' | 'provider', Door> = new Map([
  ['environment', environmentDoor],
  ['clock', clockDoor],
  ['provider', providerDoor],
]);

for (const [group, door] of doors) {
  test(`who goes past the door of ${door.name} is seen`, () => {
    const seen = listSources(group).filter((source) => trespasses(door, source).length > 0);
    assert.deepEqual(
      seen.map(({ path }) => path),
      Object.keys(madeUp[group]),
    );
  });

  test(`who keeps the door of ${door.name}, or needs none, is left alone`, () => {
    assert.deepEqual(
      listSources('doorsKept').flatMap((source) => trespasses(door, source)),
      [],
    );
  });
}

test('an exception goes no further than its reason', () => {
  const passage = { because: 'turns are no matter of time', only: /^setImmediate$/ };
  const door = { ...clockDoor, keepers: new Map([['src/keeper.ts', passage]]) };
  assert.deepEqual(
    trespasses(door, snippet('keeper')).map(({ what }) => what),
    ['setTimeout'],
  );
});

test('a function is measured in lines and in parameters, without `this`', () => {
  assert.deepEqual(
    snippet('callables').callables.map(({ name, lines, parameters, line }) => [
      name,
      lines,
      parameters,
      line,
    ]),
    [
      ['add', 3, 2, 1],
      ['add', 1, 1, 4],
    ],
  );
});

test('exports are seen with their docstrings, and a default one as such', () => {
  const { exported, defaultExports } = snippet('exported');
  assert.deepEqual(
    exported.map(({ name, documented }) => [name, documented]),
    [
      ['add', true],
      ['Sum', false],
      ['less', false],
    ],
  );
  assert.deepEqual(
    defaultExports.map(({ line }) => line),
    [7],
  );
});

test('a file is types only when nothing of it is left at run time', () => {
  assert.equal(snippet('types').typesOnly, true);
  assert.equal(snippet('types-and-import').typesOnly, false);
});

test('comments are those outside of literals', () => {
  assert.deepEqual(
    snippet('comments').comments.map(({ text }) => text),
    ['/* yes */', '// yes'],
  );
});

test('a comment with a statement in it is dead code, a sentence is not', () => {
  const isDead = (text: string): boolean => isDeadCode({ path: 'src/one.ts', line: 1, text });
  const dead = ['// const a = 1;', '// send(order);', '/*\n  if (late) {\n*/', '// a.b = c;'];
  const alive = ['// If it is late, it waits; else it goes.', '/** const a = 1; */', '// send()'];
  assert.deepEqual(dead.filter(isDead), dead);
  assert.deepEqual(alive.filter(isDead), []);
});

test('a line is too long only where it could be broken', () => {
  assert.deepEqual(longLines(snippet('long-comment')), ['src/long-comment.ts:1 (107)']);
  assert.deepEqual(longLines(snippet('long-address')), []);
  assert.deepEqual(longLines(snippet('long-title')), []);
  assert.deepEqual(longLines(snippet('long-literal')), []);
});

test('a name that says nothing is found anywhere in a path', () => {
  assert.ok(hasEmptyName('src/utils/money.ts'));
  assert.ok(hasEmptyName('src/http/body-helpers.ts'));
  assert.ok(!hasEmptyName('src/db/database.ts'));
});

test('a gauge is set by its process only, and by no job', () => {
  const found = (text: string): number => gaugesIn('src/jobs/one.ts', text).length;
  for (const text of [
    `context.metrics.unstoredOutcomes.set(3);`,
    `const { unstoredOutcomes } = context.metrics; unstoredOutcomes.set(3);`,
    `breakerState.set({ lane }, 1);`,
    `new Gauge({ name: 'stuck' });`,
    `import { register } from 'prom-client';`,
  ]) {
    assert.equal(found(text), 1, text);
  }
  assert.equal(found(`context.metrics.jobs.inc({ kind });`), 0);
  assert.deepEqual(gaugesIn('src/telemetry/metrics-gauges.ts', 'new Gauge({})'), []);
});
