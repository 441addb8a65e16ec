/** Functions that return rows. */
import type * as Tree from 'libpg-query';
import { NotModelled, refusal } from './errors.ts';
import { jsonNull, normalJson } from './json.ts';
import type { Tuple } from './rows.ts';
import type { Expr, Frame } from './scope.ts';
import { unwrapNode, compileType } from './tree.ts';
import { type Column, getElement, fromText, toText, type Value } from './types.ts';

interface RowsOf {
  readonly columns: readonly Column[];
  readonly rows: (frame: Frame) => readonly Tuple[];
}

type Compile = (args: readonly Expr[], defined: readonly Tree.Node[]) => RowsOf;

const functions: Readonly<Record<string, Compile>> = {
  /** Returns the arrays as columns; shorter ones are filled with NULLs. */
  unnest: (args) => ({
    columns: args.map(({ type }) => ({ name: 'unnest', type: getElement(type) })),
    rows(frame) {
      const lists = args.map(({ run }) => (run(frame) ?? []) as readonly Value[]);
      // The fast path for a batch of one call: every array has one element.
      if (lists.every((list) => list.length === 1)) return [lists.map(([only = null]) => only)];
      const length = Math.max(...lists.map((list) => list.length));
      return Array.from({ length }, (_, place) => lists.map((list) => list[place] ?? null));
    },
  }),
  /** Only from date to date, by days: the step is not read. */
  generate_series: ([first, last]) => ({
    columns: [{ name: 'generate_series', type: 'date' }],
    rows: (frame) => daysBetween(first?.run(frame) ?? null, last?.run(frame) ?? null),
  }),
  jsonb_array_elements: ([list]) => ({
    columns: [{ name: 'value', type: 'jsonb' }],
    rows: (frame) => evaluateItems(list, frame).map((item) => [item === null ? jsonNull : item]),
  }),
  jsonb_array_elements_text: ([list]) => ({
    columns: [{ name: 'value', type: 'text' }],
    rows: (frame) => evaluateItems(list, frame).map((item) => [readTextItem(item)]),
  }),
  jsonb_to_recordset(args, defined) {
    const columns = defined.map((node) => {
      const { colname = '', typeName } = unwrapNode(node, 'ColumnDef');
      return { name: colname, type: compileType(typeName) };
    });
    return {
      columns,
      rows: (frame) =>
        evaluateItems(args[0], frame).map((item) => columns.map((column) => field(item, column))),
    };
  },
};

const dayMs = 24 * 60 * 60_000;

function daysBetween(first: Value, last: Value): Tuple[] {
  const days: Tuple[] = [];
  const untilMs = Date.parse(`${String(last)}T00:00:00Z`);
  for (let at = Date.parse(`${String(first)}T00:00:00Z`); at <= untilMs; at += dayMs) {
    days.push([new Date(at).toISOString().slice(0, 10)]);
  }
  return days;
}

function evaluateItems(list: Expr | undefined, frame: Frame): readonly unknown[] {
  const json = list?.run(frame) ?? null;
  if (json === null) return [];
  if (Array.isArray(json)) return json as unknown[];
  throw refusal('datatype_mismatch', 'cannot extract elements from a value that is not a list');
}

function readTextItem(item: unknown): string | null {
  if (item === null) return null;
  return typeof item === 'string' ? item : toText('jsonb', item);
}

function field(item: unknown, { name, type }: Column): Value {
  if (item === null || typeof item !== 'object' || !Object.hasOwn(item, name)) return null;
  const value = (item as Readonly<Record<string, unknown>>)[name];
  if (value === null || value === undefined) return null;
  return type === 'jsonb' ? normalJson(value) : fromText(type, readTextItem(value) ?? '');
}

/** The functions that return rows. */
export const tableFunctionNames: readonly string[] = Object.keys(functions);

/** Whether a function returns rows. */
export function isTableFunction(name: string): boolean {
  return Object.hasOwn(functions, name);
}

/** The rows that a function returns. */
export function compileRows(
  name: string,
  args: readonly Expr[],
  defined: readonly Tree.Node[],
): RowsOf {
  const compile = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (!compile) throw new NotModelled(`the function ${name} in FROM`);
  return compile(args, defined);
}
