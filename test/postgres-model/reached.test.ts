/**
 * The model has no construct that nothing uses: each of its functions, aggregates, operators, kinds
 * of expressions and tests of a condition is in a statement of the service, in a check, trigger or
 * function of the migrations, or in a query of the simulation. A text counts only if the model
 * knows every part of it: it cannot run any other one.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Migration } from '@mikro-orm/migrations';
import { loadModule, parsePlPgSQLSync, parseSync } from 'libpg-query';
import type * as Tree from 'libpg-query';
import { migrationsFolder } from '../../src/db/migrations-folder.ts';
import { root } from '../system/service-process.ts';
import { aggregateNames } from './aggregates.ts';
import { booleanTestNames, expressionKinds } from './expressions.ts';
import { functionNames } from './functions.ts';
import { operatorNames } from './operators.ts';
import { tableFunctionNames } from './table-functions.ts';
import { getName } from './tree.ts';

await loadModule();

const known = new Set([
  ...[...functionNames, ...aggregateNames, ...tableFunctionNames].map((name) => `${name}()`),
  ...operatorNames,
  ...booleanTestNames,
  ...expressionKinds,
]);

/** What a node is, as `known` names it. */
function nameNode(kind: string, body: unknown): readonly string[] {
  switch (kind) {
    case 'FuncCall':
      return [kind, `${getName((body as Tree.FuncCall).funcname?.at(-1))}()`];
    case 'A_Expr': {
      const { kind: form, name } = body as Tree.A_Expr;
      return form === 'AEXPR_OP' || form === 'AEXPR_LIKE' ? [kind, getName(name?.at(-1))] : [kind];
    }
    case 'BooleanTest':
      return [kind, (body as Tree.BooleanTest).booltesttype ?? ''];
    default:
      return [kind];
  }
}

/** The names of all nodes in a tree, among them those that are no constructs of the model. */
function namesIn(tree: unknown, names = new Set<string>()): Set<string> {
  if (tree === null || typeof tree !== 'object') return names;
  for (const [kind, body] of Object.entries(tree) as [string, unknown][]) {
    if (/^[A-Z]/.test(kind)) for (const name of nameNode(kind, body)) names.add(name);
    namesIn(body, names);
  }
  return names;
}

/** @returns null for a text that is no SQL. */
function parse(text: string): unknown {
  try {
    return parseSync(text);
  } catch {
    return null;
  }
}

/** The functions that the migrations make, and the service calls. */
const own = new Set<string>();

/** The trees of a statement and, if it makes a function, of the function's expressions. */
function treesOf(text: string): readonly unknown[] {
  const tree = parse(text);
  if (!/^\s*create (?:or replace )?function\b/i.test(text)) return tree === null ? [] : [tree];
  own.add(`${/function\s+"?(\w+)/i.exec(text)?.[1]}()`);
  const queries = JSON.stringify(parsePlPgSQLSync(text)).matchAll(/"query":("(?:[^"\\]|\\.)*")/g);
  return [...queries].map(([, query = '']) => {
    const expression = (JSON.parse(query) as string).replace(/^[\w.]+\s*:=/, '');
    return parse(expression) ?? parse(`select ${expression}`);
  });
}

async function statementsOfMigrations(): Promise<string[]> {
  const files = globSync('*.ts', { cwd: migrationsFolder });
  const found = await Promise.all(
    files.map(async (file) => {
      const exported = Object.values(
        (await import(join(migrationsFolder, file))) as Record<string, typeof Migration>,
      );
      const [Class = assert.fail(`${file} exports no migration`)] = exported;
      // It finds nothing in the database, and only collects its statements.
      const driver = { execute: () => Promise.resolve([]) };
      const migration: Migration = Reflect.construct(Class, [driver, {}]);
      await migration.up();
      return migration.getQueries().map(String);
    }),
  );
  return found.flat();
}

function statementsOfService(): string[] {
  const text = readFileSync(join(root, 'src/db/statements.sql'), 'utf8');
  return text.split(/^-- src\/\S+\.ts: .*$/m).slice(1);
}

/** The literals that are SQL; a part that is inserted into one is read as a name. */
function statementsOfSimulation(): string[] {
  const files = globSync('test/simulation/**/*.ts', { cwd: root });
  return files.flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8');
    const literals = source.matchAll(/`\s*((?:select|with|insert|update|delete)\b[^`]*)`/g);
    return [...literals].map(([, text = '']) =>
      text.replaceAll(/\$\{[^}]*\}/g, 'x').replaceAll('\\\\', '\\'),
    );
  });
}

/** The parts of a text that only the tables of the model can execute. */
function isOfTables(name: string): boolean {
  return name.endsWith('()') || !/^\w+$/.test(name);
}

test('every construct of the model is in a text that the model can run', async () => {
  const texts = [
    ...(await statementsOfMigrations()),
    ...statementsOfService(),
    ...statementsOfSimulation(),
  ];
  const trees = texts.flatMap(treesOf);
  assert.ok(trees.length > 300, `${trees.length} trees`);
  const used = new Set<string>();
  for (const names of trees.map((tree) => namesIn(tree))) {
    const unknown = [...names].filter((name) => isOfTables(name) && !known.has(name));
    if (unknown.every((name) => own.has(name))) for (const name of names) used.add(name);
  }
  // The default of a serial column is a call of it.
  if (texts.some((text) => /\b(?:big)?serial\b/.test(text))) used.add('nextval()');
  assert.deepEqual(
    [...known].filter((name) => !used.has(name)),
    [],
  );
});
