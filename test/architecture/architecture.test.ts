/**
 * Holds what reviewers would otherwise have to repeat: who may import whom, single doors, budgets,
 * names and docstrings. Each failure names the place and says what to do instead.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { parse } from 'yaml';
import {
  clockDoor,
  environmentDoor,
  idleExceptions,
  providerDoor,
  trespasses,
  type Door,
} from './doors.ts';
import { gaugesIn } from './gauges.ts';
import { findBreaches, cyclesAmong, operationImports } from './layers.ts';
import { parseAll } from './parser.ts';
import { readSource, type Callable, type Source } from './source.ts';
import { hasEmptyName, isDeadCode, longLines, mentions, readTexts, writesOf } from './texts.ts';

const root = join(import.meta.dirname, '..', '..');

const generated = new Set(['contract/types.ts', 'contract/provider-types.ts']);

const maxFunctionLines = 70;
const maxFileLines = 450;
const maxParameters = 3;

let texts: ReadonlyMap<string, string>;
let sources: readonly Source[];

before(() => {
  texts = readTexts(root);
  // test/clients is a package of its own.
  const code = new Map(
    [...texts].filter(([path]) => /\.tsx?$/.test(path) && !path.startsWith('test/clients/')),
  );
  sources = parseAll(root, code, readSource);
});

/** Files that people write and that run outside the tests. */
function projectSources(): Source[] {
  return sources.filter(
    ({ path }) => /^(?:src|bin|console|contract)\//.test(path) && !generated.has(path),
  );
}

function none(found: readonly string[], instead: string): void {
  assert.ok(found.length === 0, `${instead}\n${found.map((one) => `  ${one}`).join('\n')}`);
}

describe('imports', () => {
  it('lead from a folder to those below it', () => {
    none(sources.flatMap(findBreaches), 'Move the code to where it may know what it needs:');
  });

  it('do not lead from one operation to another', () => {
    none(operationImports(sources), 'Move what two operations need to a file of its own:');
  });

  it('lead to files that exist', () => {
    const missing = sources.flatMap(({ imports }) =>
      imports
        .filter(({ target }) => target !== null && !texts.has(target))
        .map(({ path, line, specifier }) => `${path}:${line} imports ${specifier}`),
    );
    none(missing, 'Import a file of this project, with its extension:');
  });

  it('do not go in circles', () => {
    none(cyclesAmong(sources), 'Move what both need to a file that neither is:');
  });

  it('are by name: nothing is exported by default', () => {
    const found = sources
      .filter(({ path }) => path !== 'mikro-orm.config.ts')
      .flatMap(({ defaultExports }) => defaultExports.map(({ path, line }) => `${path}:${line}`));
    none(found, 'Give the export a name, so that it is called the same everywhere:');
  });
});

