/** Subqueries in expressions. */
import type * as Tree from 'libpg-query';
import { NotModelled } from './errors.ts';
import { compare } from './operators.ts';
import type { Tuple } from './rows.ts';
import { computed, type Expr, type Frame, type Query, type Run, type Scope } from './scope.ts';
import { unwrapNode } from './tree.ts';
import type { Value } from './types.ts';

/** A subquery: whether it has rows, its value, its rows as an array, or a comparison with them. */
export function compileSublink(body: Tree.SubLink, scope: Scope): Expr {
  const select = unwrapNode(body.subselect, 'SelectStmt');
  const query = scope.statement.compiler.query(select, scope);
  switch (body.subLinkType) {
    case 'EXISTS_SUBLINK':
      return once(query, scope, { type: 'bool', run: (frame) => query.exists(frame) });
    case 'EXPR_SUBLINK':
      return once(query, scope, { type: onlyType(query), run: (frame) => onlyValue(query, frame) });
    case 'ARRAY_SUBLINK':
      return once(query, scope, {
        type: `${onlyType(query)}[]`,
        run: (frame) => query.rows(frame).map(([value = null]) => value),
      });
    case 'ANY_SUBLINK':
      return compileAny(body, query, scope);
    default:
      throw new NotModelled(`a subquery of the kind ${body.subLinkType}`);
  }
}

function onlyType({ columns }: Query): string {
  const [only, ...others] = columns;
  if (!only || others.length > 0) throw new NotModelled('a value of several columns');
  return only.type;
}

function onlyValue(query: Query, frame: Frame): Value {
  const [first, ...others] = query.rows(frame);
  if (others.length > 0) throw new NotModelled('a value of several rows');
  return first?.[0] ?? null;
}

/** A subquery is executed once for the rows of the outer queries that it reads. */
function once(query: Query, scope: Scope, { type, run }: Pick<Expr, 'type' | 'run'>): Expr {
  return { type, uses: query.uses, run: kept(query.uses, scope, run) };
}

interface Kept {
  readonly tuples: readonly (Tuple | undefined)[];
  readonly value: Value;
}

function kept(uses: ReadonlySet<number>, scope: Scope, run: Run): Run {
  const sources = [...uses];
  const place = scope.statement.keep();
  return (frame) => {
    const known = frame.kept[place] as Kept | undefined;
    if (known && sources.every((source, n) => frame.tuples[source] === known.tuples[n])) {
      return known.value;
    }
    const tuples = sources.map((source) => frame.tuples[source]);
    const value = run(frame);
    frame.kept[place] = { tuples, value } satisfies Kept;
    return value;
  };
}

function compileAny(body: Tree.SubLink, query: Query, scope: Scope): Expr {
  if (body.operName) throw new NotModelled('any (…) with an operator');
  const left = scope.statement.compiler.expression(body.testexpr, scope);
  let current: Tuple = [];
  const fields = query.columns.map(({ type }, place) =>
    computed(type, [], () => current[place] ?? null),
  );
  const [only] = fields;
  const right =
    fields.length === 1 && only ? only : { ...computed('record', [], () => null), fields };
  const { run } = compare('=', [left, right], scope);
  const rows = once(query, scope, { type: 'record', run: (frame) => query.rows(frame) });
  return computed('bool', [left, rows], (frame) => {
    let result: Value = false;
    for (const tuple of rows.run(frame) as readonly Tuple[]) {
      current = tuple;
      const holds = run(frame);
      if (holds === true) return true;
      if (holds === null) result = null;
    }
    return result;
  });
}
