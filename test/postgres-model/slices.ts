/** Slices of arrays: `array[from:to]`, both inclusive, from 1. */
import type * as Tree from 'libpg-query';
import { NotModelled } from './errors.ts';
import { cast, computed, type Expr, type Scope } from './scope.ts';
import { unwrapNode } from './tree.ts';

/** Compiles a slice with both bounds; other indirections are not modelled. */
export function compileSlice(
  { arg, indirection = [] }: Tree.A_Indirection,
  scope: Scope,
  compile: (node: Tree.Node | undefined, scope: Scope) => Expr,
): Expr {
  const [first, ...others] = indirection;
  const { is_slice: isSlice, lidx, uidx } = unwrapNode(first, 'A_Indices');
  if (!isSlice || !lidx || !uidx || others.length > 0) throw new NotModelled('an array element');
  const array = compile(arg, scope);
  const runs = [array, ...[lidx, uidx].map((bound) => cast(scope, compile(bound, scope), 'int4'))];
  return computed(array.type, runs, (frame) => {
    const [items, from, to] = runs.map(({ run }) => run(frame));
    if (!Array.isArray(items) || from === null || to === null) return null;
    return items.slice(Math.max(0, Number(from) - 1), Math.max(0, Number(to)));
  });
}
