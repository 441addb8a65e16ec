/** Names: resolves a column, a table or a parameter at a place in the text of a statement. */
import type * as Tree from 'libpg-query';
import { NotModelled, refusal } from './errors.ts';
import type { Tuple, Version } from './rows.ts';
import type { Session } from './session.ts';
import type { Table } from './table.ts';
import { convert, fromText, isNumber, type Column, type Type, type Value } from './types.ts';

/** One run of a statement. */
export interface Frame {
  readonly session: Session;
  /** The number of the running command, which sees the changes of earlier commands. */
  readonly command: number;
  readonly parameters: readonly Value[];
  /** The current tuple of each source, and its version. */
  readonly tuples: Tuple[];
  readonly versions: (Version | null)[];
  /** Values computed once in a run: common table expressions and uncorrelated subqueries. */
  readonly kept: unknown[];
}

export type Run = (frame: Frame) => Value;

/** An expression, compiled. */
export interface Expr {
  readonly type: Type;
  readonly run: Run;
  /** The sources that it reads. */
  readonly uses: ReadonlySet<number>;
  /** Present for a quoted literal or NULL, whose type depends on its context. */
  readonly literal?: string | null;
  /** Present for a parameter whose type depends on its context: its number, from 1. */
  readonly parameter?: number;
  /** Present for a row: its parts. */
  readonly fields?: readonly Expr[];
  /** Present if the expression is true only when these two are equal. */
  readonly equal?: readonly [Expr, Expr];
  /** Present if the expression is true only when the first is an element of the second. */
  readonly among?: readonly [Expr, Expr];
  /** Present if the expression is a column: its source and index. */
  readonly column?: Reference;
}

interface Reference {
  readonly source: number;
  readonly place: number;
}

/** A column that a statement can name without its table. */
export interface Visible extends Column {
  readonly source: number;
  readonly place: number;
}

/** A table expression in a FROM list, by its name. */
export interface Source {
  readonly alias: string;
  readonly number: number;
  readonly columns: readonly Column[];
}

/** A common table expression: the place of its rows, and their computation. */
export interface Cte {
  readonly columns: readonly Column[];
  /** The sources of outer queries that it reads. */
  readonly uses: ReadonlySet<number>;
  readonly rows: (frame: Frame) => readonly Tuple[];
}

/** An aggregate of a query. */
export interface Aggregate {
  readonly begin: () => unknown;
  readonly add: (state: unknown, frame: Frame) => unknown;
  readonly end: (state: unknown) => Value;
}

/** A query, compiled. */
export interface Query {
  readonly columns: readonly Column[];
  /** The sources of outer queries that it reads. */
  readonly uses: ReadonlySet<number>;
  rows(frame: Frame): readonly Tuple[];
  /** Whether the query returns a row. */
  exists(frame: Frame): boolean;
}

/** A query whose columns may still be converted to other types. */
export interface LooseQuery extends Query {
  /** Converts each column to the given type, if there is one. */
  retype(types: readonly Type[]): void;
}

/** A statement that changes a table, and the rows that it returns. */
export interface Modification {
  readonly columns: readonly Column[];
  run(frame: Frame): Changed;
}

/** The number of inserted, updated or deleted rows, and the returned rows. */
export interface Changed {
  readonly count: number;
  readonly rows: readonly Tuple[];
}

/** The interface between the parts of the compiler. */
export interface Compiler {
  expression(node: Tree.Node | undefined, scope: Scope): Expr;
  query(body: Tree.SelectStmt, scope: Scope): Query;
  /** Null: the node is not a statement that changes a table. */
  modification(node: Tree.Node, scope: Scope): Modification | null;
}

/** The state of a whole statement: counts of its sources and places, and its parameters' types. */
export class Statement {
  readonly parameters: (Type | undefined)[] = [];
  readonly compiler: Compiler;
  readonly catalog: Known;
  /** The parts that change tables, in the order of the text: all run, even those never read. */
  readonly modifying: ((frame: Frame) => void)[] = [];
  /** The tables that it names. */
  readonly tables = new Set<Table>();
  /** Whether it changes nothing, and its result depends on its parameters and tables alone. */
  isPureRead = true;
  sources = 0;
  kept = 0;

  constructor(compiler: Compiler, catalog: Known) {
    this.compiler = compiler;
    this.catalog = catalog;
  }

  source(): number {
    this.sources += 1;
    return this.sources - 1;
  }

  keep(): number {
    this.kept += 1;
    return this.kept - 1;
  }
}

/** The objects that a statement may name. */
export interface Known {
  readonly tables: ReadonlyMap<string, Table>;
  readonly functions: ReadonlyMap<string, OwnFunction>;
}

/** A function of the migrations. */
export interface OwnFunction {
  readonly takes: readonly Type[];
  readonly returns: Type;
  run(session: Session, values: readonly Value[]): Value;
}

