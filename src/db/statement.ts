/**
 * Statements: SQL whose parameters have names and types. The names become `$1`, `$2`, … once, when
 * the statement is declared; a call passes an object, and a name that is missing or unknown does
 * not compile.
 */
import type { Batching, Prepared } from './batcher.ts';

/** The SQL types of parameters, and the values that they take. */
interface SqlValues {
  readonly uuid: string;
  readonly text: string;
  readonly int: number;
  /** The driver reads a 64-bit integer as text. */
  readonly bigint: string;
  /** A decimal. */
  readonly numeric: string;
  readonly boolean: boolean;
  readonly timestamptz: Date;
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly bytea: Buffer;
  /** JSON as text. */
  readonly jsonb: string;
}

type SqlType = keyof SqlValues;
type Nullable<Type extends string> = Type | `${Type} null`;

/** The type of a parameter as a column of a table declares it, such as `uuid` or `text null`. */
export type ParameterType = Nullable<SqlType | `${SqlType}[]`>;

/** The value of an SQL type. */
export type Value<Type> = Type extends `${infer Some extends ParameterType} null`
  ? Value<Some> | null
  : Type extends `${infer Element extends SqlType}[]`
    ? readonly SqlValues[Element][]
    : Type extends SqlType
      ? SqlValues[Type]
      : never;

type Declared<Type extends string> = Readonly<Record<string, Type>>;
type Values<Parameters> = { readonly [Name in keyof Parameters]: Value<Parameters[Name]> };

declare const rowOfText: unique symbol;
declare const callOfStatement: unique symbol;

/** The text of a statement whose rows are known. */
export type Sql<Row> = string & { readonly [rowOfText]?: Row };

/** Writes SQL, and names the type of its rows. */
export function sql<Row = unknown>(
  texts: TemplateStringsArray,
  ...fragments: readonly (string | number)[]
): Sql<Row> {
  return String.raw({ raw: texts }, ...fragments);
}

/** An SQL condition: the column has one of these values. */
export function isOneOf(column: string, words: readonly string[]): string {
  return `${column} in (${words.map((word) => `'${word}'`).join(', ')})`;
}

/** One SQL statement. */
export interface Statement<Row = unknown, Parameters = never> extends Prepared {
  /** The names of `$1`, `$2`, …; without them the parameters are an array. */
  readonly names?: readonly string[];
  /** Present if the statement takes arrays: its concurrent calls then share a round trip. */
  readonly batching?: Batching;
  /** The same statement for one call of a batched one: its parameters are no arrays. */
  readonly alone?: Prepared;
  /**
   * Runs on connections whose planner uses indexes only. For frequent statements that find a few
   * rows by an index, and that would otherwise be planned for an empty table.
   */
  readonly indexed?: true;
  /** For the compiler only. */
  readonly [callOfStatement]?: (parameters: Parameters) => Row;
}

interface Declaration<Parameters, Row> {
  readonly name: string;
  /** Their types by their names. */
  readonly parameters: Parameters;
  /** Returns the SQL; its argument has each parameter by its name, with its type. */
  readonly text: (parameters: { readonly [Name in keyof Parameters]: string }) => Sql<Row>;
  readonly indexed?: true;
}

/** Declares a statement that runs by itself. */
export function statement<Row, const Parameters extends Declared<ParameterType>>({
  name,
  parameters,
  text,
  indexed,
}: Declaration<Parameters, Row>): Statement<Row, Values<Parameters>> {
  const types = Object.entries<ParameterType>(parameters);
  const places = types.map(([parameter, type], index) => {
    return [parameter, `$${index + 1}::${withoutNull(type)}`] as const;
  });
  return {
    name,
    text: text(Object.fromEntries(places) as { readonly [Name in keyof Parameters]: string }),
    names: types.map(([parameter]) => parameter),
    ...(indexed && { indexed }),
  };
}

interface BatchedDeclaration<Parameters, Row> {
  readonly name: string;
  /** Their types by their names. */
  readonly parameters: Parameters;
  readonly batching: Batching<keyof Parameters & string>;
  /**
   * Returns the SQL. Its argument is the table expression `requested`: it has a row for each call,
   * with a column for each parameter, whose name is in snake case, and the call's `ordinal`, which
   * each row of the result must have.
   */
  readonly text: (requested: string) => Sql<Row>;
}

/**
 * Declares a statement whose concurrent calls share a round trip (`batcher.ts`). A call that has
 * the round trip to itself runs a second form of it, in which the row of the call is a constant:
 * PostgreSQL takes half the CPU for that one.
 */
export function batchedStatement<Row, const Parameters extends Declared<Nullable<SqlType>>>({
  name,
  parameters,
  batching,
  text,
}: BatchedDeclaration<Parameters, Row>): Statement<Row, Values<Parameters>> {
  const types = Object.entries<ParameterType>(parameters);
  const places = types.map(([, type], index) => `$${index + 1}::${withoutNull(type)}`);
  const columns = types.map(([parameter]) => toSnakeCase(parameter));
  const arrays = places.map((place) => `${place}[]`).join(', ');
  const constants = places.map((place, index) => `${place} as ${columns[index]}`).join(', ');
  return {
    name,
    text: text(
      `unnest(${arrays}) with ordinality as requested (${[...columns, 'ordinal'].join(', ')})`,
    ),
    names: types.map(([parameter]) => parameter),
    batching,
    alone: {
      name: name + alone,
      text: text(`(select ${constants}, 1::bigint as ordinal) as requested`),
    },
  };
}

/**
 * @param parameters by their names; an array has the values in their order already.
 * @returns the values of `$1`, `$2`, … for a call.
 */
export function bind({ names = [] }: Pick<Statement, 'names'>, parameters: unknown): unknown[] {
  if (Array.isArray(parameters)) return [...(parameters as readonly unknown[])];
  return names.map((name) => (parameters as Readonly<Record<string, unknown>>)[name]);
}

/** The end of the name of a form for one call. */
const alone = '-alone';

/** @returns the name of a statement, without that of its form. */
export function baseName(name: string): string {
  return name.endsWith(alone) ? name.slice(0, -alone.length) : name;
}

function withoutNull(type: ParameterType): string {
  return type.replace(/ null$/, '');
}

/** @returns the name of a column or of a parameter in SQL: `endToEnd` is `end_to_end`. */
export function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]|\d+/g, (part) => `_${part.toLowerCase()}`);
}
