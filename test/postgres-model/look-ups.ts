/** Look-ups of rows by the value of a column, in place of reading a whole table. */
import { isPlain } from './operators.ts';
import type { Rows, Version } from './rows.ts';
import type { Expr, Frame } from './scope.ts';
import type { Value } from './types.ts';

/** The rows that can meet a condition: those with one of some values in a column. */
export interface LookUp {
  readonly place: number;
  readonly values: (frame: Frame) => readonly Value[];
}

/** The look-ups that conditions allow; a list of values is used only without a single value. */
export function findLookUps(conditions: readonly Expr[], source: number): readonly LookUp[] {
  const byValue = conditions.flatMap(({ equal }) => {
    const [one, other] = equal ?? [];
    return [...lookUp(source, one, other, single), ...lookUp(source, other, one, single)];
  });
  if (byValue.length > 0) return byValue;
  return conditions.flatMap(({ among }) => {
    const [one, list] = among ?? [];
    return lookUp(source, one, list, several);
  });
}

type ValuesOf = (wanted: Expr) => LookUp['values'];

const single: ValuesOf =
  ({ run }) =>
  (frame) => {
    const value = run(frame);
    return value === null ? [] : [value];
  };

const several: ValuesOf =
  ({ run }) =>
  (frame) => {
    const values = run(frame) as readonly Value[] | null;
    return values?.filter((value) => value !== null) ?? [];
  };

function lookUp(
  source: number,
  column: Expr | undefined,
  ...[wanted, valuesOf]: [Expr | undefined, ValuesOf]
): LookUp[] {
  if (column?.column?.source !== source || !wanted || wanted.uses.has(source)) return [];
  return isPlain(column.type) ? [{ place: column.column.place, values: valuesOf(wanted) }] : [];
}

/** The fewest rows that contain all those that meet the conditions, in the order of the table. */
export function findLeast(
  rows: Rows,
  lookUps: readonly LookUp[],
  frame: Frame,
): readonly Version[] {
  let least = rows.versions;
  for (const { place, values } of lookUps) {
    if (least.length === 0) return least;
    const found = rows.having(place, values(frame));
    if (found.length < least.length) least = found;
  }
  return least;
}
