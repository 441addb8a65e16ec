/** Canonical texts of expressions: the same for the source text and for the catalog's text. */
import type * as Tree from 'libpg-query';

/** The text of an expression: expressions of equivalent form have the same text. */
export function canonical(node: Tree.Node | undefined): string {
  return JSON.stringify(bare(node));
}

const places = new Set([
  'location',
  'list_start',
  'list_end',
  'rexpr_list_start',
  'rexpr_list_end',
]);

function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (value === null || typeof value !== 'object') return value;
  if ('TypeCast' in value) {
    // The catalog casts each literal to text.
    const { arg } = value.TypeCast as Tree.TypeCast;
    if (arg && ('A_Const' in arg || 'ColumnRef' in arg)) return bare(arg);
  }
  if ('ColumnRef' in value) {
    return { column: bare((value.ColumnRef as Tree.ColumnRef).fields?.at(-1)) };
  }
  if ('A_Expr' in value) {
    const { kind, lexpr, rexpr, name } = value.A_Expr as Tree.A_Expr;
    // `in (…)` is stored as `= any (array[…])`.
    const isList = kind === 'AEXPR_IN' && rexpr && 'List' in rexpr;
    const right = isList ? { A_ArrayExpr: { elements: rexpr.List.items } } : rexpr;
    return { operator: isList ? 'AEXPR_OP_ANY' : kind, name: bare(name), of: bare([lexpr, right]) };
  }
  const fields = Object.entries(value).filter(([key]) => !places.has(key));
  return Object.fromEntries(fields.map(([key, one]) => [key, bare(one)]));
}
