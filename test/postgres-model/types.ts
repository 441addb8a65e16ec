/** The types of SQL, and how their values are read, written, compared and returned. */
import { compareDecimals, decimalFrom, limitDecimal } from './decimals.ts';
import { NotModelled, refusal } from './errors.ts';
import { jsonFrom, jsonNull, jsonText, normalJson, plainJson } from './json.ts';
import { compareIntervals, intervalFrom, timeFrom, timeText, type Interval } from './times.ts';

/**
 * How values are stored: `null` for NULL, numbers for integers, floats and points in time (in
 * microseconds), texts for `text`, `uuid`, `numeric` and `bytea` (a character for each byte), lists
 * for arrays.
 */
export type Value = unknown;

/** The name of a type; that of an array ends with `[]`. */
export type Type = string;

export interface Column {
  readonly name: string;
  readonly type: Type;
}

const aliases: Readonly<Record<string, Type>> = {
  integer: 'int4',
  smallint: 'int4',
  int2: 'int4',
  int: 'int4',
  bigint: 'int8',
  boolean: 'bool',
  varchar: 'text',
  name: 'text',
  // A day is its ISO text: no modelled statement calculates with days.
  date: 'text',
  oid: 'int8',
  float4: 'float8',
  'double precision': 'float8',
  'timestamp with time zone': 'timestamptz',
  'character varying': 'text',
};

/** The name of a type in the model, without a modifier such as `(3)`. */
export function typeNamed(name: string): Type {
  const isArray = name.endsWith('[]');
  const bare = name
    .replace(/\[\]$/, '')
    .replace(/\(.*\)/, '')
    .replaceAll('"', '');
  const type = aliases[bare] ?? bare;
  if (!known.has(type)) throw new NotModelled(`the type ${name}`);
  return isArray ? `${type}[]` : type;
}

const known = new Set([
  'bool',
  'int4',
  'int8',
  'float8',
  'numeric',
  'text',
  'uuid',
  'bytea',
  'void',
  'trigger',
  'timestamptz',
  'interval',
  'jsonb',
  'record',
  'regclass',
  'unknown',
]);

const numbers: readonly Type[] = ['int4', 'int8', 'numeric', 'float8'];

/** Whether it is a type of numbers. */
export function isNumber(type: Type): boolean {
  return numbers.includes(type);
}

/** The type of an array's elements. */
export function getElement(type: Type): Type {
  if (!type.endsWith('[]')) throw new NotModelled(`an element of ${type}`);
  return type.slice(0, -2);
}

/** The type to which values of both types can be converted. */
export function commonType(one: Type, other: Type): Type {
  if (one === other || other === 'unknown') return one;
  if (one === 'unknown') return other;
  const places = [numbers.indexOf(one), numbers.indexOf(other)] as const;
  if (!places.includes(-1)) return numbers[Math.max(...places)] ?? one;
  throw refusal('datatype_mismatch', `types ${one} and ${other} cannot be matched`);
}

/** The text of a value that is not an object. */
function formatValue(value: Value): string {
  return typeof value === 'string' ? value : `${value as number}`;
}

const uuidForm = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

function malformed(type: Type, text: string): Error {
  return refusal('invalid_text_representation', `invalid input syntax for type ${type}: "${text}"`);
}

function integer(type: Type, text: string, most: number): number {
  if (!/^\s*[+-]?\d+\s*$/.test(text)) throw malformed(type, text);
  const value = Number(text);
  if (value > most || value < -most - 1) {
    throw refusal('numeric_value_out_of_range', `value "${text}" is out of range for type ${type}`);
  }
  return value;
}

