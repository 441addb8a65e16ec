/** FROM lists: tables, subqueries and functions, and their joins. */
import type * as Tree from 'libpg-query';
import { NotModelled, refusal } from './errors.ts';
import { all, condition } from './expressions.ts';
import { findLeast, findLookUps, type LookUp } from './look-ups.ts';
import { compare } from './operators.ts';
import type { Tuple } from './rows.ts';
import { Scope, settled, type Expr, type Frame, type Source, type Visible } from './scope.ts';
import type { Table } from './table.ts';
import { compileRows } from './table-functions.ts';
import { unwrapNode, getName, parts } from './tree.ts';
import type { Column } from './types.ts';

/** Iterates over rows: stores each in the frame, calls `next`, and stops when it returns true. */
export type Walk = (frame: Frame, next: () => boolean) => boolean;

/** A part of a FROM list, iterated for each row of the parts before it. */
interface Step {
  readonly walk: Walk;
  readonly sources: readonly number[];
  /** Present if it iterates over a table, whose rows its conditions may look up. */
  readonly table?: Table;
}

/** The steps of a FROM list, and the conditions of its rows. */
export class From {
  readonly steps: Step[] = [];
  readonly conditions: Expr[] = [];

  /** Iterates over the rows that meet all conditions, each checked as early as possible. */
  walk(own: ReadonlySet<number>): Walk {
    const bound = new Set<number>();
    let waiting = this.conditions;
    const ready = (): Expr[] => {
      const isReady = ({ uses }: Expr): boolean =>
        [...uses].every((source) => bound.has(source) || !own.has(source));
      const found = waiting.filter(isReady);
      waiting = waiting.filter((one) => !isReady(one));
      return found;
    };
    const first = ready();
    const steps = this.steps.map((step) => {
      for (const source of step.sources) bound.add(source);
      const conditions = ready();
      const [source] = step.sources;
      if (!step.table || source === undefined) return filtered(step.walk, conditions);
      const lookUps = findLookUps(conditions, source);
      return filtered(walkTable(source, step.table, lookUps), conditions);
    });
    if (waiting.length > 0) throw new NotModelled('a condition on tables that are not there');
    return filtered(sequence(steps), [], first);
  }
}

function filtered(walk: Walk, conditions: readonly Expr[], before: readonly Expr[] = []): Walk {
  const runs = conditions.map(({ run }) => run);
  const firsts = before.map(({ run }) => run);
  if (runs.length === 0 && firsts.length === 0) return walk;
  return (frame, next) => {
    for (const run of firsts) if (run(frame) !== true) return false;
    if (runs.length === 0) return walk(frame, next);
    return walk(frame, () => {
      for (const run of runs) if (run(frame) !== true) return false;
      return next();
    });
  };
}

function sequence(steps: readonly Walk[]): Walk {
  return steps.reduceRight<Walk>(
    (rest, step) => (frame, next) => step(frame, () => rest(frame, next)),
    (_frame, next) => next(),
  );
}

/** Adds the parts of a FROM list to a scope. */
export function compileFrom(nodes: readonly Tree.Node[] | undefined, scope: Scope): From {
  const from = new From();
  for (const node of nodes ?? []) scope.visible.push(...addItem(node, { scope, from }));
  return from;
}

interface Place {
  readonly scope: Scope;
  readonly from: From;
}

/** @returns the visible columns of the item. */
function addItem(node: Tree.Node, place: Place): Visible[] {
  const [kind, body] = parts(node);
  switch (kind) {
    case 'RangeVar':
      return addTable(body as Tree.RangeVar, place);
    case 'RangeSubselect':
      return addSubquery(body as Tree.RangeSubselect, place);
    case 'RangeFunction':
      return addFunction(body as Tree.RangeFunction, place);
    case 'JoinExpr':
      return addJoin(body as Tree.JoinExpr, place);
    default:
      throw new NotModelled(`${kind} in FROM`);
  }
}

