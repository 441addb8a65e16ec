/** Aggregates. */
import type * as Tree from 'libpg-query';
import { NotModelled } from './errors.ts';
import { normalJson } from './json.ts';
import { makeSum } from './operators.ts';
import { cast, settled, type Aggregate, type Expr, type Frame, type Scope } from './scope.ts';
import { getName } from './tree.ts';
import { comparison, toKey, toJson, toText, type Type, type Value } from './types.ts';

/** How an aggregate accumulates values; it skips NULLs by default. */
interface Kind {
  readonly returns: (type: Type) => Type;
  readonly begin: () => unknown;
  readonly add: (state: unknown, values: readonly Value[], types: readonly Type[]) => unknown;
  readonly end?: (state: unknown) => Value;
  readonly takesNulls?: true;
  /** The types to which its arguments are converted. */
  readonly takes?: readonly Type[];
}

const extreme = (sign: number): Kind => ({
  returns: (type) => type,
  begin: () => null,
  add: (state, [value], [type = 'text']) =>
    state === null || comparison(type)(value, state) * sign > 0 ? value : state,
});

const collect: Pick<Kind, 'begin' | 'takesNulls'> = { begin: () => null, takesNulls: true };

const kinds: Readonly<Record<string, Kind>> = {
  count: { returns: () => 'int8', begin: () => 0, add: (state) => (state as number) + 1 },
  min: extreme(-1),
  max: extreme(1),
  sum: {
    returns: (type) => (type === 'int4' ? 'int8' : type),
    begin: () => null,
    add: (state, [value], [type = 'int4']) =>
      state === null ? value : makeSum(type)(state, value),
  },
  array_agg: {
    ...collect,
    // An aggregate of arrays has the type of its arguments: a nested array is stored as one list.
    returns: (type) => (type.endsWith('[]') ? type : `${type}[]`),
    add: (state, [value], [type = 'text']) => [
      ...((state as Value[] | null) ?? []),
      ...(type.endsWith('[]') ? (value as Value[]) : [value]),
    ],
  },
  string_agg: {
    returns: () => 'text',
    takes: ['text', 'text'],
    begin: () => null,
    add: (state, [value, separator]) =>
      state === null ? value : `${state as string}${separator as string}${value as string}`,
  },
  jsonb_agg: {
    ...collect,
    returns: () => 'jsonb',
    add: (state, [value = null], [type = 'text']) => [
      ...((state as unknown[] | null) ?? []),
      toJson(type, value),
    ],
  },
  jsonb_object_agg: {
    ...collect,
    returns: () => 'jsonb',
    add: (state, [key = null, value = null], [keyType = 'text', type = 'text']) => ({
      ...(state as Record<string, unknown> | null),
      [toText(keyType, key)]: toJson(type, value),
    }),
    end: (state) => (state === null ? null : normalJson(state)),
  },
};

/** The compiler of its expressions. */
interface Expressions {
  all(nodes: readonly Tree.Node[] | undefined, scope: Scope): Expr[];
  condition(node: Tree.Node | undefined, scope: Scope): Expr;
}

/** The aggregates. */
export const aggregateNames: readonly string[] = Object.keys(kinds);

/** Whether a function is an aggregate. */
export function isAggregate(name: string): boolean {
  return Object.hasOwn(kinds, name);
}

/** Compiles an aggregate to an expression that reads its result for the current group. */
export function compileAggregate(
  body: Tree.FuncCall,
  scope: Scope,
  { all, condition }: Expressions,
): Expr {
  const name = getName(body.funcname?.at(-1));
  const kind = kinds[name];
  const { aggregates } = scope;
  if (!kind) throw new NotModelled(`the aggregate ${name}`);
  if (!aggregates) throw new NotModelled(`${name} at this place`);
  if (body.agg_order || body.over) throw new NotModelled(`${name} in an order or a window`);
  scope.aggregates = null;
  const args = all(body.args, scope).map((arg, place) => {
    const type = kind.takes?.[place];
    return type === undefined ? settled(scope, arg) : cast(scope, arg, type);
  });
  const filter = body.agg_filter ? condition(body.agg_filter, scope) : null;
  scope.aggregates = aggregates;
  const types = args.map(({ type }) => type);
  const type = kind.returns(types[0] ?? 'int8');
  aggregates.push(gathering(kind, args, { filter, isDistinct: body.agg_distinct === true }));
  return scope.reference({ source: scope.aggregateSource, place: aggregates.length - 1 }, type);
}

interface Choice {
  readonly filter: Expr | null;
  readonly isDistinct: boolean;
}

interface Gathered {
  state: unknown;
  readonly seen: Set<string>;
}

function gathering(kind: Kind, args: readonly Expr[], { filter, isDistinct }: Choice): Aggregate {
  const types = args.map(({ type }) => type);
  const add = (gathered: Gathered, frame: Frame): void => {
    if (filter && filter.run(frame) !== true) return;
    const values = args.map(({ run }) => run(frame));
    if (!kind.takesNulls && values.includes(null)) return;
    const key = isDistinct ? values.map((one, place) => toKey(types[place] ?? '', one)).join() : '';
    if (isDistinct && gathered.seen.has(key)) return;
    gathered.seen.add(key);
    gathered.state = kind.add(gathered.state, values, types);
  };
  return {
    begin: (): Gathered => ({ state: kind.begin(), seen: new Set() }),
    add(gathered, frame) {
      add(gathered as Gathered, frame);
      return gathered;
    },
    end(gathered) {
      const { state } = gathered as Gathered;
      return kind.end ? kind.end(state) : state;
    },
  };
}
