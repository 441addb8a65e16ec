/** The worst bodies that the contract's limits let through, derived from its schemas. */

type Json = Record<string, unknown>;

export interface Field {
  /** Keys from the body down; empty for the body itself. */
  readonly path: readonly (string | number)[];
  readonly schema: Json;
}

export interface DocumentedBody {
  readonly schema: Json;
  readonly example: unknown;
}

/** @returns what gives the schema that a `$ref` of this OpenAPI document names. */
export function resolver(document: Json): (schema: Json) => Json {
  return (schema) => {
    const { $ref } = schema;
    return typeof $ref === 'string' ? at(document, ...$ref.slice(2).split('/')) : schema;
  };
}

function at(document: Json, ...keys: string[]): Json {
  return keys.reduce((value, key) => (value[key] ?? {}) as Json, document);
}

/** What an OpenAPI document says of an operation's JSON body, with an example. */
export function documentedBody(document: Json, operationId: string): DocumentedBody {
  const operations = Object.values(at(document, 'paths') as Record<string, Json>).flatMap((item) =>
    Object.values(item as Record<string, Json>),
  );
  const operation = operations.find((one) => one['operationId'] === operationId) ?? {};
  const content = (operation['requestBody'] as Json)['content'] as Record<string, Json>;
  const media = content['application/json'] ?? {};
  const [example] = Object.values((media['examples'] ?? {}) as Record<string, Json>);
  return { schema: media['schema'] as Json, example: media['example'] ?? example?.['value'] };
}

/** Every place of a body that the contract names: the body, its fields, items and their fields. */
export function listFields(
  schema: Json,
  resolve: (schema: Json) => Json,
  path: Field['path'] = [],
): Field[] {
  const own = resolve(schema);
  const properties = Object.entries((own['properties'] ?? {}) as Record<string, Json>);
  const items = own['items'] as Json | undefined;
  return [
    { path, schema: own },
    ...properties.flatMap(([key, below]) => listFields(below, resolve, [...path, key])),
    ...(items ? listFields(items, resolve, [...path, 0]) : []),
  ];
}

/** A value as JSON, made to take up to so many bytes. */
export type Shape = (bytes: number) => string;

/** As many of a text as fit. */
function filled(bytes: number, ...[before, unit, after]: [string, string, string]): string {
  const room = bytes - Buffer.byteLength(before + after);
  return before + unit.repeat(Math.max(0, Math.floor(room / Buffer.byteLength(unit)))) + after;
}

/** As many different members as fit. */
function listed(bytes: number, ends: string, member: (index: number) => string): string {
  const members: string[] = [];
  for (let index = 0, size = 2; ; index += 1) {
    const next = member(index);
    size += Buffer.byteLength(next) + 1;
    if (size > bytes) break;
    members.push(next);
  }
  return `${ends[0]}${members.join(',')}${ends[1]}`;
}

function text(unit: string, before = ''): Shape {
  return (bytes) => filled(bytes, `"${before}`, unit, '"');
}

/** A long key above many texts that cannot be stored. */
function longKey(share: number, letter: string): Shape {
  return (bytes) => {
    const key = filled(bytes * share, '', letter, '');
    return filled(bytes, `{"${key}":["\\u0000"`, String.raw`,"\u0000"`, ']}');
  };
}

/** So many levels, each under a key of so many letters, with a list at the bottom. */
function deep(levels: number, letters: number, unit: string): Shape {
  return (bytes) => {
    const size = Math.min(letters, Math.floor(bytes / 3 / levels));
    const before = `{"${'k'.repeat(Math.max(1, size))}":`.repeat(levels);
    return filled(bytes, `${before}[0`, `,${unit}`, `]${'}'.repeat(levels)}`);
  };
}

const nul = String.raw`"\u0000"`;

