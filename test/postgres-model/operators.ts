/** Operators. */
import { shiftDay } from '../../src/domain/calendar.ts';
import { addDecimals } from './decimals.ts';
import { NotModelled, refusal } from './errors.ts';
import { containsJson } from './json.ts';
import { cast, coerced, computed, type Expr, type Scope } from './scope.ts';
import {
  divideInterval,
  intervalBetween,
  scaleInterval,
  shiftTime,
  type Interval,
} from './times.ts';
import {
  commonType,
  comparison,
  getElement,
  isNumber,
  toText,
  type Type,
  type Value,
} from './types.ts';

type Pair = readonly [Expr, Expr];

/** Whether the result of a comparison satisfies an operator. */
const orders: Readonly<Record<string, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '<>': (order) => order !== 0,
  '<': (order) => order < 0,
  '>': (order) => order > 0,
  '<=': (order) => order <= 0,
  '>=': (order) => order >= 0,
};

/** An operator between two expressions. */
export function operate(name: string, pair: Pair, scope: Scope): Expr {
  if (Object.hasOwn(orders, name)) return compare(name, pair, scope);
  const operator = operators[name];
  if (!operator) throw new NotModelled(`the operator ${name}`);
  return operator(pair, scope);
}

/** The negation; unknown stays unknown. */
export function not(expr: Expr): Expr {
  return computed('bool', [expr], (frame) => {
    const value = expr.run(frame);
    return value === null ? null : value === false;
  });
}

/** Whether equal values of a type are identical in JavaScript. */
export function isPlain(type: Type): boolean {
  return !type.endsWith('[]') && !['numeric', 'jsonb', 'interval'].includes(type);
}

/** Whether two values of a type are equal, neither of them NULL. */
export function equality(type: Type): (one: Value, other: Value) => boolean {
  if (isPlain(type)) return (one, other) => one === other;
  const order = comparison(type);
  return (one, other) => order(one, other) === 0;
}

/** Compiles a function of two values whose result is NULL if one of them is NULL. */
function strict(type: Type, [left, right]: Pair, apply: (one: Value, other: Value) => Value): Expr {
  const [one, other] = [left.run, right.run];
  return computed(type, [left, right], (frame) => {
    const first = one(frame);
    if (first === null) return null;
    const second = other(frame);
    return second === null ? null : apply(first, second);
  });
}

/** A comparison of two values or of two rows. */
export function compare(name: string, [left, right]: Pair, scope: Scope): Expr {
  if (left.fields && right.fields) return compareRows(name, [left, right], scope);
  const common = commonType(left.type, right.type);
  const type = common === 'unknown' ? 'text' : common;
  if (type === 'record') throw new NotModelled('a comparison of records');
  const pair: Pair = [cast(scope, left, type), cast(scope, right, type)];
  if (name === '=') return { ...strict('bool', pair, equality(type)), equal: pair };
  const order = comparison(type);
  const holds = orders[name];
  if (!holds) throw new NotModelled(`the comparison ${name}`);
  return strict('bool', pair, (one, other) => holds(order(one, other)));
}

/** Compares two rows field by field: NULL if a field is NULL and no other one is unequal. */
function compareRows(name: string, [left, right]: Pair, scope: Scope): Expr {
  if (name !== '=') throw new NotModelled(`rows with ${name}`);
  const equals = (left.fields ?? []).map((field, place) => {
    const other = right.fields?.[place];
    if (!other) throw new NotModelled('rows of different lengths');
    return compare('=', [field, other], scope).run;
  });
  return computed('bool', [left, right], (frame) => {
    let result: Value = true;
    for (const equal of equals) {
      const same = equal(frame);
      if (same === false) return false;
      if (same === null) result = null;
    }
    return result;
  });
}

/** Whether a value is in a list. */
export function isIn(left: Expr, items: readonly Expr[], scope: Scope): Expr {
  const equals = items.map((item) => compare('=', [left, item], scope));
  const runs = equals.map(({ run }) => run);
  return computed('bool', equals, (frame) => {
    let result: Value = false;
    for (const run of runs) {
      const same = run(frame);
      if (same === true) return true;
      if (same === null) result = null;
    }
    return result;
  });
}

const operators: Readonly<Record<string, (pair: Pair, scope: Scope) => Expr>> = {
  '||': concatenate,
  '@>': contains,
  '&&': overlaps,
  '->>': fieldText,
  '~~': (pair, scope) => like(pair, scope),
  '!~~': (pair, scope) => not(like(pair, scope)),
  '+': (pair, scope) => add(pair, scope),
  '-': (pair, scope) => subtract(pair, scope),
  '*': (pair, scope) => multiply(pair, scope),
  '/': (pair, scope) => divide(pair, scope),
};

/** The operators between two expressions. */
export const operatorNames: readonly string[] = [orders, operators].flatMap(Object.keys);

function concatenate([left, right]: Pair, scope: Scope): Expr {
  if (left.type.endsWith('[]') && left.type === right.type) {
    return strict(left.type, [left, right], (one, other) => [
      ...(one as Value[]),
      ...(other as Value[]),
    ]);
  }
  if (![left.type, right.type].some((type) => type === 'text' || type === 'unknown')) {
    throw new NotModelled(`${left.type} || ${right.type}`);
  }
  const texts = [left, right].map((expr) => {
    const known = expr.type === 'unknown' ? cast(scope, expr, 'text') : expr;
    return computed('text', [known], (frame) => {
      const value = known.run(frame);
      return value === null ? null : toText(known.type, value);
    });
  }) as unknown as Pair;
  return strict('text', texts, (one, other) => `${one as string}${other as string}`);
}

