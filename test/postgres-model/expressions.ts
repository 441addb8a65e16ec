/** Expressions: compiles the parser's tree to functions that compute values. */
import type * as Tree from 'libpg-query';
import { isAggregate, compileAggregate } from './aggregates.ts';
import { NotModelled } from './errors.ts';
import { call } from './functions.ts';
import { compare, equality, isIn, not, operate } from './operators.ts';
import {
  cast,
  coerced,
  computed,
  constant,
  makeParameter,
  type Expr,
  type Run,
  type Scope,
} from './scope.ts';
import { compileSlice } from './slices.ts';
import { compileSublink } from './sublinks.ts';
import { getName, parts, compileType } from './tree.ts';
import { commonType, comparison, getElement, type Type, type Value } from './types.ts';

type Compile<Body> = (body: Body, scope: Scope) => Expr;

/** The supported kinds of expressions. */
const kinds: Readonly<Record<string, Compile<never>>> = {
  A_Const: compileConstant,
  A_Expr: compileOperation,
  A_Indirection: (body: Tree.A_Indirection, scope: Scope) => compileSlice(body, scope, compile),
  A_ArrayExpr: compileArray,
  BoolExpr: compileLogic,
  BooleanTest: compileBooleanTest,
  CaseExpr: compileCase,
  CoalesceExpr: ({ args }: Tree.CoalesceExpr, scope: Scope) => firstKnown(all(args, scope), scope),
  ColumnRef: compileColumn,
  FuncCall: compileCall,
  List: ({ items }: Tree.List, scope: Scope) => makeRow(all(items, scope)),
  MinMaxExpr: compileMinMax,
  NullTest: compileNullTest,
  ParamRef: compileParameter,
  RowExpr: ({ args }: Tree.RowExpr, scope: Scope) => makeRow(all(args, scope)),
  SubLink: compileSublink,
  TypeCast: compileCast,
};

/** Compiles an expression. */
export function compile(node: Tree.Node | undefined, scope: Scope): Expr {
  const [kind, body] = parts(node);
  const compileKind = kinds[kind];
  if (!compileKind) throw new NotModelled(kind);
  return compileKind(body as never, scope);
}

/** Compiles several expressions. */
export function all(nodes: readonly Tree.Node[] | undefined, scope: Scope): Expr[] {
  return (nodes ?? []).map((node) => compile(node, scope));
}

/** Compiles an expression that is true, false or unknown. */
export function condition(node: Tree.Node | undefined, scope: Scope): Expr {
  return coerced(scope, compile(node, scope), 'bool');
}

function makeRow(fields: readonly Expr[]): Expr {
  const run: Run = (frame) => fields.map((field) => field.run(frame));
  return { ...computed('record', fields, run), fields };
}

function compileConstant(body: Tree.A_Const): Expr {
  if (body.isnull) return { ...constant('unknown', null), literal: null };
  if (body.boolval) return constant('bool', body.boolval.boolval ?? false);
  if (body.sval) {
    const text = body.sval.sval ?? '';
    return { ...constant('unknown', text), literal: text };
  }
  if (body.fval) {
    const text = body.fval.fval ?? '0';
    return /^\d+$/.test(text) ? constant('int8', Number(text)) : constant('numeric', text);
  }
  return constant('int4', body.ival?.ival ?? 0);
}

function compileParameter({ number = 0 }: Tree.ParamRef, scope: Scope): Expr {
  const type = scope.statement.parameters[number - 1];
  const known = makeParameter(number, type ?? 'unknown');
  return type === undefined ? { ...known, parameter: number } : known;
}

function compileColumn({ fields = [] }: Tree.ColumnRef, scope: Scope): Expr {
  const names = fields.map(getName);
  const [first = '', second] = names;
  if (names.length > 2) throw new NotModelled(`the name ${names.join('.')}`);
  return second === undefined ? scope.column(first) : scope.findColumn(first, second);
}

function compileCast({ arg, typeName }: Tree.TypeCast, scope: Scope): Expr {
  return cast(scope, compile(arg, scope), compileType(typeName));
}

