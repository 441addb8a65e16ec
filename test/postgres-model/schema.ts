/** Tables, functions and sequences, made from the catalog. */
import { canonical } from './canonical.ts';
import type { Catalog, ColumnFacts, UniqueFacts } from './catalog.ts';
import { canonicalParts } from './conflict.ts';
import { NotModelled } from './errors.ts';
import { condition } from './expressions.ts';
import { doneBy, compileFunction, raisedBy } from './plpgsql.ts';
import type { Tuple } from './rows.ts';
import {
  coerced,
  Scope,
  settled,
  Statement,
  type Compiler,
  type Expr,
  type Known,
  type OwnFunction,
  type Run,
} from './scope.ts';
import { Session } from './session.ts';
import {
  Table,
  type AfterTrigger,
  type ForeignKey,
  type TableColumn,
  type Trigger,
  type Unique,
} from './table.ts';
import { parseExpression, parseStatement } from './tree.ts';
import { fitting, fromText, toKey, typeNamed } from './types.ts';

/** The schema of a database, and the state of its sequences. */
export interface Schema extends Known {
  readonly tables: Map<string, Table>;
  readonly functions: Map<string, OwnFunction>;
  readonly sequences: Map<string, number>;
}

/** Creates the tables of a catalog, with their rows. */
export function buildSchema(catalog: Catalog, compiler: Compiler): Schema {
  const schema: Schema = {
    tables: new Map(),
    functions: new Map(),
    sequences: new Map(catalog.sequences.map(({ name, next }) => [name, Number(next)])),
  };
  const bodies = new Map(catalog.functions.map((text) => [nameOfFunction(text), text]));
  for (const [name, columns] of Map.groupBy(catalog.columns, ({ table }) => table)) {
    schema.tables.set(
      name,
      new Table(
        name,
        columns.map((one) => compileColumn(one, compiler, schema)),
      ),
    );
  }
  for (const text of bodies.values()) {
    const own = compileFunction(text, compiler, schema);
    if (own) schema.functions.set(nameOfFunction(text), own);
  }
  for (const table of schema.tables.values()) constrain(table, catalog, { compiler, schema });
  addForeignKeys(catalog, schema);
  for (const { table, definition } of catalog.triggers) {
    const owner = schema.tables.get(table);
    if (owner) addTrigger(definition, owner, { compiler, bodies, schema });
  }
  schema.tables.set(statistics, makeStatistics([...schema.tables.keys()]));
  for (const [name, rows] of Object.entries(catalog.contents)) fill(schema.tables.get(name), rows);
  return schema;
}

/** The catalog table with PostgreSQL's estimates of table sizes. */
export const statistics = 'pg_class';

/** All estimates are -1, as for tables that were never analysed. */
function makeStatistics(tables: readonly string[]): Table {
  const column = { isRequired: true, fit: (value: unknown) => value, byDefault: () => null };
  const table = new Table(statistics, [
    { ...column, name: 'oid', type: 'regclass' },
    { ...column, name: 'reltuples', type: 'float8' },
  ]);
  for (const name of tables) table.rows.insert([name, -1], 0);
  table.rows.commit();
  return table;
}

interface Making {
  readonly compiler: Compiler;
  readonly schema: Schema;
}