interface Named {
  readonly alias: string;
  readonly columns: readonly Column[];
}

function addSource({ alias, columns }: Named, { scope, from }: Place, walk: (n: number) => Walk) {
  const number = scope.statement.source();
  const source: Source = { alias, number, columns };
  scope.add(source);
  from.steps.push({ walk: walk(number), sources: [number] });
  return columns.map(({ name, type }, place) => ({ name, type, source: number, place }));
}

function renamed(columns: readonly Column[], alias: Tree.Alias | undefined): Column[] {
  const names = (alias?.colnames ?? []).map(getName);
  return columns.map(({ name, type }, place) => ({ name: names[place] ?? name, type }));
}

function addTable({ relname = '', alias }: Tree.RangeVar, place: Place): Visible[] {
  const name = alias?.aliasname ?? relname;
  const cte = place.scope.cte(relname);
  if (cte) {
    for (const source of cte.uses) place.scope.noteUse(source);
    const named = { alias: name, columns: renamed(cte.columns, alias) };
    return addSource(named, place, (number) => walkTuples(number, cte.rows));
  }
  const table = findTable(relname, place.scope);
  const columns = renamed(table.columns, alias);
  const visible = addSource({ alias: name, columns }, place, (number) => walkTable(number, table));
  const { steps } = place.from;
  steps.push({ ...(steps.pop() ?? missing()), table });
  return visible;
}

/** @returns a table of the schema. */
export function findTable(name: string, scope: Scope): Table {
  const table = scope.statement.catalog.tables.get(name);
  if (!table) throw refusal('undefined_table', `relation "${name}" does not exist`);
  scope.statement.tables.add(table);
  return table;
}

/** Iterates over the rows that are visible to a command: all, or those that look-ups find. */
export function walkTable(number: number, { rows }: Table, lookUps: readonly LookUp[] = []): Walk {
  return (frame, next) => {
    const versions = findLeast(rows, lookUps, frame);
    const { command } = frame;
    const { length } = versions;
    for (let index = 0; index < length; index += 1) {
      const version = versions[index];
      if (!version || version.madeBy >= command || version.deletedBy < command) continue;
      frame.tuples[number] = version.values;
      frame.versions[number] = version;
      if (next()) return true;
    }
    return false;
  };
}

function walkTuples(number: number, rows: (frame: Frame) => readonly Tuple[]): Walk {
  return (frame, next) => {
    for (const tuple of rows(frame)) {
      frame.tuples[number] = tuple;
      if (next()) return true;
    }
    return false;
  };
}

function addSubquery({ subquery, alias, lateral }: Tree.RangeSubselect, place: Place): Visible[] {
  const { scope } = place;
  const around = lateral ? scope : new Scope(scope.statement, scope.parent);
  if (!lateral) for (const [name, cte] of scope.ctes) around.ctes.set(name, cte);
  const select = unwrapNode(subquery, 'SelectStmt');
  const query = scope.statement.compiler.query(select, around);
  for (const source of query.uses) scope.noteUse(source);
  const named = { alias: alias?.aliasname ?? '', columns: renamed(query.columns, alias) };
  const isUncorrelated = query.uses.size === 0;
  const kept = isUncorrelated ? scope.statement.keep() : -1;
  return addSource(named, place, (number) =>
    walkTuples(number, (frame) => {
      if (!isUncorrelated) return query.rows(frame);
      const known = frame.kept[kept] as readonly Tuple[] | undefined;
      if (known) return known;
      const rows = query.rows(frame);
      frame.kept[kept] = rows;
      return rows;
    }),
  );
}

