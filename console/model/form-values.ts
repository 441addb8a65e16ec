/** From what was typed to what a request carries. */
import type { OperationId, Operations } from '../../contract/types.ts';
import type { Check } from './check.ts';
import { valueOf, type Faults, type Field, type FormState } from './form.ts';
import { amountOf } from './money.ts';

type Values = Readonly<Record<string, unknown>>;

/** The fields by their names: what is empty is left out, numbers are numbers. */
export function valuesOf(fields: readonly Field[], state: FormState): Values {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const text = valueOf(state, field);
      if (text === '' || (field.kind === 'flag' && text === 'no')) return [];
      return [[field.name, valueFrom(field.kind, text)]];
    }),
  );
}

/** What is no number stays as it was typed: the check says what is wrong with it. */
function valueFrom(kind: Field['kind'], text: string): unknown {
  if (kind === 'flag') return text === 'yes';
  if (kind === 'money') return amountOf(text) ?? text;
  if (kind === 'number') return /^-?\d{1,15}$/.test(text.trim()) ? Number(text) : text;
  return text;
}

/** Values as a body: `list.0.name` is the member `name` of the first item of `list`. */
export function bodyOf(values: Values): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    const [list = '', index, member] = name.split('.');
    if (index === undefined || member === undefined) body[list] = value;
    else body[list] = withItem(body[list], { index: Number(index), member, value });
  }
  return body;
}

interface Item {
  readonly index: number;
  readonly member: string;
  readonly value: unknown;
}

/** An item that was left out in between stays, empty: the faults of the others keep their place. */
function withItem(list: unknown, { index, member, value }: Item): Record<string, unknown>[] {
  const items = (Array.isArray(list) ? list : []) as Record<string, unknown>[];
  const length = Math.max(items.length, index + 1);
  return Array.from({ length }, (_, at) =>
    at === index ? { ...items[at], [member]: value } : (items[at] ?? {}),
  );
}

/** The body of an operation. Whether it holds to the contract the service has the last word on. */
export function bodyFor<Id extends OperationId>(_id: Id, values: Values): Operations[Id]['body'] {
  return bodyOf(values);
}

export interface Checking {
  readonly fields: readonly Field[];
  readonly state: FormState;
  readonly check: Check;
}

/**
 * What is wrong with a form as it stands. While it is typed in, a field that is still empty is not
 * at fault; once the button was pressed it is. What the service refused comes before the rest.
 */
export function faultsOf({ fields, state, check }: Checking): Faults {
  const found = Object.entries(check(valuesOf(fields, state)));
  const told = found.filter(([name]) => {
    const field = fields.find((one) => one.name === name);
    return state.isAsked || (field !== undefined && valueOf(state, field) !== '');
  });
  return { ...Object.fromEntries(told), ...state.refusals };
}

/** The names of the fields that must not stay empty. */
export function requiredOf(check: Check): ReadonlySet<string> {
  return new Set(Object.keys(check({})));
}
