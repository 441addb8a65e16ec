/** SELECT without set operations: from the FROM list to the rows, in their order. */
import type * as Tree from 'libpg-query';
import { NotModelled } from './errors.ts';
import { all, compile, condition } from './expressions.ts';
import { compileFrom, type From, type Walk } from './from.ts';
import type { Tuple, Version } from './rows.ts';
import {
  coerced,
  constant,
  settled,
  type Aggregate,
  type Expr,
  type Frame,
  type LooseQuery,
  type Scope,
} from './scope.ts';
import { limited, compileOrder, sorted, type Keyed, type Order } from './sorting.ts';
import { isTableFunction } from './table-functions.ts';
import { unwrapNode, getName, parts } from './tree.ts';
import { type Column, toKey, type Type } from './types.ts';

/** A result row: its values, its sort keys, and the rows that it was read from. */
interface Found extends Keyed {
  readonly tuple: Tuple;
  readonly versions: readonly (Version | null)[];
}

/** A result column. */
export interface Target extends Column {
  expr: Expr;
  type: Type;
}

/** A query over a FROM list. The scope is empty, except for the names of WITH. */
export function compileSelect(body: Tree.SelectStmt, scope: Scope): LooseQuery {
  const { fromClause, targetList } = withoutSetFunctions(body);
  const from = compileFrom(fromClause, scope);
  const aggregates: Aggregate[] = [];
  scope.aggregates = aggregates;
  scope.aggregateSource = scope.statement.source();
  const targets = compileTargets(targetList, scope);
  const order = compileOrder(body.sortClause, scope, targets);
  const having = body.havingClause ? condition(body.havingClause, scope) : null;
  scope.aggregates = null;
  from.conditions.push(...conjuncts(body.whereClause, scope));
  const groups = (body.groupClause ?? []).map((node) => compileGroup(node, scope, targets));
  const isGrouped = groups.length > 0 || aggregates.length > 0 || having !== null;
  const plan: Plan = {
    scope,
    from,
    targets,
    order,
    groups,
    having,
    aggregates,
    walk: from.walk(scope.own),
    distinct: removeDuplicates(body.distinctClause, scope, targets),
    locked: lockedBy(body.lockingClause, scope),
    limit: compileLimit(body, scope),
  };
  const isPlain = !isGrouped && plan.distinct === null && plan.locked.length === 0 && !plan.limit;
  return {
    columns: targets,
    uses: scope.free,
    retype(types) {
      for (const [place, target] of targets.entries()) {
        const type = types[place];
        if (type === undefined) continue;
        target.expr = coerced(scope, target.expr, type);
        target.type = type;
      }
    },
    rows(frame) {
      if (isPlain && order.length === 0) return collectTuples(plan, frame);
      return finished(plan, frame, isGrouped ? grouped(plan, frame) : each(plan, frame));
    },
    exists(frame) {
      return isPlain ? plan.walk(frame, () => true) : this.rows(frame).length > 0;
    },
  };
}

/** Moves a function that returns rows to FROM, when it is the only selected expression. */
function withoutSetFunctions(
  body: Tree.SelectStmt,
): Pick<Tree.SelectStmt, 'fromClause' | 'targetList'> {
  const { fromClause = [], targetList = [] } = body;
  const [only] = targetList;
  const val = only && 'ResTarget' in only ? only.ResTarget.val : undefined;
  const isSet = val && 'FuncCall' in val && isTableFunction(getName(val.FuncCall.funcname?.at(-1)));
  if (!isSet || targetList.length > 1) return { fromClause, targetList };
  const functions = [{ List: { items: [val] } }];
  const alias = { aliasname: 'given', colnames: [{ String: { sval: 'given' } }] };
  const column: Tree.Node = {
    ResTarget: {
      name: defaultName(val),
      val: {
        ColumnRef: { fields: [{ String: { sval: 'given' } }, { String: { sval: 'given' } }] },
      },
    },
  };
  const item: Tree.Node = { RangeFunction: { lateral: true, functions, alias } };
  return { fromClause: [...fromClause, item], targetList: [column] };
}

interface Plan {
  readonly scope: Scope;
  readonly from: From;
  readonly walk: Walk;
  readonly targets: readonly Target[];
  readonly order: readonly Order[];
  readonly groups: readonly Expr[];
  readonly having: Expr | null;
  readonly aggregates: readonly Aggregate[];
  /** Null: all rows; empty: the whole rows are compared. */
  readonly distinct: readonly Expr[] | null;
  /** The sources whose rows are locked. */
  readonly locked: readonly number[];
  readonly limit: Expr | null;
}

