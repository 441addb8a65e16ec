/**
 * What statements say of a table's columns, and the types of their rows, from `columns.ts`. In SQL
 * a column has its name of the database; in a row it has its name in TypeScript, by an alias, so
 * that the row itself is the result, and nothing copies it.
 */
import { columns, type OwnTypes } from './columns.ts';
import { toSnakeCase, type Value } from './statement.ts';

type Tables = typeof columns;

type Own<Name> = Name extends keyof OwnTypes ? OwnTypes[Name] : object;

type Null<Type> = Type extends `${string} null` ? null : never;

type Cell<Type, Column, Typed> =
  (Column extends keyof Typed ? Typed[Column] : Value<Type>) | Null<Type>;

/** A row of a table, as a statement returns it. */
export type TableRow<Name extends keyof Tables> = {
  readonly [Column in keyof Tables[Name]]: Cell<Tables[Name][Column], Column, Own<Name>>;
};

type Trimmed<Text> = Text extends `${' ' | '\n'}${infer Rest}` ? Trimmed<Rest> : Text;

/** The names in a list, which commas separate. */
type Listed<Text> = Text extends `${infer First},${infer Rest}`
  ? Trimmed<First> | Listed<Rest>
  : Trimmed<Text>;

type Names<List, Table> = Listed<List> & keyof Table;

/** Nothing can be a list with an unknown name. */
type Checked<List, Table> = [Exclude<Listed<List>, keyof Table>] extends [never]
  ? unknown
  : { readonly thereIsNoColumn: Exclude<Listed<List>, keyof Table> };

declare const rowOfColumns: unique symbol;

/** Some columns of a table. */
export interface Columns<Row, Types> {
  /**
   * @param table its alias, where the statement has several.
   * @returns them in a result: `t.id, t.end_to_end as "endToEnd"`.
   */
  select(table?: string): string;
  /** @returns them within a statement: `t.id, t.end_to_end`. */
  list(table?: string): string;
  /** Their types as those of parameters. */
  readonly types: Types;
  /** For the compiler only. */
  readonly [rowOfColumns]?: Row;
}

/** The type of a row that has some columns. */
export type RowOf<Some> = Some extends Columns<infer Row, unknown> ? Row : never;

/**
 * @param list their names in TypeScript, such as `id, endToEnd`; an unknown one does not compile.
 * @returns columns of a table.
 */
export function columnsOf<Name extends keyof Tables, const List extends string>(
  table: Name,
  list: List & Checked<List, Tables[Name]>,
): Columns<
  Pick<TableRow<Name>, Names<List, Tables[Name]>>,
  Pick<Tables[Name], Names<List, Tables[Name]>>
> {
  const names = list.split(',').map((name) => name.trim());
  const inSql = (alias?: string) => (name: string) =>
    `${alias === undefined ? '' : `${alias}.`}${toSnakeCase(name)}`;
  const typed: Readonly<Record<string, string>> = columns[table];
  return {
    select: (alias) =>
      names
        .map((name) => inSql(alias)(name) + (toSnakeCase(name) === name ? '' : ` as "${name}"`))
        .join(', '),
    list: (alias) => names.map(inSql(alias)).join(', '),
    types: Object.fromEntries(names.map((name) => [name, typed[name]])) as Pick<
      Tables[Name],
      Names<List, Tables[Name]>
    >,
  };
}