const readers: Readonly<Record<Type, (text: string) => Value>> = {
  text: (text) => {
    if (!text.includes('\0')) return text;
    throw refusal('character_not_in_repertoire', 'invalid byte sequence for encoding "UTF8": 0x00');
  },
  unknown: (text) => text,
  regclass: (text) => text,
  int4: (text) => integer('integer', text, 2_147_483_647),
  int8: (text) => integer('bigint', text, Number.MAX_SAFE_INTEGER),
  float8: Number,
  numeric: decimalFrom,
  bool: (text) => {
    if (/^(?:t|true|yes|on|1)$/i.test(text)) return true;
    if (/^(?:f|false|no|off|0)$/i.test(text)) return false;
    throw malformed('boolean', text);
  },
  uuid: (text) => {
    const lower = text.toLowerCase();
    if (!uuidForm.test(lower)) throw malformed('uuid', text);
    return lower;
  },
  bytea: (text) => {
    if (!text.startsWith('\\x')) throw new NotModelled('bytea that is not written as hex');
    return Buffer.from(text.slice(2), 'hex').toString('latin1');
  },
  timestamptz: timeFrom,
  interval: intervalFrom,
  jsonb: parseJson,
};

function parseJson(text: string): Value {
  try {
    return jsonFrom(text);
  } catch {
    throw malformed('json', text);
  }
}

/** Reads a value as it is written in SQL. */
export function fromText(type: Type, text: string): Value {
  if (type.endsWith('[]')) return arrayFrom(getElement(type), text);
  const read = readers[type];
  if (!read) throw new NotModelled(`a value of ${type}`);
  return read(text);
}

/** Reads `{a,"b c",NULL}`. */
function arrayFrom(element: Type, text: string): Value[] {
  if (!/^\{.*\}$/s.test(text)) throw malformed('array', text);
  const values: Value[] = [];
  for (const [, quoted, bare] of text
    .slice(1, -1)
    .matchAll(/(?:"((?:[^"\\]|\\.)*)"|([^,"{}]+))(?:,|$)/gs)) {
    if (quoted !== undefined) values.push(fromText(element, quoted.replaceAll(/\\(.)/gs, '$1')));
    else if (/^null$/i.test(bare ?? '')) values.push(null);
    else values.push(fromText(element, (bare ?? '').trim()));
  }
  return values;
}

/** A bound parameter, as the driver would have sent it. */
export function fromParameter(type: Type, value: unknown): Value {
  if (value === null || value === undefined) return null;
  if (type.endsWith('[]') && Array.isArray(value)) {
    const element = getElement(type);
    return value.map((one) => fromParameter(element, one));
  }
  if (Buffer.isBuffer(value)) return value.toString('latin1');
  if (value instanceof Date) {
    return type === 'timestamptz' ? value.getTime() * 1_000 : fromText(type, value.toISOString());
  }
  if (typeof value === 'string') return fromText(type, value);
  if (typeof value === 'boolean' && type === 'bool') return value;
  if (typeof value === 'number' && (type === 'int4' || type === 'float8')) {
    return type === 'int4' ? fromText(type, formatValue(value)) : value;
  }
  return fromText(type, typeof value === 'object' ? JSON.stringify(value) : formatValue(value));
}

/** The driver's conversion of the values of a type; null: it returns them as stored. */
export function findDriver(type: Type): ((value: Value) => unknown) | null {
  switch (type) {
    case 'int8':
      return formatValue;
    case 'timestamptz':
      return (value) =>
        Number.isFinite(value) ? new Date(Math.floor((value as number) / 1_000)) : value;
    case 'bytea':
      return (value) => Buffer.from(value as string, 'latin1');
    case 'jsonb':
      return plainJson;
    case 'interval':
    case 'timestamp':
    case 'record':
      throw new NotModelled(`a response of type ${type}`);
    default:
      if (!type.endsWith('[]')) return null;
  }
  const read = findDriver(getElement(type));
  return (value) =>
    (value as Value[]).map((one) => (one === null || read === null ? one : read(one)));
}