/** The columns of a list of expressions; a star means all. */
export function compileTargets(nodes: readonly Tree.Node[] | undefined, scope: Scope): Target[] {
  return (nodes ?? []).flatMap((node) => {
    const { val, name } = unwrapNode(node, 'ResTarget');
    const starred = expandStar(val, scope);
    if (starred) return starred;
    const expr = compile(val, scope);
    return [{ name: name ?? defaultName(val), expr, type: expr.type }];
  });
}

function expandStar(node: Tree.Node | undefined, scope: Scope): Target[] | null {
  const [kind, body] = parts(node);
  if (kind !== 'ColumnRef') return null;
  const fields = (body as Tree.ColumnRef).fields ?? [];
  const [last] = parts(fields.at(-1));
  if (last !== 'A_Star') return null;
  const [first] = fields;
  if (fields.length === 1 || !first) {
    return scope.visible.map((column) => shownAs(column, scope.reference(column, column.type)));
  }
  const alias = getName(first);
  return scope
    .source(alias)
    .columns.map((column) => shownAs(column, scope.findColumn(alias, column.name)));
}

function shownAs({ name, type }: Column, expr: Expr): Target {
  return { name, type, expr };
}

/** PostgreSQL's default name of a column. */
function defaultName(node: Tree.Node | undefined): string {
  const [kind, body] = parts(node);
  if (kind === 'ColumnRef') return getName((body as Tree.ColumnRef).fields?.at(-1));
  if (kind === 'FuncCall') return getName((body as Tree.FuncCall).funcname?.at(-1));
  if (kind === 'TypeCast') {
    const inner = defaultName((body as Tree.TypeCast).arg);
    return inner === '?column?' ? getName((body as Tree.TypeCast).typeName?.names?.at(-1)) : inner;
  }
  if (kind === 'SubLink') return nameOfSublink(body as Tree.SubLink);
  return { CoalesceExpr: 'coalesce', CaseExpr: 'case' }[kind] ?? '?column?';
}

function nameOfSublink({ subLinkType, subselect }: Tree.SubLink): string {
  if (subLinkType === 'EXISTS_SUBLINK') return 'exists';
  if (subLinkType === 'ARRAY_SUBLINK') return 'array';
  const select = unwrapNode(subselect, 'SelectStmt');
  const { name, val } = unwrapNode(select.targetList?.[0], 'ResTarget');
  return name ?? defaultName(val);
}

/** The conjuncts of a condition. */
export function conjuncts(node: Tree.Node | undefined, scope: Scope): Expr[] {
  if (!node) return [];
  const [kind, body] = parts(node);
  if (kind === 'BoolExpr' && (body as Tree.BoolExpr).boolop === 'AND_EXPR') {
    return ((body as Tree.BoolExpr).args ?? []).flatMap((arg) => conjuncts(arg, scope));
  }
  return [condition(node, scope)];
}

/** Resolves a GROUP BY item: a place, an input column, or the name of a result column. */
function compileGroup(node: Tree.Node, scope: Scope, targets: readonly Target[]): Expr {
  const [kind, body] = parts(node);
  if (kind === 'A_Const') {
    const place = (body as Tree.A_Const).ival?.ival ?? 0;
    return settled(scope, targets[place - 1]?.expr ?? constant('text', null));
  }
  return compile(node, scope);
}

function removeDuplicates(
  nodes: readonly Tree.Node[] | undefined,
  scope: Scope,
  targets: readonly Target[],
): readonly Expr[] | null {
  if (!nodes) return null;
  // The parser represents DISTINCT without ON as one empty node.
  const named = nodes.filter((node) => Object.keys(node).length > 0);
  return named.length > 0 ? all(named, scope) : targets.map(({ expr }) => expr);
}

function lockedBy(nodes: readonly Tree.Node[] | undefined, scope: Scope): number[] {
  return (nodes ?? []).flatMap((node) => {
    const { lockedRels } = unwrapNode(node, 'LockingClause');
    const names = lockedRels?.map((one) => unwrapNode(one, 'RangeVar').relname ?? '');
    return scope.sources
      .filter(({ alias }) => names?.includes(alias) ?? true)
      .map(({ number }) => number);
  });
}

