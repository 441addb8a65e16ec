/** Functions: those of PostgreSQL that the statements use, and those of the migrations. */
import { NotModelled } from './errors.ts';
import { normalJson } from './json.ts';
import { cast, coerced, computed, settled, type Expr, type Frame, type Scope } from './scope.ts';
import { formatTime } from './times.ts';
import { getElement, toKey, toJson, toText, type Type, type Value } from './types.ts';

type Apply = (values: readonly Value[], frame: Frame) => Value;

/** The functions that change something. */
const changing: readonly string[] = ['nextval', 'pg_notify'];

interface Simple {
  /** The type of each argument; `any` is not converted. */
  readonly takes: readonly Type[];
  readonly returns: Type;
  /** Computes the value; not called if an argument is NULL, as the result is NULL then. */
  readonly apply: Apply;
}

/** Splits a text into characters, not UTF-16 code units. */
function splitCharacters(value: Value): string[] {
  return Array.from(value as string);
}

const simple: Readonly<Record<string, Simple>> = {
  lower: {
    takes: ['text'],
    returns: 'text',
    apply: ([one]) => (one as string).toLowerCase(),
  },
  left: {
    takes: ['text', 'int4'],
    returns: 'text',
    apply: ([one, count]) =>
      (one as string).length <= (count as number)
        ? one
        : splitCharacters(one)
            .slice(0, count as number)
            .join(''),
  },
  right: {
    takes: ['text', 'int4'],
    returns: 'text',
    apply: ([one, count]) =>
      count === 0
        ? ''
        : splitCharacters(one)
            .slice(-(count as number))
            .join(''),
  },
  ltrim: {
    takes: ['text', 'text'],
    returns: 'text',
    apply: ([one, removed]) => {
      const characters = splitCharacters(one);
      const first = characters.findIndex((each) => !splitCharacters(removed).includes(each));
      return first === -1 ? '' : characters.slice(first).join('');
    },
  },
  starts_with: {
    takes: ['text', 'text'],
    returns: 'bool',
    apply: ([one, start]) => (one as string).startsWith(start as string),
  },
  to_char: {
    takes: ['any', 'text'],
    returns: 'text',
    apply: ([at, format]) => formatTime(at as number, format as string),
  },
  timezone: {
    takes: ['text', 'timestamptz'],
    returns: 'timestamp',
    apply: ([zone, at]) => {
      if (zone !== 'UTC') throw new NotModelled(`the time zone ${String(zone)}`);
      return at;
    },
  },
  encode: {
    takes: ['bytea', 'text'],
    returns: 'text',
    apply([bytes, format]) {
      if (format !== 'hex') throw new NotModelled(`the encoding ${String(format)}`);
      return Buffer.from(bytes as string, 'latin1').toString(format);
    },
  },
  pg_notify: {
    takes: ['text', 'text'],
    returns: 'void',
    apply: ([channel, payload], { session }) => {
      session.notify(channel as string, payload as string);
      return '';
    },
  },
  // The setting that turns on app events, which every session of a simulation writes.
  current_setting: {
    takes: ['text', 'bool'],
    returns: 'text',
    apply: ([name]) => (name === 'ponte.app_events' ? 'on' : null),
  },
  nextval: {
    takes: ['regclass'],
    returns: 'int8',
    apply: ([sequence], { session }) => session.database.nextValue(sequence as string),
  },
};

/** A call of a function that returns one value. */
export function call(name: string, args: readonly Expr[], scope: Scope): Expr {
  const known = Object.hasOwn(simple, name) ? simple[name] : undefined;
  if (known) return callSimple(known, args, { name, scope });
  const compileCall = Object.hasOwn(special, name) ? special[name] : undefined;
  return compileCall ? compileCall(args, scope) : callOwn(name, args, scope);
}

interface Named {
  readonly name: string;
  readonly scope: Scope;
}

function callSimple({ takes, returns, apply }: Simple, args: readonly Expr[], named: Named): Expr {
  const { name, scope } = named;
  if (changing.includes(name)) scope.statement.isPureRead = false;
  if (takes.length !== args.length) throw new NotModelled(`${name} of ${args.length} arguments`);
  const runs = args.map((arg, place) => {
    const type = takes[place] ?? 'any';
    return (type === 'any' ? settled(scope, arg) : coerced(scope, arg, type)).run;
  });
  return computed(returns, args, (frame) => {
    const values: Value[] = [];
    for (const run of runs) {
      const value = run(frame);
      if (value === null) return null;
      values.push(value);
    }
    return apply(values, frame);
  });
}

const special: Readonly<Record<string, (args: readonly Expr[], scope: Scope) => Expr>> = {
  jsonb_build_array(args, scope) {
    const items = args.map((arg) => settled(scope, arg));
    return computed('jsonb', items, (frame) =>
      items.map(({ type, run }) => toJson(type, run(frame))),
    );
  },
  jsonb_build_object(args, scope) {
    const items = args.map((arg) => settled(scope, arg));
    return computed('jsonb', items, (frame) => {
      const object: Record<string, unknown> = {};
      for (let place = 0; place + 1 < items.length; place += 2) {
        const [key, value] = [items[place], items[place + 1]];
        if (!key || !value) break;
        object[toText(key.type, key.run(frame))] = toJson(value.type, value.run(frame));
      }
      return normalJson(object);
    });
  },
  length([arg = missing()], scope) {
    const known = settled(scope, arg);
    if (known.type !== 'text') throw new NotModelled(`the length of ${known.type}`);
    return computed('int4', [known], (frame) => {
      const value = known.run(frame) as string | null;
      return value === null ? null : splitCharacters(value).length;
    });
  },
  octet_length([arg], scope) {
    const known = settled(scope, arg ?? missing());
    const isText = known.type === 'text';
    return computed('int4', [known], (frame) => {
      const value = known.run(frame) as string | null;
      return value === null ? null : Buffer.byteLength(value, isText ? 'utf8' : 'latin1');
    });
  },
  array_remove([list = missing(), item = missing()], scope) {
    const element = getElement(list.type);
    const removed = cast(scope, item, element);
    return computed(list.type, [list, removed], (frame) => {
      const values = list.run(frame) as readonly Value[] | null;
      const key = toKey(element, removed.run(frame));
      return values?.filter((value) => toKey(element, value) !== key) ?? null;
    });
  },
};

/** The functions that return one value, without those of the migrations. */
export const functionNames: readonly string[] = [simple, special].flatMap(Object.keys);

function missing(): never {
  throw new NotModelled('a call without its argument');
}

/** A call of a function of the migrations. */
function callOwn(name: string, args: readonly Expr[], scope: Scope): Expr {
  const own = scope.statement.catalog.functions.get(name);
  if (!own || own.takes.length !== args.length) throw new NotModelled(`the function ${name}`);
  scope.statement.isPureRead = false;
  const runs = args.map((arg, place) => coerced(scope, arg, own.takes[place] ?? 'text').run);
  return computed(own.returns, args, (frame) =>
    own.run(
      frame.session,
      runs.map((run) => run(frame)),
    ),
  );
}
