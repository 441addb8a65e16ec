/** INSERT, UPDATE and DELETE. */
import type * as Tree from 'libpg-query';
import { assigning, findPlace } from './assignments.ts';
import { resolveConflict, type Resolve } from './conflict.ts';
import { NotModelled } from './errors.ts';
import { compileFrom, findTable, walkTable } from './from.ts';
import { addCtes, compileLoose } from './query.ts';
import type { Tuple, Version } from './rows.ts';
import { Scope, type Changed, type Frame, type Modification } from './scope.ts';
import { conjuncts, compileTargets, type Target } from './select.ts';
import type { Table } from './table.ts';
import { unwrapNode, parts } from './tree.ts';

/** Compiles a statement that changes a table; null: the node is of another kind. */
export function compileModification(node: Tree.Node, outer: Scope): Modification | null {
  const [kind, body] = parts(node);
  const scope = new Scope(outer.statement, outer);
  if (kind === 'InsertStmt') return compileInsert(body as Tree.InsertStmt, scope);
  if (kind === 'UpdateStmt') return compileUpdate(body as Tree.UpdateStmt, scope);
  if (kind === 'DeleteStmt') return compileDelete(body as Tree.DeleteStmt, scope);
  return null;
}

/** Adds the changed table to a scope. */
function addTarget(relation: Tree.RangeVar | undefined, scope: Scope): readonly [Table, number] {
  const table = findTable(relation?.relname ?? '', scope);
  const source = scope.statement.source();
  scope.statement.isPureRead = false;
  const { columns } = table;
  scope.add({ alias: relation?.alias?.aliasname ?? table.name, number: source, columns });
  const visible = columns.map(({ name, type }, place) => ({ name, type, source, place }));
  scope.visible.push(...visible);
  return [table, source];
}

function compileReturning(clause: Tree.ReturningClause | undefined, scope: Scope): Target[] {
  const targets = compileTargets(clause?.exprs, scope);
  if (targets.some(({ type }) => type === 'unknown'))
    throw new NotModelled('RETURNING of a literal');
  return targets;
}

/** The changes of a run so far. */
class Count implements Changed {
  count = 0;
  readonly rows: Tuple[] = [];
  readonly #returning: readonly Target[];

  constructor(returning: readonly Target[]) {
    this.#returning = returning;
  }

  add(frame: Frame): void {
    this.count += 1;
    if (this.#returning.length > 0)
      this.rows.push(this.#returning.map(({ expr }) => expr.run(frame)));
  }
}

function compileInsert(body: Tree.InsertStmt, scope: Scope): Modification {
  addCtes(body.withClause, scope);
  const table = findTable(body.relation?.relname ?? '', scope);
  if (!body.cols) throw new NotModelled('an INSERT without columns');
  const places = body.cols.map((node) =>
    findPlace(table, unwrapNode(node, 'ResTarget').name ?? ''),
  );
  const query = compileLoose(unwrapNode(body.selectStmt, 'SelectStmt'), scope);
  if (query.columns.length !== places.length) throw new NotModelled('an INSERT of other columns');
  query.retype(places.map((place) => table.columns[place]?.type ?? 'text'));
  const inner = new Scope(scope.statement, scope);
  const [, source] = addTarget(body.relation, inner);
  const returning = compileReturning(body.returningClause, inner);
  const resolve = body.onConflictClause
    ? resolveConflict(body.onConflictClause, { table, source, scope: inner })
    : null;
  const complete = completing(table, places);
  return {
    columns: returning,
    run(frame) {
      const changed = new Count(returning);
      for (const inserted of query.rows(frame)) {
        const values = complete(inserted, frame);
        table.admit(values);
        if (put(table, values, { frame, source, resolve })) changed.add(frame);
      }
      return changed;
    },
  };
}

/** Builds a row from the inserted values, with the defaults of the other columns. */
function completing(table: Table, places: readonly number[]) {
  const insertedAt = table.columns.map((_, place) => places.indexOf(place));
  return (inserted: Tuple, { session }: Frame): Tuple =>
    table.columns.map(({ fit, byDefault }, place) => {
      const at = insertedAt[place] ?? -1;
      return at === -1 ? byDefault(session) : fit(inserted[at] ?? null);
    });
}

interface Putting {
  readonly frame: Frame;
  readonly source: number;
  readonly resolve: Resolve | null;
}

/** @returns whether RETURNING returns a row. */
function put(table: Table, values: Tuple, { frame, source, resolve }: Putting): boolean {
  const resolved = resolve?.(frame, values);
  if (resolved === 'nothing') return false;
  const version = resolved ?? table.insert(values, frame);
  frame.tuples[source] = version.values;
  frame.versions[source] = version;
  return true;
}

function compileUpdate(body: Tree.UpdateStmt, scope: Scope): Modification {
  return compileChange({ ...body, tables: body.fromClause }, scope, (table, source, inner) => {
    const assign = assigning(body.targetList, table, inner);
    return (version, frame) => {
      frame.tuples[source] = table.update(version, assign(version.values, frame), frame).values;
    };
  });
}

function compileDelete(body: Tree.DeleteStmt, scope: Scope): Modification {
  return compileChange(
    { ...body, tables: body.usingClause },
    scope,
    (table) => (version, frame) => table.delete(version, frame),
  );
}

/** The common parts of an UPDATE and a DELETE. */
interface Change extends Pick<
  Tree.DeleteStmt,
  'withClause' | 'relation' | 'whereClause' | 'returningClause'
> {
  /** The other tables: the FROM of an UPDATE, the USING of a DELETE. */
  readonly tables: Tree.DeleteStmt['usingClause'];
}

type CompileChange = (
  table: Table,
  source: number,
  inner: Scope,
) => (version: Version, frame: Frame) => void;

/** Changes every row of the target that meets the conditions. */
function compileChange(body: Change, scope: Scope, compile: CompileChange): Modification {
  addCtes(body.withClause, scope);
  const inner = new Scope(scope.statement, scope);
  const [table, source] = addTarget(body.relation, inner);
  const from = compileFrom(body.tables, inner);
  from.steps.push({ walk: walkTable(source, table), sources: [source], table });
  const change = compile(table, source, inner);
  from.conditions.push(...conjuncts(body.whereClause, inner));
  const returning = compileReturning(body.returningClause, inner);
  const walk = from.walk(inner.own);
  return {
    columns: returning,
    run(frame) {
      const changed = new Count(returning);
      walk(frame, () => {
        const version = frame.versions[source];
        if (!version || isGone(version.deletedBy, frame)) return false;
        change(version, frame);
        changed.add(frame);
        return false;
      });
      return changed;
    },
  };
}

/** Whether to skip a row: this command has already changed it. */
function isGone(deletedBy: number, { command }: Frame): boolean {
  if (deletedBy !== Infinity && deletedBy !== command) {
    throw new NotModelled('a row that a function of the statement has changed');
  }
  return deletedBy === command;
}
