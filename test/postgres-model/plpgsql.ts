/** Functions in PL/pgSQL, the part of the language that the migrations use. */
import { parsePlPgSQLSync } from 'libpg-query';
import { NotModelled, refusal, sqlStates } from './errors.ts';
import { condition } from './expressions.ts';
import { compileQuery } from './query.ts';
import {
  Scope,
  Statement,
  type Compiler,
  type Frame,
  type Known,
  type OwnFunction,
} from './scope.ts';
import { unwrapNode, parseExpression, statementIn, parseStatement, compileType } from './tree.ts';
import type { Tuple } from './rows.ts';
import type { Column, Value } from './types.ts';

interface Text {
  readonly PLpgSQL_expr: { readonly query: string };
}

/** A step of a function's body; one member is present. */
interface Step {
  readonly PLpgSQL_stmt_execsql?: { readonly sqlstmt: Text };
  readonly PLpgSQL_stmt_if?: { readonly cond: Text; readonly then_body: readonly Step[] };
  readonly PLpgSQL_stmt_perform?: { readonly expr: Text };
  readonly PLpgSQL_stmt_return?: { readonly expr?: Text };
  readonly PLpgSQL_stmt_raise?: Raise;
}

interface Raise {
  readonly message: string;
  readonly options: readonly { readonly PLpgSQL_raise_option: { readonly expr: Text } }[];
}

interface Parsed {
  readonly plpgsql_funcs: readonly {
    readonly PLpgSQL_function: {
      readonly action: { readonly PLpgSQL_stmt_block: { readonly body: readonly Step[] } };
    };
  }[];
}

function parseSteps(text: string): readonly Step[] {
  const [first] = (parsePlPgSQLSync(text) as unknown as Parsed).plpgsql_funcs;
  return first?.PLpgSQL_function.action.PLpgSQL_stmt_block.body ?? [];
}

/** The error that a trigger's function raises; null: it does something else. */
export function raisedBy(text: string): (() => Error) | null {
  const [first, ...others] = parseSteps(text);
  const raised = first?.PLpgSQL_stmt_raise;
  if (!raised) return null;
  if (others.some((one) => !one.PLpgSQL_stmt_return)) {
    throw new NotModelled(`the trigger's function ${text}`);
  }
  return compileRaise(raised);
}

function compileRaise({ message, options }: Raise): () => Error {
  const [name = '', ...fields] = options.map((one) =>
    one.PLpgSQL_raise_option.expr.PLpgSQL_expr.query.slice(1, -1),
  );
  if (!isCondition(name)) throw new NotModelled(`the condition ${name}`);
  const [table, constraint] = fields;
  const of = {
    ...(table !== undefined && { table }),
    ...(constraint !== undefined && { constraint }),
  };
  return () => refusal(name, message, of);
}

function isCondition(name: string): name is keyof typeof sqlStates {
  return Object.hasOwn(sqlStates, name);
}

/** A function of the migrations that statements call; null for a trigger function. */
export function compileFunction(
  text: string,
  compiler: Compiler,
  catalog: Known,
): OwnFunction | null {
  const made = parseStatement(text, 'CreateFunctionStmt');
  const returns = compileType(made.returnType);
  if (returns === 'trigger') return null;
  if (returns !== 'void' && returns !== 'bool') {
    throw new NotModelled(`a function that returns ${returns}`);
  }
  const parameters = (made.parameters ?? []).map((node) => {
    const { name = '', argType } = unwrapNode(node, 'FunctionParameter');
    return { name, type: compileType(argType) };
  });
  const variables = [...parameters, { name: 'found', type: 'bool' }];
  let work: ReturnType<typeof compileBody> | null = null;
  return {
    takes: parameters.map(({ type }) => type),
    returns,
    run(session, values) {
      // Compiled at the first call: it may name objects that are created after the function.
      work ??= compileBody(parseSteps(text), variables, new Place(compiler, catalog));
      const returned = work(session, values);
      return returned ? returned.value : '';
    },
  };
}

/** The action of a trigger's function, for a row as it was (null: there was none) and as it is. */
export function doneBy(
  text: string,
  columns: readonly Column[],
  { compiler, catalog }: Pick<Place, 'compiler' | 'catalog'>,
): (session: Frame['session'], before: Tuple | null, after: Tuple) => void {
  const names = [{ name: 'found', type: 'bool' }];
  let work: ReturnType<typeof compileBody> | null = null;
  return (session, before, after) => {
    work ??= compileBody(parseSteps(text), names, new Place(compiler, catalog, columns));
    work(session, [], [before ?? [], after]);
  };
}

