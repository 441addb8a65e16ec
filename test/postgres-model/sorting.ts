/** ORDER BY and LIMIT. */
import type * as Tree from 'libpg-query';
import { NotModelled } from './errors.ts';
import { compile } from './expressions.ts';
import { settled, type Expr, type Frame, type Scope } from './scope.ts';
import { unwrapNode, getName, parts } from './tree.ts';
import { comparison, type Value } from './types.ts';

export interface Order {
  readonly expr: Expr;
  readonly isDescending: boolean;
}

/** A row with its sort keys. */
export interface Keyed {
  readonly keys: readonly Value[];
}

interface Named {
  readonly name: string;
  readonly expr: Expr;
}

/** The sort order of a query. */
export function compileOrder(
  nodes: readonly Tree.Node[] | undefined,
  scope: Scope,
  targets: readonly Named[],
): Order[] {
  return (nodes ?? []).map((node) => {
    const { node: by, sortby_dir: direction, sortby_nulls: nulls } = unwrapNode(node, 'SortBy');
    if (nulls !== 'SORTBY_NULLS_DEFAULT') throw new NotModelled(`an order with ${nulls}`);
    const expr = settled(scope, named(by, targets) ?? compile(by, scope));
    return { expr, isDescending: direction === 'SORTBY_DESC' };
  });
}

/** A result column, by name. */
function named(node: Tree.Node | undefined, targets: readonly Named[]): Expr | null {
  const [kind, body] = parts(node);
  if (kind === 'A_Const') throw new NotModelled('an order by a constant');
  if (kind !== 'ColumnRef') return null;
  const [only, ...others] = (body as Tree.ColumnRef).fields ?? [];
  if (!only || others.length > 0) return null;
  const name = getName(only);
  return targets.find((target) => target.name === name)?.expr ?? null;
}

/** Sorts rows; the sort is stable. */
export function sorted<Row extends Keyed>(rows: readonly Row[], order: readonly Order[]): Row[] {
  if (order.length === 0 || rows.length < 2) return [...rows];
  const compares = order.map(({ expr, isDescending }) => {
    const compare = comparison(expr.type);
    const sign = isDescending ? -1 : 1;
    return (one: Value, other: Value): number => {
      if (one === null || other === null) {
        if (one === other) return 0;
        // NULLs are greater than values.
        return (one === null) === isDescending ? -1 : 1;
      }
      return compare(one, other) * sign;
    };
  });
  return rows.toSorted((one, other) => {
    for (const [place, compare] of compares.entries()) {
      const result = compare(one.keys[place], other.keys[place]);
      if (result !== 0) return result;
    }
    return 0;
  });
}

/** Applies LIMIT. */
export function limited<Row>(rows: readonly Row[], limit: Expr | null, frame: Frame): Row[] {
  const count = limit?.run(frame) ?? null;
  return rows.slice(0, count === null ? undefined : Number(count));
}