function compileArray({ elements }: Tree.A_ArrayExpr, scope: Scope): Expr {
  const items = all(elements, scope);
  const common = items.reduce<Type>((one, { type }) => commonType(one, type), 'unknown');
  const element = common === 'unknown' ? 'text' : common;
  const runs = items.map((item) => cast(scope, item, element).run);
  return computed(`${element}[]`, items, (frame) => runs.map((run) => run(frame)));
}

function compileCall(body: Tree.FuncCall, scope: Scope): Expr {
  const name = getName(body.funcname?.at(-1));
  if (isAggregate(name)) return compileAggregate(body, scope, { all, condition });
  return call(name, all(body.args, scope), scope);
}

function compileLogic({ boolop, args }: Tree.BoolExpr, scope: Scope): Expr {
  const conditions = (args ?? []).map((arg) => condition(arg, scope));
  const runs = conditions.map(({ run }) => run);
  const [first] = conditions;
  if (boolop === 'NOT_EXPR' && first) return not(first);
  // One operand with this value decides the result: false for AND, true for OR.
  const decisive = boolop === 'OR_EXPR';
  return computed('bool', conditions, (frame) => {
    let result: Value = !decisive;
    for (const run of runs) {
      const value = run(frame);
      if (value === decisive) return decisive;
      if (value === null) result = null;
    }
    return result;
  });
}

/** The kinds of nodes that are expressions. */
export const expressionKinds: readonly string[] = Object.keys(kinds);

const booleanTests: Readonly<Record<string, (value: Value) => boolean>> = {
  IS_TRUE: (value) => value === true,
  IS_NOT_TRUE: (value) => value !== true,
  IS_FALSE: (value) => value === false,
  IS_NOT_FALSE: (value) => value !== false,
};

/** The tests of a condition, by their names in the parser's tree. */
export const booleanTestNames: readonly string[] = Object.keys(booleanTests);

function compileBooleanTest({ arg, booltesttype }: Tree.BooleanTest, scope: Scope): Expr {
  const tested = condition(arg, scope);
  const test = booleanTests[booltesttype ?? ''];
  if (!test) throw new NotModelled(`${booltesttype}`);
  return computed('bool', [tested], (frame) => test(tested.run(frame)));
}

function compileNullTest({ arg, nulltesttype }: Tree.NullTest, scope: Scope): Expr {
  const tested = compile(arg, scope);
  if (tested.fields) throw new NotModelled('whether a row is null');
  const known = tested.type === 'unknown' ? cast(scope, tested, 'text') : tested;
  const wanted = nulltesttype !== 'IS_NOT_NULL';
  return computed('bool', [known], (frame) => (known.run(frame) === null) === wanted);
}

function compileCase({ arg, args, defresult }: Tree.CaseExpr, scope: Scope): Expr {
  const subject = arg ? compile(arg, scope) : null;
  const branches = (args ?? []).map((node) => {
    const { expr, result } = parts(node)[1] as Tree.CaseWhen;
    const when = subject
      ? compare('=', [subject, compile(expr, scope)], scope)
      : condition(expr, scope);
    return { when, result: compile(result, scope) };
  });
  const otherwise: Expr = defresult
    ? compile(defresult, scope)
    : { ...constant('unknown', null), literal: null };
  const results = [...branches.map(({ result }) => result), otherwise];
  const [type, runs] = alike(results, scope);
  const whens = branches.map(({ when }) => when);
  const last = runs.length - 1;
  return computed(type, [...results, ...whens], (frame) => {
    const place = whens.findIndex(({ run }) => run(frame) === true);
    return runs[place === -1 ? last : place]?.(frame) ?? null;
  });
}

/** Converts expressions to their common type. */
function alike(exprs: readonly Expr[], scope: Scope): readonly [Type, readonly Run[]] {
  const found = exprs.reduce<Type>((one, { type: other }) => commonType(one, other), 'unknown');
  const type = found === 'unknown' ? 'text' : found;
  return [type, exprs.map((expr) => cast(scope, expr, type).run)];
}