function addFunction(body: Tree.RangeFunction, place: Place): Visible[] {
  const { scope } = place;
  const [item, ...others] = body.functions ?? [];
  if (others.length > 0) throw new NotModelled('ROWS FROM with several functions');
  const [callNode, definitions] = unwrapNode(item, 'List').items ?? [];
  const call = unwrapNode(callNode, 'FuncCall');
  const name = getName(call.funcname?.at(-1));
  const defined = definitions && 'List' in definitions ? definitions.List.items : body.coldeflist;
  const args = all(call.args, scope).map((arg) => settledUnlessParameter(scope, arg));
  const alias = body.alias?.aliasname ?? name;
  const { columns, rows } = compileRows(name, args, defined ?? []);
  const [only] = columns;
  // A function with one column names it after itself.
  const named = columns.length === 1 && only && !defined ? [{ ...only, name: alias }] : columns;
  const numbered = body.ordinality ? [...named, { name: 'ordinality', type: 'int8' }] : named;
  return addSource({ alias, columns: renamed(numbered, body.alias) }, place, (number) =>
    walkTuples(number, (frame) => {
      const tuples = rows(frame);
      return body.ordinality ? tuples.map((tuple, index) => [...tuple, index + 1]) : tuples;
    }),
  );
}

function settledUnlessParameter(scope: Scope, arg: Expr): Expr {
  return arg.parameter === undefined ? settled(scope, arg) : arg;
}

function addJoin(body: Tree.JoinExpr, place: Place): Visible[] {
  const { scope, from } = place;
  if (body.isNatural || body.alias) throw new NotModelled('NATURAL JOIN and aliases of joins');
  const left = addItem(body.larg ?? missing(), place);
  const inner = new From();
  const isLeft = body.jointype === 'JOIN_LEFT';
  if (!isLeft && body.jointype !== 'JOIN_INNER') throw new NotModelled(`${body.jointype}`);
  const rightPlace = { scope, from: isLeft ? inner : from };
  const before = scope.visible;
  // A lateral part on the right sees the left part.
  scope.visible = [...before, ...left];
  const right = addItem(body.rarg ?? missing(), rightPlace);
  const [shown, usings] = joined(body, [left, right], scope);
  scope.visible = [...before, ...left, ...right];
  const ons = body.quals ? [condition(body.quals, scope)] : [];
  scope.visible = before;
  rightPlace.from.conditions.push(...usings, ...ons);
  if (isLeft) from.steps.push(outer(inner, scope));
  return shown;
}

function missing(): never {
  throw new NotModelled('half a join');
}

/** The visible columns of a join, and the conditions of its USING. */
function joined(
  body: Tree.JoinExpr,
  [left, right]: readonly [Visible[], Visible[]],
  scope: Scope,
): readonly [Visible[], Expr[]] {
  const names = (body.usingClause ?? []).map(getName);
  const shared: Visible[] = [];
  const equals = names.map((name) => {
    const one = left.find((column) => column.name === name) ?? missing();
    const other = right.find((column) => column.name === name) ?? missing();
    shared.push(one);
    return compare('=', [reference(one, scope), reference(other, scope)], scope);
  });
  const others = (columns: Visible[]): Visible[] =>
    columns.filter(({ name }) => !names.includes(name));
  return [[...shared, ...others(left), ...others(right)], equals];
}

function reference(column: Visible, scope: Scope): Expr {
  return scope.reference(column, column.type);
}

/** A left join: if no right row meets the conditions, the left row gets NULLs for the right. */
function outer(inner: From, scope: Scope): Step {
  const sources = inner.steps.flatMap((step) => step.sources);
  const own = new Set(sources);
  // The left sources of the conditions are already set.
  const walk = inner.walk(own);
  const blanks = sources.map((number) => {
    const source = scope.sources.find((one) => one.number === number);
    return (source?.columns ?? []).map(() => null);
  });
  return {
    sources,
    walk(frame, next) {
      let isFound = false;
      const isOver = walk(frame, () => {
        isFound = true;
        return next();
      });
      if (isFound || isOver) return isOver;
      for (const [index, number] of sources.entries()) {
        frame.tuples[number] = blanks[index] ?? [];
        frame.versions[number] = null;
      }
      return next();
    },
  };
}
