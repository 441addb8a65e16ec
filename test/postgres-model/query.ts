/** Queries of every form: WITH, VALUES, UNION and SELECT. */
import type * as Tree from 'libpg-query';
import { NotModelled } from './errors.ts';
import { all } from './expressions.ts';
import type { Tuple } from './rows.ts';
import {
  coerced,
  Scope,
  type Cte,
  type Expr,
  type Frame,
  type LooseQuery,
  type Query,
} from './scope.ts';
import { compileLimit, compileSelect } from './select.ts';
import { limited, compileOrder, sorted } from './sorting.ts';
import { unwrapNode } from './tree.ts';
import { type Column, commonType, convert, toKey, type Type } from './types.ts';

/** Compiles a query; all its columns have types. */
export function compileQuery(body: Tree.SelectStmt, outer: Scope): Query {
  const query = compileLoose(body, outer);
  query.retype(query.columns.map(({ type }) => (type === 'unknown' ? 'text' : type)));
  return query;
}

/** Compiles a query whose columns may have no type yet: the use of the query determines it. */
export function compileLoose(body: Tree.SelectStmt, outer: Scope): LooseQuery {
  const scope = new Scope(outer.statement, outer);
  addCtes(body.withClause, scope);
  if (body.valuesLists) return compileValues(body, scope);
  return body.op === 'SETOP_NONE' || body.op === undefined
    ? compileSelect(body, scope)
    : compileUnion(body, scope);
}

/** Adds the common table expressions of a WITH to a scope. */
export function addCtes(clause: Tree.WithClause | undefined, scope: Scope): void {
  if (clause?.recursive) throw new NotModelled('WITH RECURSIVE');
  for (const node of clause?.ctes ?? []) {
    const cte = unwrapNode(node, 'CommonTableExpr');
    if (cte.aliascolnames) throw new NotModelled('names of columns in WITH');
    scope.ctes.set(cte.ctename ?? '', compileCte(cte.ctequery, scope));
  }
}

/** Compiles a CTE, which runs once, at its first read; one that changes a table always runs. */
function compileCte(node: Tree.Node | undefined, scope: Scope): Cte {
  if (!node) throw new NotModelled('an empty WITH');
  const { statement } = scope;
  const place = statement.keep();
  const modification = statement.compiler.modification(node, scope);
  const query = modification ? null : compileQuery(unwrapNode(node, 'SelectStmt'), scope);
  const compute = (frame: Frame): readonly Tuple[] =>
    modification?.run(frame).rows ?? query?.rows(frame) ?? [];
  const isFixed = query === null || query.uses.size === 0;
  const rows = (frame: Frame): readonly Tuple[] => {
    if (!isFixed) return compute(frame);
    const known = frame.kept[place] as readonly Tuple[] | undefined;
    if (known) return known;
    const computed = compute(frame);
    frame.kept[place] = computed;
    return computed;
  };
  if (modification) statement.modifying.push((frame) => void rows(frame));
  const uses = query?.uses ?? new Set();
  return { columns: modification?.columns ?? query?.columns ?? [], uses, rows };
}

function compileValues({ valuesLists = [] }: Tree.SelectStmt, scope: Scope): LooseQuery {
  let lists = valuesLists.map((node) => all(unwrapNode(node, 'List').items, scope));
  const [first = []] = lists;
  const columns = first.map((_, place): { name: string; type: Type } => ({
    name: `column${place + 1}`,
    type: typeAt(lists, place),
  }));
  const retype = (types: readonly Type[]): void => {
    lists = lists.map((list) =>
      list.map((expr, place) => {
        const type = types[place];
        return type === undefined || type === 'unknown' ? expr : coerced(scope, expr, type);
      }),
    );
    for (const [place, column] of columns.entries()) column.type = types[place] ?? column.type;
  };
  retype(columns.map(({ type }) => type));
  const rows = (frame: Frame): readonly Tuple[] =>
    lists.map((list) => list.map(({ run }) => run(frame)));
  return { columns, uses: scope.free, retype, rows, exists: () => lists.length > 0 };
}

function typeAt(lists: readonly (readonly Expr[])[], place: number): Type {
  return lists.reduce((type, list) => commonType(type, list[place]?.type ?? 'unknown'), 'unknown');
}

/** UNION and UNION ALL. */
function compileUnion(body: Tree.SelectStmt, scope: Scope): LooseQuery {
  const { op, larg, rarg, all: keepsAll = false } = body;
  if (op !== 'SETOP_UNION' || !larg || !rarg) throw new NotModelled(`${op}`);
  const branches = [compileLoose(larg, scope), compileLoose(rarg, scope)] as const;
  const [left, right] = branches;
  const columns = left.columns.map(({ name, type }, place) => {
    const common = commonType(type, right.columns[place]?.type ?? 'unknown');
    return { name, type: common };
  });
  const retype = (types: readonly Type[]): void => {
    for (const branch of branches) retypeUnknown(branch, types);
    for (const [place, column] of columns.entries()) column.type = types[place] ?? column.type;
  };
  retype(columns.map(({ type }) => type));
  // The ORDER BY of a UNION may name only result columns.
  const source = scope.statement.source();
  scope.add({ alias: '', number: source, columns });
  scope.visible = columns.map((column, place) => ({ ...column, source, place }));
  const targets = columns.map(({ name, type }, place) => ({
    name,
    expr: scope.reference({ source, place }, type),
  }));
  const order = compileOrder(body.sortClause, scope, targets);
  const limit = compileLimit(body, scope);
  const rows = (frame: Frame): readonly Tuple[] => {
    const tuples = branches.flatMap((branch) => converted(branch, columns, frame));
    const kept = keepsAll ? tuples : onceEach(tuples, columns);
    const keyed = kept.map((tuple) => {
      frame.tuples[source] = tuple;
      return { tuple, keys: order.map(({ expr }) => expr.run(frame)) };
    });
    return limited(sorted(keyed, order), limit, frame).map(({ tuple }) => tuple);
  };
  return {
    columns,
    uses: scope.free,
    retype,
    rows,
    exists: (frame) => rows(frame).length > 0,
  };
}

function retypeUnknown(branch: LooseQuery, types: readonly Type[]): void {
  branch.retype(
    branch.columns.map(({ type }, place) => (type === 'unknown' ? (types[place] ?? type) : type)),
  );
}

function converted(branch: Query, columns: readonly Column[], frame: Frame): readonly Tuple[] {
  const rows = branch.rows(frame);
  const isSame = branch.columns.every(({ type }, place) => type === columns[place]?.type);
  if (isSame) return rows;
  return rows.map((tuple) =>
    tuple.map((value, place) =>
      convert(branch.columns[place]?.type ?? 'text', columns[place]?.type ?? 'text', value),
    ),
  );
}

function onceEach(tuples: readonly Tuple[], columns: readonly Column[]): readonly Tuple[] {
  const byKey = new Map<string, Tuple>();
  for (const tuple of tuples) {
    const key = tuple.map((value, place) => toKey(columns[place]?.type ?? 'text', value));
    if (!byKey.has(key.join('\0'))) byKey.set(key.join('\0'), tuple);
  }
  return [...byKey.values()];
}