function nameOfFunction(text: string): string {
  return /function (?:public\.)?"?(\w+)"?\s*\(/i.exec(text)?.[1] ?? '';
}

function compileColumn(facts: ColumnFacts, compiler: Compiler, schema: Schema): TableColumn {
  const { name, is_required: isRequired } = facts;
  const type = typeNamed(facts.type);
  const column = { name, type, isRequired, fit: fitting(facts.type) };
  if (facts.default === null) return { ...column, byDefault: () => null };
  const scope = new Scope(new Statement(compiler, schema), null);
  const { run } = coerced(scope, compiler.expression(parseExpression(facts.default), scope), type);
  return {
    ...column,
    byDefault: (session) =>
      run({ session, command: 0, parameters: [], tuples: [], versions: [], kept: [] }),
  };
}

/** A function of one row of a table, or of the row before and after a change. */
type OfRows = (...rows: (Tuple | null)[]) => unknown;

function ofRows(scope: Scope, run: Run): OfRows {
  const session = new Session({
    nextValue() {
      throw new NotModelled('a sequence in a constraint');
    },
  });
  const tuples: Tuple[] = [];
  const frame = { session, command: 0, parameters: [], versions: [], kept: [], tuples };
  return (...rows) => {
    for (const [place, row] of rows.entries()) tuples[place] = row ?? [];
    return run(frame);
  };
}

/** A scope with the columns of a table. */
function makeScope(table: Table, aliases: readonly string[], { compiler, schema }: Making): Scope {
  const scope = new Scope(new Statement(compiler, schema), null);
  for (const alias of aliases) {
    const source = scope.statement.source();
    scope.add({ alias, number: source, columns: table.columns });
    if (aliases.length > 1) continue;
    scope.visible = table.columns.map((column, place) => ({ ...column, source, place }));
  }
  return scope;
}

function constrain(table: Table, catalog: Catalog, making: Making): void {
  const ofTable = <One extends { readonly table: string }>(all: readonly One[]): One[] =>
    all.filter((one) => one.table === table.name);
  table.checks = ofTable(catalog.checks).map(({ name, definition }) => {
    const scope = makeScope(table, [table.name], making);
    const text = definition.replace(/^CHECK /, '').replace(/ NOT VALID$/, '');
    return { name, test: ofRows(scope, condition(parseExpression(text), scope).run) };
  });
  // PostgreSQL checks constraints in the order of their names.
  table.checks = table.checks.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  table.uniques = ofTable(catalog.uniques).map((facts, place) =>
    compileUnique(facts, place, { ...making, table }),
  );
}

function compileUnique(
  facts: UniqueFacts,
  place: number,
  making: Making & { table: Table },
): Unique {
  const scope = makeScope(making.table, [making.table.name], making);
  const keys = facts.keys.map((text) => parseExpression(text));
  const exprs = keys.map((node) => settled(scope, making.compiler.expression(node, scope)));
  const predicate = facts.predicate === null ? null : parseExpression(facts.predicate);
  const holds = predicate ? ofRows(scope, condition(predicate, scope).run) : () => true;
  const parts = exprs.map(({ type, run }: Expr) => [type, ofRows(scope, run)] as const);
  return {
    name: facts.name,
    place,
    keys: new Set(keys.map(canonical)),
    predicate: new Set(predicate ? canonicalParts(predicate) : []),
    toKey(values) {
      if (holds(values) !== true) return null;
      const words: string[] = [];
      for (const [type, part] of parts) {
        const value = part(values) ?? null;
        if (value === null) return null;
        words.push(toKey(type, value));
      }
      return words.join('\0');
    },
  };
}

function addForeignKeys(catalog: Catalog, { tables }: Schema): void {
  for (const { name, table, columns, parent: parentName, ...facts } of catalog.foreignKeys) {
    const [child, parent] = [tables.get(table), tables.get(parentName)];
    if (!child || !parent) throw new NotModelled(`the foreign key ${name}`);
    const isCascade = facts.on_delete === 'c';
    if (!isCascade && !['a', 'r'].includes(facts.on_delete)) throw new NotModelled(name);
    const placesIn = (one: Table, list: readonly string[]): number[] =>
      list.map((column) => one.columns.findIndex((other) => other.name === column));
    const key = {
      ...({ name, child, parent, onDelete: isCascade ? 'cascade' : 'refuse' } as const),
      places: placesIn(child, columns),
      parentPlaces: placesIn(parent, facts.parent_columns),
      refusal: makeRefusal(facts.on_delete, catalog.version),
    };
    child.parents.push(key);
    parent.children.push(key);
  }
}

/** From version 18 on, RESTRICT has a separate SQLSTATE. */
function makeRefusal(onDelete: string, version: number): ForeignKey['refusal'] {
  const isRestrict = onDelete === 'r' && version >= 180_000;
  return isRestrict ? 'restrict_violation' : 'foreign_key_violation';
}

interface WithBodies extends Making {
  readonly bodies: ReadonlyMap<string, string>;
}

/**
 * Triggers that the model leaves out, because they read the server's time and role: one stamps rows
 * that no simulated code reads, one refuses a deletion that no simulated code makes.
 */
const ofTheServer: ReadonlySet<string> = new Set([
  'operator_actions_stamped',
  'security_events_kept',
]);

/** Adds a trigger: it refuses a change, before or after it, or writes rows after it. */
function addTrigger(definition: string, table: Table, making: WithBodies): void {
  const trigger = parseStatement(definition, 'CreateTrigStmt');
  if (ofTheServer.has(trigger.trigname ?? '')) return;
  const { timing = 0, events = 0, whenClause } = trigger;
  const [before, onInsert, onDelete, onUpdate] = [2, 4, 8, 16];
  if (trigger.columns || !trigger.row) throw new NotModelled(definition);
  const called = trigger.funcname?.at(-1);
  const name = called && 'String' in called ? (called.String.sval ?? '') : '';
  const body = making.bodies.get(name) ?? '';
  const scope = makeScope(table, ['old', 'new'], making);
  const holds = whenClause ? ofRows(scope, condition(whenClause, scope).run) : () => true;
  const raise = timing === before ? raisedBy(body) : null;
  if (raise && !(events & onInsert)) {
    const on = new Set<'update' | 'delete'>();
    if (events & onDelete) on.add('delete');
    if (events & onUpdate) on.add('update');
    const fire: Trigger['fire'] = (old, next) => {
      if (holds(old, next) === true) throw raise();
    };
    table.triggers = [...table.triggers, { on, fire }];
    return;
  }
  if (timing !== 0 || events & onDelete) throw new NotModelled(definition);
  const { compiler, schema } = making;
  const work = doneBy(body, table.columns, { compiler, catalog: schema });
  const on = new Set<'insert' | 'update'>();
  if (events & onInsert) on.add('insert');
  if (events & onUpdate) on.add('update');
  const fire: AfterTrigger['fire'] = (session, old, next) => {
    if (holds(old, next) === true) work(session, old, next);
  };
  table.afterTriggers = [...table.afterTriggers, { on, fire }];
}

/** Inserts the stored rows. */
function fill(
  table: Table | undefined,
  rows: readonly Readonly<Record<string, string | null>>[],
): void {
  for (const row of rows) {
    table?.rows.insert(
      table.columns.map(({ name, type }) => {
        const text = row[name] ?? null;
        return text === null ? null : fromText(type, text);
      }),
      0,
    );
  }
  table?.rows.commit();
}