function firstKnown(args: readonly Expr[], scope: Scope): Expr {
  const [type, runs] = alike(args, scope);
  return computed(type, args, (frame) => {
    for (const run of runs) {
      const value = run(frame);
      if (value !== null) return value;
    }
    return null;
  });
}

function compileMinMax({ op, args }: Tree.MinMaxExpr, scope: Scope): Expr {
  const exprs = all(args, scope);
  const [type, runs] = alike(exprs, scope);
  const order = comparison(type);
  const sign = op === 'IS_GREATEST' ? 1 : -1;
  return computed(type, exprs, (frame) => {
    let best: Value = null;
    for (const run of runs) {
      const value = run(frame);
      if (value !== null && (best === null || order(value, best) * sign > 0)) best = value;
    }
    return best;
  });
}

function compileOperation(body: Tree.A_Expr, scope: Scope): Expr {
  const { kind, lexpr, rexpr } = body;
  const name = getName(body.name?.at(-1));
  const left = compile(lexpr, scope);
  const right = (): Expr => compile(rexpr, scope);
  const pair = (): readonly [Expr, Expr] => {
    const { fields } = right();
    const [low, high] = fields ?? [];
    if (!low || !high) throw new NotModelled('BETWEEN');
    return [low, high];
  };
  switch (kind) {
    case 'AEXPR_OP':
    case 'AEXPR_LIKE':
      return operate(name, [left, right()], scope);
    case 'AEXPR_OP_ANY':
      return quantified(name, [left, right()], { scope, isAll: false });
    case 'AEXPR_OP_ALL':
      return quantified(name, [left, right()], { scope, isAll: true });
    case 'AEXPR_DISTINCT':
      return not(isSame(left, right(), scope));
    case 'AEXPR_NOT_DISTINCT':
      return isSame(left, right(), scope);
    case 'AEXPR_IN': {
      const found = isIn(left, right().fields ?? [], scope);
      return name === '=' ? found : not(found);
    }
    case 'AEXPR_BETWEEN':
      return isBetween(left, pair(), scope);
    case 'AEXPR_NULLIF': {
      const other = right();
      const { run } = compare('=', [left, other], scope);
      return computed(left.type, [left, other], (frame) =>
        run(frame) === true ? null : left.run(frame),
      );
    }
    default:
      throw new NotModelled(`an expression of the kind ${kind}`);
  }
}

function isBetween(left: Expr, [low, high]: readonly [Expr, Expr], scope: Scope): Expr {
  const isAbove = compare('>=', [left, low], scope);
  const isBelow = compare('<=', [left, high], scope);
  return computed('bool', [isAbove, isBelow], (frame) => {
    const [above, below] = [isAbove.run(frame), isBelow.run(frame)];
    if (above === false || below === false) return false;
    return above === null || below === null ? null : true;
  });
}

/** Whether two values are equal, or both NULL. */
function isSame(left: Expr, right: Expr, scope: Scope): Expr {
  const [type, [one, other]] = alike([left, right], scope);
  const equal = equality(type);
  return computed('bool', [left, right], (frame) => {
    const [first, second] = [one?.(frame) ?? null, other?.(frame) ?? null];
    if (first === null || second === null) return first === second;
    return equal(first, second);
  });
}

interface Quantifier {
  readonly scope: Scope;
  readonly isAll: boolean;
}

/** Compiles `= any(array)`, `<> all(array)` and similar comparisons. */
function quantified(
  operator: string,
  [left, list]: readonly [Expr, Expr],
  { scope, isAll }: Quantifier,
): Expr {
  let current: Value = null;
  const element = computed(getElement(list.type), [], () => current);
  const { run } = compare(operator, [left, element], scope);
  const isAmong = operator === '=' && !isAll && left.type === element.type;
  const holdsFor: Run = (frame) => {
    const values = list.run(frame) as readonly Value[] | null;
    if (values === null) return null;
    let result: Value = isAll;
    for (const value of values) {
      current = value;
      const holds = run(frame);
      if (holds === !isAll) return !isAll;
      if (holds === null) result = null;
    }
    return result;
  };
  const found = computed('bool', [left, list], holdsFor);
  return isAmong ? { ...found, among: [left, list] } : found;
}