/** The number of rows of a limit. */
export function compileLimit(body: Tree.SelectStmt, scope: Scope): Expr | null {
  const { limitCount, limitOffset } = body;
  if (limitOffset) throw new NotModelled('OFFSET');
  return limitCount ? coerced(scope, compile(limitCount, scope), 'int8') : null;
}

function shownTuple({ targets }: Plan, frame: Frame): Tuple {
  const tuple = Array<unknown>(targets.length);
  for (let place = 0; place < targets.length; place += 1) {
    tuple[place] = targets[place]?.expr.run(frame) ?? null;
  }
  return tuple;
}

/** The rows of a query that neither groups, sorts nor limits them. */
function collectTuples(plan: Plan, frame: Frame): Tuple[] {
  const tuples: Tuple[] = [];
  plan.walk(frame, () => {
    tuples.push(shownTuple(plan, frame));
    return false;
  });
  return tuples;
}

function show(plan: Plan, frame: Frame): Found {
  const { order, locked } = plan;
  return {
    tuple: shownTuple(plan, frame),
    keys: order.map(({ expr }) => expr.run(frame)),
    versions: locked.map((source) => frame.versions[source] ?? null),
  };
}

function each(plan: Plan, frame: Frame): Found[] {
  const found: Found[] = [];
  const isUnordered = plan.order.length === 0 && !plan.distinct && plan.locked.length === 0;
  const most = isUnordered && plan.limit ? Number(plan.limit.run(frame)) : Infinity;
  if (most === 0) return found;
  plan.walk(frame, () => found.push(show(plan, frame)) >= most);
  return found;
}

interface Group {
  readonly states: unknown[];
  /** The tuples of its first row, from which the grouping columns are read. */
  readonly tuples: readonly (readonly [number, Tuple])[];
}

function grouped(plan: Plan, frame: Frame): Found[] {
  const { scope, aggregates, groups, having } = plan;
  const own = scope.sources.map(({ number }) => number);
  const byKey = new Map<string, Group>();
  const begin = (tupleOf: (source: number) => Tuple): Group => ({
    states: aggregates.map((aggregate) => aggregate.begin()),
    tuples: own.map((source) => [source, tupleOf(source)] as const),
  });
  plan.walk(frame, () => {
    const key = groups.map(({ type, run }) => toKey(type, run(frame))).join('\0');
    let group = byKey.get(key);
    if (!group) {
      group = begin((source) => frame.tuples[source] ?? []);
      byKey.set(key, group);
    }
    for (const [place, aggregate] of aggregates.entries()) {
      group.states[place] = aggregate.add(group.states[place], frame);
    }
    return false;
  });
  if (groups.length === 0 && byKey.size === 0)
    byKey.set(
      '',
      begin(() => []),
    );
  const found: Found[] = [];
  for (const { states, tuples } of byKey.values()) {
    for (const [source, tuple] of tuples) frame.tuples[source] = tuple;
    frame.tuples[scope.aggregateSource] = aggregates.map((one, place) => one.end(states[place]));
    if (having === null || having.run(frame) === true) found.push(show(plan, frame));
  }
  return found;
}

/** Applies DISTINCT, ORDER BY, LIMIT and locks. */
function finished(plan: Plan, frame: Frame, found: readonly Found[]): readonly Tuple[] {
  const { distinct, order, locked } = plan;
  let rows = sorted(found, order);
  if (distinct) rows = withoutRepeats(plan, rows);
  if (locked.length > 0) {
    // Skip a row that this statement has already changed: it cannot be locked.
    rows = rows.filter(({ versions }) =>
      versions.every((version) => version === null || version.deletedBy === Infinity),
    );
  }
  return limited(rows, plan.limit, frame).map(({ tuple }) => tuple);
}

function withoutRepeats({ distinct, order, targets }: Plan, rows: readonly Found[]): Found[] {
  const seen = new Set<string>();
  const keyOfRow = ({ tuple, keys }: Found): string =>
    (distinct ?? [])
      .map((expr) => {
        const place = targets.findIndex((one) => one.expr === expr);
        // The expressions of DISTINCT ON come first in the ORDER BY.
        const isTarget = place !== -1;
        const value = isTarget ? tuple[place] : keys[(distinct ?? []).indexOf(expr)];
        return toKey(expr.type, value ?? null);
      })
      .join('\0');
  if (
    (distinct ?? []).some((one) => !targets.some(({ expr }) => expr === one)) &&
    order.length === 0
  ) {
    throw new NotModelled('DISTINCT ON without an order');
  }
  return rows.filter((row) => {
    const key = keyOfRow(row);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