export const noSources: ReadonlySet<number> = new Set();

export class Scope {
  readonly statement: Statement;
  readonly parent: Scope | null;
  readonly sources: Source[] = [];
  visible: Visible[] = [];
  readonly ctes = new Map<string, Cte>();
  /** The sources of outer scopes that are read in this scope. */
  readonly free = new Set<number>();
  /** Present where aggregates are allowed. */
  aggregates: Aggregate[] | null = null;
  /** The source of the aggregates' values. */
  aggregateSource = -1;

  constructor(statement: Statement, parent: Scope | null) {
    this.statement = statement;
    this.parent = parent;
  }

  add(source: Source): void {
    if (this.sources.some(({ alias }) => alias === source.alias)) {
      throw new NotModelled(`two tables with the name ${source.alias}`);
    }
    this.sources.push(source);
  }

  cte(name: string): Cte | null {
    return this.ctes.get(name) ?? this.parent?.cte(name) ?? null;
  }

  source(alias: string): Source {
    const found = this.sources.find((one) => one.alias === alias) ?? this.parent?.source(alias);
    if (!found) throw refusal('undefined_table', `missing FROM-clause entry for table "${alias}"`);
    return found;
  }

  column(name: string): Expr {
    const found = this.visible.filter((one) => one.name === name);
    if (found.length > 1) {
      throw refusal('ambiguous_column', `column reference "${name}" is ambiguous`);
    }
    const [only] = found;
    if (only) return this.reference(only, only.type);
    if (this.parent) return this.#through(this.parent.column(name));
    throw refusal('undefined_column', `column "${name}" does not exist`);
  }

  findColumn(alias: string, name: string): Expr {
    const source = this.source(alias);
    const place = source.columns.findIndex((one) => one.name === name);
    const type = source.columns[place]?.type;
    if (type === undefined) {
      throw refusal('undefined_column', `column ${alias}.${name} does not exist`);
    }
    return this.reference({ source: source.number, place }, type);
  }

  reference({ source, place }: Reference, type: Type): Expr {
    this.#note(source);
    return {
      type,
      uses: new Set([source]),
      column: { source, place },
      run: ({ tuples }) => tuples[source]?.[place] ?? null,
    };
  }

  /** The sources that were added in this scope. */
  get own(): ReadonlySet<number> {
    return new Set([...this.sources.map(({ number }) => number), this.aggregateSource]);
  }

  #through(found: Expr): Expr {
    for (const source of found.uses) this.free.add(source);
    return found;
  }

  #note(source: number): void {
    if (source === this.aggregateSource) return;
    if (this.sources.some(({ number }) => number === source)) return;
    this.free.add(source);
    this.parent?.noteUse(source);
  }

  /** Notes that an inner scope reads a source. */
  noteUse(source: number): void {
    this.#note(source);
  }
}

/** An expression that is computed from others. */
export function computed(type: Type, parts: readonly Expr[], run: Run): Expr {
  return { type, run, uses: collectUses(parts) };
}

/** The sources that some expressions read. */
export function collectUses(parts: readonly Expr[]): ReadonlySet<number> {
  const [first] = parts;
  if (first && parts.length === 1) return first.uses;
  return new Set(parts.flatMap(({ uses }) => [...uses]));
}

/** A constant value. */
export function constant(type: Type, value: Value): Expr {
  return { type, uses: noSources, run: () => value };
}

/** An expression converted to a type, where PostgreSQL converts it implicitly. */
export function coerced(scope: Scope, expr: Expr, type: Type): Expr {
  const isKnown = expr.type !== 'unknown' && expr.type !== type;
  if (isKnown && (!isNumber(expr.type) || !isNumber(type))) {
    throw refusal('datatype_mismatch', `a value of ${expr.type} is not a ${type}`);
  }
  return cast(scope, expr, type);
}

/** An expression cast to a type. */
export function cast(scope: Scope, expr: Expr, type: Type): Expr {
  const { type: from, run, literal, parameter } = expr;
  if (from === type) return expr;
  if (literal !== undefined) {
    return constant(type, literal === null ? null : fromText(type, literal));
  }
  if (parameter !== undefined) {
    const known = scope.statement.parameters[parameter - 1];
    if (known === undefined) scope.statement.parameters[parameter - 1] = type;
    const parameterType = known ?? type;
    const plain = makeParameter(parameter, parameterType);
    return parameterType === type ? plain : cast(scope, plain, type);
  }
  return computed(type, [expr], (frame) => convert(from, type, run(frame)));
}

/** A parameter whose type is known. */
export function makeParameter(number: number, type: Type): Expr {
  const place = number - 1;
  return { type, uses: noSources, run: ({ parameters }) => parameters[place] ?? null };
}

/** Converts an expression without a type to the type `text`. */
export function settled(scope: Scope, expr: Expr): Expr {
  return expr.type === 'unknown' ? cast(scope, expr, 'text') : expr;
}