/** A value as the server writes it. */
export function toText(type: Type, value: Value): string {
  switch (type) {
    case 'bytea':
      return `\\x${Buffer.from(value as string, 'latin1').toString('hex')}`;
    case 'timestamptz':
      return `${timeText(value as number)}${Number.isFinite(value) ? '+00' : ''}`;
    case 'jsonb':
      return jsonText(value);
    case 'bool':
      return value === true ? 'true' : 'false';
    case 'void':
      return '';
    case 'interval':
    case 'timestamp':
    case 'record':
      throw new NotModelled(`the text of ${type}`);
    default:
      return type.endsWith('[]')
        ? arrayText(getElement(type), value as Value[])
        : formatValue(value);
  }
}

function arrayText(element: Type, values: readonly Value[]): string {
  const words = values.map((value) => {
    if (value === null) return 'NULL';
    const text = toText(element, value);
    const isBare = text !== '' && !/[\s{},"\\]/.test(text) && !/^null$/i.test(text);
    return isBare ? text : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
  });
  return `{${words.join(',')}}`;
}

/** Converts a value to another type. */
export function convert(from: Type, to: Type, value: Value): Value {
  if (value === null || from === to) return value;
  if (from === 'unknown' || from === 'text') return fromText(to, value as string);
  if (to === 'text') return toText(from, value);
  if (isNumber(from) && isNumber(to)) {
    if (to === 'numeric') return decimalFrom(formatValue(value));
    const number = Number(value);
    return to === 'float8' ? number : fromText(to, String(Math.round(number)));
  }
  throw new NotModelled(`a cast from ${from} to ${to}`);
}

/** Any value as a part of a `jsonb` value. */
export function toJson(type: Type, value: Value): unknown {
  if (value === null) return null;
  if (type === 'bool' || isNumber(type)) return type === 'bool' ? value : Number(value);
  if (type === 'jsonb') return value === jsonNull ? null : value;
  if (type.endsWith('[]')) return (value as Value[]).map((one) => toJson(getElement(type), one));
  if (type === 'timestamptz') {
    return `${timeText(value as number).replace(' ', 'T')}+00:00`;
  }
  return normalJson(toText(type, value));
}

export type Compare = (one: Value, other: Value) => number;

function compareAs(one: Value, other: Value): number {
  if (one === other) return 0;
  return (one as string) < (other as string) ? -1 : 1;
}

/** The comparison of two values of a type, neither of them NULL. */
export function comparison(type: Type): Compare {
  if (type === 'numeric')
    return (one, other) => compareDecimals(formatValue(one), formatValue(other));
  if (type === 'interval') {
    return (one, other) => compareIntervals(one as Interval, other as Interval);
  }
  if (type === 'jsonb') return (one, other) => compareAs(jsonText(one), jsonText(other));
  if (type.endsWith('[]') || type === 'record') throw new NotModelled(`a comparison of ${type}`);
  return compareAs;
}

/** Two values of a type have the same key if they are equal. */
export function toKey(type: Type, value: Value): string {
  if (value === null) return '-';
  if (type === 'numeric' && formatValue(value).includes('.')) {
    return `=${formatValue(value).replace(/\.?0+$/, '')}`;
  }
  if (typeof value === 'object') return `=${JSON.stringify(value)}`;
  return `=${formatValue(value)}`;
}

/** Converts values to the declared precision of a column. */
export function fitting(declared: string): (value: Value) => Value {
  const [, name, modifier] = /^(.*?)\((.*)\)/.exec(declared) ?? [];
  if (modifier === undefined) return (value) => value;
  const [first = 0, second = 0] = modifier.split(',').map(Number);
  if (name === 'numeric') {
    return (value) => (value === null ? null : limitDecimal(value as string, first, second));
  }
  const unit = 10 ** (6 - first);
  if (name?.startsWith('timestamp')) {
    return (value) =>
      value === null || !Number.isFinite(value)
        ? value
        : Math.round((value as number) / unit) * unit;
  }
  throw new NotModelled(`the type ${declared}`);
}
