/** The rules of `migrations/README.md`, as far as a statement's text shows them. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Migration } from '@mikro-orm/migrations';
import { migrationsFolder } from '../../../src/db/migrations-folder.ts';

/** The newest migration from before the rules. */
const lastWithoutRules = 'Migration20261122074931_hot_steps';

interface MigrationText {
  readonly name: string;
  readonly source: string;
  readonly isTransactional: boolean;
  readonly statements: readonly string[];
}

interface Rule {
  readonly says: string;
  /** Whether a statement breaks the rule. */
  breaks(statement: string, migration: MigrationText): boolean;
}

/** What the previous release may still need. */
const removing: readonly RegExp[] = [
  /\bdrop (?:table|index|trigger|function|column|type|view)\b/,
  /\brename\b/,
  /\balter (?:column )?"?\w+"? (?:set not null|drop default|(?:set data )?type)\b/,
];

const rules: readonly Rule[] = [
  {
    says: 'what the previous release needs goes in a contract step, which names its release',
    breaks: (statement, migration) =>
      !/Contract step: [^*]*\brelease \d+\.\d+\.\d+/.test(migration.source) &&
      (removing.some((pattern) => pattern.test(statement)) ||
        dropsConstraint(statement, migration)),
  },
  {
    says: 'a new column is nullable or has a default: the previous release inserts without it',
    breaks: (statement, migration) =>
      isOnExistingTable(statement, migration) &&
      clauses(statement).some(
        (clause) =>
          /^add (?:column )?(?!constraint|primary|unique|check|foreign)/.test(clause) &&
          / not null\b/.test(clause) &&
          !/ default\b/.test(clause),
      ),
  },
  {
    says: 'an index of an existing table is made concurrently, by createIndex',
    breaks: (statement, migration) =>
      /^create (?:unique )?index (?!concurrently)/.test(statement) &&
      isOnExistingTable(statement, migration),
  },
  {
    says: 'a constraint of an existing table is added as not valid, or using an index',
    breaks: (statement, migration) =>
      isOnExistingTable(statement, migration) &&
      /\badd (?:constraint|primary key|unique|check|foreign key)\b/.test(statement) &&
      !/ (?:not valid|using index)\b/.test(statement),
  },
  {
    says: 'a constraint is validated in an OnlineMigration',
    breaks: (statement, { isTransactional }) =>
      isTransactional && /\bvalidate constraint\b/.test(statement),
  },
  {
    says: 'rows are changed in an OnlineMigration, and no table is locked',
    breaks: (statement, { isTransactional }) =>
      isTransactional && /^(?:with|update|delete|insert|lock)\b/.test(statement),
  },
];

/** `drop constraint`, unless the migration adds another one of that name. */
function dropsConstraint(statement: string, { statements }: MigrationText): boolean {
  return [...statement.matchAll(/\bdrop constraint (?:if exists )?("?\w+"?)/g)].some(
    ([, name]) => !statements.some((other) => other.includes(`add constraint ${name} `)),
  );
}

/** The parts of an `alter table`. Commas in parentheses separate none. */
function clauses(statement: string): string[] {
  const [, actions = ''] = /^alter table (?:if exists )?(?:only )?\S+ (.*)$/.exec(statement) ?? [];
  return actions.split(/,(?![^(]*\)) */).map((clause) => clause.trim());
}

/** Whether a statement changes a table that the migration has not made itself. */
function isOnExistingTable(statement: string, { statements }: MigrationText): boolean {
  const [, table = ''] =
    /^alter table (?:if exists )?(?:only )?("?\w+"?)/.exec(statement) ??
    /^create (?:unique )?index .*? on (?:only )?("?\w+"?)/.exec(statement) ??
    [];
  const isMade = statements.some((other) => other.startsWith(`create table ${table} `));
  return table !== '' && !isMade;
}

function breaches(migration: MigrationText): string[] {
  return migration.statements.flatMap((statement) =>
    rules
      .filter(({ breaks }) => breaks(statement, migration))
      .map(({ says }) => `${migration.name}: ${says}:\n    ${statement.slice(0, 200)}`),
  );
}

/** Lower case, one line, without comments: what the patterns are written for. */
function plain(statement: string): string {
  return statement
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/;$/, '')
    .toLowerCase();
}