describe('single doors', () => {
  function keeps(door: Door): void {
    const found = sources.flatMap((source) => trespasses(door, source));
    none(
      found.map(({ path, line, what }) => `${path}:${line} ${what}`),
      door.instead,
    );
  }

  it('only src/config/config.ts reads the environment', () => {
    keeps(environmentDoor);
  });

  it('only src/clock.ts reads the time and sets timers', () => {
    keeps(clockDoor);
  });

  it('only src/provider/http/pool.ts connects to the provider', () => {
    keeps(providerDoor);
  });

  const normalisers = new Set(['src/domain/text.ts', 'src/process/passwords.ts']);

  it('only two files normalise texts, behind a limit of their length', () => {
    const found = sources
      .filter(({ path }) => /^(?:src|bin)\//.test(path) && !normalisers.has(path))
      .flatMap(({ path }) => mentions(path, texts.get(path) ?? '', /\.normalize\(/));
    none(found, 'Call normalised() of src/domain/text.ts:');
  });

  it('no job sets a gauge: what the database knows is read at the scrape', () => {
    none(
      [...texts].flatMap(([path, text]) => gaugesIn(path, text)),
      'Read it in src/operator/inspection-repository.ts, and add it to src/telemetry/metrics-gauges.ts:',
    );
  });

  it('have no exception without a use', () => {
    const found = [environmentDoor, clockDoor, providerDoor].flatMap((door) =>
      idleExceptions(door, sources),
    );
    none(found, 'Take the exception out of test/architecture/doors.ts:');
  });
});

describe('budgets', () => {
  function over(isOver: (callable: Callable) => boolean): Callable[] {
    return projectSources().flatMap(({ callables }) => callables.filter(isOver));
  }

  it(`a function has at most ${maxFunctionLines} lines, better 50`, () => {
    none(
      over(({ lines }) => lines > maxFunctionLines).map(
        ({ path, line, name, lines }) => `${path}:${line} ${name} has ${lines}`,
      ),
      'Give a step of it a name and a function of its own:',
    );
  });

  it(`a function has at most ${maxParameters} parameters`, () => {
    none(
      over(({ parameters }) => parameters > maxParameters).map(
        ({ path, line, name, parameters }) => `${path}:${line} ${name} has ${parameters}`,
      ),
      'Take one options object with named members:',
    );
  });

  it(`a file has at most ${maxFileLines} lines`, () => {
    none(
      projectSources()
        .map(({ path, lines }) => ({
          path,
          count: lines.at(-1) === '' ? lines.length - 1 : lines.length,
        }))
        .filter(({ count }) => count > maxFileLines)
        .map(({ path, count }) => `${path} has ${count}`),
      'Move the part that has a name of its own to a file of that name:',
    );
  });

  it('a line has at most 100 columns', () => {
    none(
      sources
        .filter(({ path }) => !generated.has(path) && !path.startsWith('migrations/'))
        .flatMap(longLines),
      'Break the line; a comment is broken by hand:',
    );
  });
});

describe('texts', () => {
  it('promise nothing for later', () => {
    const later = /\b(?:T[O]DO|F[I]XME|X[X]X)\b/;
    const inComments = sources.flatMap(({ comments }) =>
      comments.flatMap(({ path, line, text }) => (later.test(text) ? [`${path}:${line}`] : [])),
    );
    const elsewhere = [...texts]
      .filter(([path]) => !/\.tsx?$/.test(path))
      .flatMap(([path, text]) => mentions(path, text, later));
    none([...inComments, ...elsewhere], 'Do it now, or open an issue and take the mark out:');
  });

  it('hold no code that is switched off', () => {
    const found = sources.flatMap(({ comments }) =>
      comments.filter(isDeadCode).map(({ path, line }) => `${path}:${line}`),
    );
    none(found, 'Delete it: version control remembers. If it is prose, write it as a sentence:');
  });

  it('know nothing outside the project', () => {
    const outside = new RegExp(
      String.raw`(?:^|[^\w.])(?:/work/\w|/home/\w+/|/Users/\w+/|\.\./shared\b)`,
    );
    const written = [...texts].flatMap(([path, text]) => mentions(path, text, outside));
    const imported = sources.flatMap(({ imports }) =>
      imports
        .filter(({ target }) => target?.startsWith('../') ?? false)
        .map(({ path, line, specifier }) => `${path}:${line} ${specifier}`),
    );
    none([...written, ...imported], 'A clone of this project is all that a reader has:');
  });

  it('cite no rule from a document that the project does not have', () => {
    const cited = /\b(?:the s[p]ecification\b|s[p]ecification, section|\(d[e]cisions:)/i;
    none(
      [...texts].flatMap(([path, text]) => mentions(path, text, cited)),
      'Cite the contract, the README or a published standard by its name, or state the rule itself:',
    );
  });

  it('name only documents that the project has', () => {
    const names = new Set([...texts.keys()].map((path) => path.split('/').at(-1) ?? path));
    const found = [...texts].flatMap(([path, text]) =>
      text
        .split('\n')
        .flatMap((line, index) =>
          [...line.matchAll(/(?<![\w*])[\w-]+\.md\b/g)]
            .filter(([name]) => !names.has(name))
            .map(([name]) => `${path}:${index + 1} ${name}`),
        ),
    );
    none(found, 'Name a document of the project, or say the thing itself:');
  });
});

describe('the database', () => {
  it('is reached with names: no repository writes the place of a parameter', () => {
    const found = [...texts]
      .filter(([path]) => path.startsWith('src/') && path.endsWith('-repository.ts'))
      .flatMap(([path, text]) => mentions(path, text, /\$\d|Parameters(?:, batched)?:/));
    none(found, 'Declare the parameter in `statement` or `batchedStatement`, and write its name:');
  });

  it('shows entities and their manager to repositories only', () => {
    const found = [...texts]
      .filter(([path]) => /^src\/(?!db\/).*\.ts$/.test(path))
      .filter(([path]) => !path.endsWith('-repository.ts'))
      .flatMap(([path, text]) => mentions(path, text, /EntityManager|\bopenUnit\b|\.em\(\)/));
    none(found, 'Add a function to the repository of the capability:');
  });
});

describe('the ledger', () => {
  it('alone writes transactions', () => {
    // The triggers of the table, which belong to its declaration, keep the sums of returns.
    const declaration = 'src/db/entities/pix-transaction.ts';
    const found = [...texts]
      .filter(([path]) => /^(?:src|bin)\/.*\.ts$/.test(path) && path !== declaration)
      .flatMap(([path, text]) => writesOf('pix_transactions', path, text))
      .filter((place) => !place.startsWith('src/ledger/'));
    none(found, 'Call a function of src/ledger, or add the statement to one of its repositories:');
  });

  it('writes transactions by SQL alone, which the last rule sees', () => {
    const found = sources
      .filter(({ path }) => /^src\/(?!db\/)/.test(path))
      .flatMap(({ imports }) => imports)
      .filter(({ target }) => target === 'src/db/entities/pix-transaction.ts')
      .map(({ path, line }) => `${path}:${line}`);
    none(found, 'Write SQL in a repository of src/ledger:');
  });
});

describe('names and docstrings', () => {
  it('a file is named after what is in it', () => {
    none(
      [...texts.keys()].filter((path) => /\.tsx?$/.test(path) && hasEmptyName(path)),
      'Name the file after the thing that it does or is:',
    );
  });

  it('every exported function and class of src says what it is for', () => {
    const found = sources
      .filter(({ path }) => path.startsWith('src/'))
      .flatMap(({ exported }) => exported.filter((one) => !one.documented))
      .map(({ path, line, name }) => `${path}:${line} ${name}`);
    none(
      found,
      'Write a /** docstring */ directly above: what it takes and returns, units, what it throws:',
    );
  });
});

describe('versions and lists', () => {
  it('package.json, the contract and the newest CHANGELOG heading have one version', () => {
    const { version } = JSON.parse(readText('package.json')) as { version: string };
    const contract = parse(readText('contract/openapi.yaml')) as { info: { version: string } };
    const heading = /^## \[(\d+\.\d+\.\d+)\] - (?:\d{4}-\d{2}-\d{2}|Unreleased)$/m.exec(
      readText('CHANGELOG.md'),
    );
    assert.deepEqual(
      { contract: contract.info.version, changelog: heading?.[1] },
      { contract: version, changelog: version },
      'The opening of a version changes package.json, contract/openapi.yaml and CHANGELOG.md together',
    );
  });

  it('the coverage leaves out exactly what no test can load', () => {
    const { exclude } = JSON.parse(readText('.c8rc.json')) as { exclude: string[] };
    const typesOnly = sources
      .filter(
        ({ path, typesOnly: isTypesOnly }) =>
          isTypesOnly && /^(?:src|bin|console|contract)\//.test(path),
      )
      .map(({ path }) => path);
    assert.deepEqual(
      exclude.toSorted(),
      [...typesOnly, ...ownProcess].toSorted(),
      '.c8rc.json excludes files of types only, which are never loaded, and those of own processes',
    );
  });
});

/**
 * Files that run as a process of their own, whose code is a bundle: the tests of the system start
 * them, and the coverage cannot see them.
 */
const ownProcess = ['console/main.tsx'];

function readText(path: string): string {
  const text = texts.get(path);
  assert.ok(text !== undefined, `${path} is missing`);
  return text;
}