export const shapes: Readonly<Record<string, Shape>> = {
  'combining marks': (bytes) => {
    const marks = Math.floor((bytes - 3) / 4);
    return `"a${'\u0301'.repeat(marks)}${'\u0323'.repeat(marks)}"`;
  },
  'alternating marks': text('\u0301\u0323', 'a'),
  'a ligature of eighteen letters': text('\ufdfa'),
  letters: text('a'),
  digits: text('1'),
  blanks: text(' '),
  hyphens: text('-'),
  'letters and hyphens': text('a-'),
  'a local part': text('a.', 'a@'),
  'at signs': text('@'),
  'invisible characters': text('\u200b'),
  emoji: text('😀'),
  'escaped letters': text(String.raw`\u0061`),
  'escaped NULs': text(String.raw`\u0000`),
  'lone surrogates': text(String.raw`\ud800`),
  'a number of many digits': (bytes) => filled(bytes, '1', '1', ''),
  'a number of many decimals': (bytes) => filled(bytes, '0.', '1', ''),
  'a number of many zeros': (bytes) => filled(bytes, '0.', '0', '1'),
  'a huge exponent': (bytes) => filled(bytes, '1e', '9', ''),
  'an infinite number': () => '1e400',
  zeros: (bytes) => filled(bytes, '[0', ',0', ']'),
  nulls: (bytes) => filled(bytes, '[0', ',null', ']'),
  'empty lists': (bytes) => filled(bytes, '[0', ',[]', ']'),
  'empty objects': (bytes) => filled(bytes, '[0', ',{}', ']'),
  'empty texts': (bytes) => filled(bytes, '[0', ',""', ']'),
  'faulty texts': (bytes) => filled(bytes, '[0', `,${nul}`, ']'),
  'exponents in a list': (bytes) => filled(bytes, '[0', ',1e9', ']'),
  'objects of one key each': (bytes) => listed(bytes, '[]', (n) => `{"${n.toString(36)}":0}`),
  'objects in objects': (bytes) => listed(bytes, '[]', (n) => `{"a":{"${n.toString(36)}":{}}}`),
  'objects with a prototype': (bytes) => filled(bytes, '[0', ',{"__proto__":0}', ']'),
  'many keys': (bytes) => listed(bytes, '{}', (n) => `"${n.toString(36)}":0`),
  'many faulty keys': (bytes) => listed(bytes, '{}', (n) => `"${n.toString(36)}\\u0000":0`),
  'many faulty texts': (bytes) => listed(bytes, '{}', (n) => `"${n.toString(36)}":${nul}`),
  'many keys that are numbers': (bytes) => listed(bytes, '{}', (n) => `"${n * 65_537}":0`),
  'one key over and over': (bytes) => filled(bytes, '{"a":0', ',"a":0', '}'),
  'a key of half the body': longKey(1 / 2, 'k'),
  'a key of a quarter of the body': longKey(1 / 4, 'k'),
  'a key of nine tenths of the body': longKey(9 / 10, 'k'),
  'a long key beyond Latin': longKey(1 / 2, '中'),
  'a long key of combining marks': longKey(1 / 2, '\u0301\u0323'),
  'long keys, deep': deep(90, 2_000, nul),
  'short keys, deep': deep(98, 1, nul),
  'lists to the end': (bytes) => filled(bytes, '', '[', ''),
  'nested lists': (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
  'nested objects': (bytes) => {
    const levels = Math.floor((bytes - 1) / 6);
    return `${'{"a":'.repeat(levels)}0${'}'.repeat(levels)}`;
  },
};

/**
 * Puts a value of a shape into a body that is legal otherwise.
 * @param bytes what the whole body has, at most.
 */
export function bodyWith(
  legal: unknown,
  { path }: Pick<Field, 'path'>,
  { shape, bytes }: { readonly shape: Shape; readonly bytes: number },
): Buffer {
  const around = JSON.stringify(replaced(legal, path)).split(JSON.stringify(hole));
  const room = bytes - Buffer.byteLength(around.join(''));
  return Buffer.from(around.join(shape(room)));
}

const hole = 'the value is inserted here';

function replaced(value: unknown, [key, ...rest]: Field['path']): unknown {
  if (key === undefined) return hole;
  if (typeof key === 'number') return [replaced(undefined, rest)];
  const object = (value ?? {}) as Json;
  return { ...object, [key]: replaced(object[key], rest) };
}

/** Beside its legal fields, an object gets one that the contract does not know. */
export function unknownField({ path, schema }: Field): Field | null {
  return 'properties' in schema ? { path: [...path, 'unknown'], schema: {} } : null;
}

/**
 * The bytes of the longest value in UTF-8 that a schema accepts, without blanks.
 * @throws Error when the schema sets no limit.
 */
export function findMaxLegalSize(schema: Json, resolve: (schema: Json) => Json): number {
  const own = resolve(schema);
  const { enum: values, maxLength, maxItems, items, properties } = own;
  const types = [own['type']].flat();
  if (Array.isArray(values)) {
    return Math.max(...values.map((value) => Buffer.byteLength(JSON.stringify(value))));
  }
  if (types.includes('object')) {
    return Object.entries(properties as Record<string, Json>)
      .map(([key, below]) => key.length + 4 + findMaxLegalSize(below, resolve))
      .reduce((sum, size) => sum + size, 2);
  }
  if (types.includes('array')) {
    if (typeof maxItems !== 'number') throw new Error('a list without maxItems');
    return 2 + maxItems * (1 + findMaxLegalSize(items as Json, resolve));
  }
  if (types.includes('string')) {
    if (typeof maxLength !== 'number') throw new Error('a text without maxLength');
    return 2 + 4 * maxLength;
  }
  return 24;
}