class Place {
  readonly compiler: Compiler;
  readonly catalog: Known;
  /** The columns of the rows of a trigger. */
  readonly columns: readonly Column[];

  constructor(compiler: Compiler, catalog: Known, columns: readonly Column[] = []) {
    this.compiler = compiler;
    this.catalog = catalog;
    this.columns = columns;
  }

  /** A scope with the variables of the function. */
  scope(variables: readonly { readonly name: string; readonly type: string }[]): Scope {
    const scope = new Scope(new Statement(this.compiler, this.catalog), null);
    const source = scope.statement.source();
    scope.add({ alias: '', number: source, columns: variables });
    scope.visible = variables.map((variable, place) => ({ ...variable, source, place }));
    const { columns } = this;
    for (const alias of columns.length > 0 ? ['old', 'new'] : []) {
      scope.add({ alias, number: scope.statement.source(), columns });
    }
    return scope;
  }
}

interface Variables {
  readonly values: readonly Value[];
  /** The row of a trigger before and after its change. */
  readonly rows: readonly Tuple[];
  isFound: boolean;
}

/** What a function has returned; null: it goes on. */
type Returned = { readonly value: Value } | null;

type Work = (session: Frame['session'], variables: Variables) => Returned;

type Names = readonly { readonly name: string; readonly type: string }[];

function compileBody(steps: readonly Step[], names: Names, place: Place) {
  const works = steps.map((step) => compileStep(step, names, place));
  return (
    session: Frame['session'],
    values: readonly Value[],
    rows: readonly Tuple[] = [],
  ): Returned => runInTurn(works, session, { values, rows, isFound: false });
}

function runInTurn(works: readonly Work[], ...call: Parameters<Work>): Returned {
  for (const work of works) {
    const returned = work(...call);
    if (returned) return returned;
  }
  return null;
}

/** Each statement of a function sees the changes of the statements before it. */
function makeFrame(session: Frame['session'], { values, rows, isFound }: Variables): Frame {
  const command = session.nextCommand();
  const tuples = [[...values, isFound], ...rows];
  return { session, command, parameters: [], tuples, versions: [], kept: [] };
}

function compileStep(step: Step, names: Names, place: Place): Work {
  const scope = place.scope(names);
  if (step.PLpgSQL_stmt_return) {
    const { expr } = step.PLpgSQL_stmt_return;
    // An AFTER trigger returns null, which has no effect.
    const text = expr?.PLpgSQL_expr.query ?? 'null';
    const { run } = place.compiler.expression(parseExpression(text), scope);
    return (session, variables) => ({ value: run(makeFrame(session, variables)) });
  }
  if (step.PLpgSQL_stmt_raise) {
    const raise = compileRaise(step.PLpgSQL_stmt_raise);
    return () => {
      throw raise();
    };
  }
  if (step.PLpgSQL_stmt_execsql) {
    const node = statementIn(step.PLpgSQL_stmt_execsql.sqlstmt.PLpgSQL_expr.query);
    const modification = scope.statement.compiler.modification(node, scope);
    if (!modification || scope.statement.modifying.length > 0) {
      throw new NotModelled('this statement in a function');
    }
    return (session, variables) => {
      variables.isFound = modification.run(makeFrame(session, variables)).count > 0;
      return null;
    };
  }
  if (step.PLpgSQL_stmt_perform) {
    const { query: text } = step.PLpgSQL_stmt_perform.expr.PLpgSQL_expr;
    const query = compileQuery(parseStatement(text, 'SelectStmt'), scope);
    return (session, variables) => {
      variables.isFound = query.rows(makeFrame(session, variables)).length > 0;
      return null;
    };
  }
  if (step.PLpgSQL_stmt_if) {
    const { cond, then_body: then } = step.PLpgSQL_stmt_if;
    const { run } = condition(parseExpression(cond.PLpgSQL_expr.query), scope);
    const works = then.map((one) => compileStep(one, names, place));
    return (session, variables) =>
      run(makeFrame(session, variables)) === true ? runInTurn(works, session, variables) : null;
  }
  throw new NotModelled(`a step ${Object.keys(step).join()} in a function`);
}