async function readMigration(file: string): Promise<MigrationText> {
  const path = join(migrationsFolder, file);
  const exported = Object.values((await import(path)) as Record<string, typeof Migration>);
  const [Class = assert.fail(`${file} exports no migration`)] = exported;
  // It finds nothing in the database, and only collects its statements.
  const driver = { execute: () => Promise.resolve([]) };
  const migration: Migration = Reflect.construct(Class, [driver, {}]);
  await migration.up();
  return {
    name: file.replace('.ts', ''),
    source: await readFile(path, 'utf8'),
    isTransactional: migration.isTransactional(),
    statements: migration.getQueries().map((query) => plain(query as string)),
  };
}

test('every migration since the rules keeps them', async () => {
  const files = (await readdir(migrationsFolder)).filter((file) => file.endsWith('.ts')).sort();
  const bound = files.filter((file) => file.replace('.ts', '') > lastWithoutRules);
  const migrations = await Promise.all(bound.map(readMigration));
  assert.deepEqual(migrations.flatMap(breaches), []);
});

test('an earlier migration would break them: the rules read statements', async () => {
  const found = breaches(await readMigration(`${lastWithoutRules}.ts`)).join('\n');
  for (const { says } of [rules[0], rules[2], rules[5]].filter((rule) => rule !== undefined)) {
    assert.ok(found.includes(says), says);
  }
});

const contract = '/** Contract step: since release 1.1.0 no code reads it. */';

interface Case {
  readonly statements: readonly string[];
  /** The rule that is broken, by its place; null: none. */
  readonly breaks: number | null;
  readonly source?: string;
  readonly isTransactional?: boolean;
}

const cases: readonly Case[] = [
  { statements: ['alter table "users" drop column "phone"'], breaks: 0 },
  { statements: ['alter table "users" drop column "phone"'], source: contract, breaks: null },
  { statements: ['alter table "users" rename column "phone" to "mobile"'], breaks: 0 },
  { statements: ['alter table "users" alter column "phone" set not null'], breaks: 0 },
  { statements: ['alter table "users" alter column "id" type bigint'], breaks: 0 },
  { statements: ['alter table "users" drop constraint "users_known"'], breaks: 0 },
  { statements: ['drop index concurrently if exists "users_phone"'], breaks: 0 },
  {
    statements: [
      'alter table "users" drop constraint "users_known"',
      'alter table "users" add constraint "users_known" check (true) not valid',
    ],
    breaks: null,
  },
  { statements: ['alter table "users" add "age" int not null'], breaks: 1 },
  { statements: ['alter table "users" add "a" int null, add "b" int not null'], breaks: 1 },
  { statements: ['alter table "users" add "age" int not null default 0'], breaks: null },
  { statements: ['alter table "users" add "age" int null'], breaks: null },
  { statements: ['create index "users_age" on "users" ("age")'], breaks: 2 },
  { statements: ['create unique index "users_age" on "users" ("age")'], breaks: 2 },
  { statements: ['create index concurrently if not exists "a" on "users" ("age")'], breaks: null },
  {
    statements: ['create table "pets" ("id" int not null)', 'create index "a" on "pets" ("id")'],
    breaks: null,
  },
  { statements: ['alter table "users" add constraint "adult" check (age > 17)'], breaks: 3 },
  { statements: ['alter table "users" add constraint "adult" unique ("age")'], breaks: 3 },
  { statements: ['alter table "users" add constraint "a" unique using index "b"'], breaks: null },
  { statements: ['alter table "users" validate constraint "adult"'], breaks: 4 },
  {
    statements: ['alter table "users" validate constraint "adult"'],
    isTransactional: false,
    breaks: null,
  },
  { statements: ['update "users" set "age" = 0'], breaks: 5 },
  { statements: ['lock table "users"'], breaks: 5 },
  {
    statements: ['update "users" set "age" = 0 where "id" < 1000'],
    isTransactional: false,
    breaks: null,
  },
];

for (const { statements, breaks, source = '', isTransactional = true } of cases) {
  const kind = isTransactional ? 'in a transaction' : 'in an OnlineMigration';
  const words = [source && 'a contract step', kind].filter(Boolean).join(', ');
  test(`${statements.join('; ')} (${words}) ${breaks === null ? 'passes' : 'is found'}`, () => {
    const found = breaches({ name: 'it', source, isTransactional, statements });
    assert.equal(found.length, breaks === null ? 0 : 1, found.join('\n'));
    assert.ok(breaks === null || found[0]?.includes(rules[breaks]?.says ?? 'no such rule'));
  });
}
