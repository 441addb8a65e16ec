/** Assignments: the SET of UPDATE and of ON CONFLICT. */
import type * as Tree from 'libpg-query';
import { refusal } from './errors.ts';
import { compile } from './expressions.ts';
import type { Tuple } from './rows.ts';
import { coerced, type Expr, type Frame, type Run, type Scope } from './scope.ts';
import type { Table } from './table.ts';
import { unwrapNode } from './tree.ts';
import type { Value } from './types.ts';

/** The index of a column of a table. */
export function findPlace(table: Table, name: string): number {
  const place = table.columns.findIndex((column) => column.name === name);
  if (place !== -1) return place;
  throw refusal('undefined_column', `column "${name}" of relation "${table.name}" does not exist`);
}

/** Compiles assignments to a function from the current values of a row to the new ones. */
export function assigning(
  nodes: readonly Tree.Node[] | undefined,
  table: Table,
  scope: Scope,
): (before: Tuple, frame: Frame) => Tuple {
  const assigned = (nodes ?? []).map((node): readonly [number, Run, (value: Value) => Value] => {
    const { name = '', val } = unwrapNode(node, 'ResTarget');
    const place = findPlace(table, name);
    const column = table.columns[place];
    const expr: Expr = coerced(scope, compile(val, scope), column?.type ?? 'text');
    return [place, expr.run, column?.fit ?? ((value) => value)];
  });
  return (before, frame) => {
    const after = [...before];
    for (const [place, run, fit] of assigned) after[place] = fit(run(frame));
    return after;
  };
}