function contains([left, right]: Pair, scope: Scope): Expr {
  const pair: Pair = [left, coerced(scope, right, left.type)];
  if (left.type === 'jsonb') return strict('bool', pair, containsJson);
  const equal = equality(getElement(left.type));
  return strict('bool', pair, (whole, part) =>
    (part as Value[]).every(
      (one) => one !== null && (whole as Value[]).some((other) => equal(one, other)),
    ),
  );
}

/** Whether two arrays have an element in common; null equals nothing. */
function overlaps([left, right]: Pair, scope: Scope): Expr {
  const equal = equality(getElement(left.type));
  return strict('bool', [left, coerced(scope, right, left.type)], (one, other) =>
    (one as Value[]).some(
      (own) => own !== null && (other as Value[]).some((its) => its !== null && equal(own, its)),
    ),
  );
}

function fieldText([left, right]: Pair, scope: Scope): Expr {
  return strict('text', [left, coerced(scope, right, 'text')], (json, name) => {
    const value = readField(json, name as string);
    if (value === null || value === undefined) return null;
    return typeof value === 'string' ? value : toText('jsonb', value);
  });
}

/** @returns undefined without such a field. */
function readField(json: Value, name: string): unknown {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined;
  if (!Object.hasOwn(json, name)) return undefined;
  return (json as Readonly<Record<string, unknown>>)[name];
}

function like([left, right]: Pair, scope: Scope): Expr {
  const pair: Pair = [coerced(scope, left, 'text'), coerced(scope, right, 'text')];
  const patterns = new Map<string, RegExp>();
  return strict('bool', pair, (text, pattern) => {
    const known = patterns.get(pattern as string) ?? toPattern(pattern as string);
    patterns.set(pattern as string, known);
    return known.test(text as string);
  });
}

function toPattern(pattern: string): RegExp {
  if (pattern.includes('\\')) throw new NotModelled(`like '${pattern}'`);
  const source = pattern
    .replaceAll(/[.*+?^${}()|[\]]/g, String.raw`\$&`)
    .replaceAll('%', '.*')
    .replaceAll('_', '.');
  return new RegExp(`^${source}$`, 's');
}

/** Converts both to numbers of one type. */
function toNumbers([left, right]: Pair, scope: Scope): readonly [Type, Pair] {
  const type = commonType(left.type, right.type);
  if (!isNumber(type)) throw new NotModelled(`an operation on ${left.type} and ${right.type}`);
  return [type, [cast(scope, left, type), cast(scope, right, type)]];
}

function checked(type: Type, value: number): number {
  const most = type === 'int4' ? 2_147_483_647 : Number.MAX_SAFE_INTEGER;
  if (type === 'float8' || Math.abs(value) <= most) return value;
  throw refusal('numeric_value_out_of_range', 'integer out of range');
}

function add(pair: Pair, scope: Scope): Expr {
  const [{ type: left }, { type: right }] = pair;
  if (left === 'timestamptz' && right === 'interval') {
    return strict(left, pair, (at, by) => shiftTime(at as number, by as Interval, 1));
  }
  // A date is its text.
  if (left === 'text' && right === 'int4') {
    return strict(left, pair, (day, by) => shiftDay(day as string, by as number));
  }
  const [type, numbers] = toNumbers(pair, scope);
  return strict(type, numbers, (one, other) =>
    type === 'numeric'
      ? addDecimals(one as string, other as string)
      : checked(type, (one as number) + (other as number)),
  );
}

function subtract(pair: Pair, scope: Scope): Expr {
  const [{ type: left }, { type: right }] = pair;
  if (left === 'timestamptz' && right === 'interval') {
    return strict(left, pair, (at, by) => shiftTime(at as number, by as Interval, -1));
  }
  if (left === 'timestamptz' && left === right) {
    return strict('interval', pair, (at, since) => intervalBetween(since as number, at as number));
  }
  const [type, numbers] = toNumbers(pair, scope);
  return strict(type, numbers, (one, other) =>
    type === 'numeric'
      ? addDecimals(one as string, other as string, -1n)
      : checked(type, (one as number) - (other as number)),
  );
}

function multiply([left, right]: Pair, scope: Scope): Expr {
  if (left.type !== 'interval') throw new NotModelled(`a multiplication of ${left.type}`);
  return strict('interval', [left, cast(scope, right, 'float8')], (one, by) =>
    scaleInterval(one as Interval, by as number),
  );
}

function divide([left, right]: Pair, scope: Scope): Expr {
  if (left.type !== 'interval') throw new NotModelled(`a division of ${left.type}`);
  return strict('interval', [left, cast(scope, right, 'float8')], (one, by) => {
    if (by === 0) throw refusal('division_by_zero', 'division by zero');
    return divideInterval(one as Interval, by as number);
  });
}

/** The addition of a type of numbers, for aggregates. */
export function makeSum(type: Type): (one: Value, other: Value) => Value {
  if (type === 'numeric') return (one, other) => addDecimals(String(one), String(other));
  return (one, other) => checked(type, Number(one) + Number(other));
}
