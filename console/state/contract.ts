/** The fields of a form, read from the contract, and the request that carries their values. */
import document from '../../contract/openapi.generated.json' with { type: 'json' };
import type { AnyRequest } from '../../contract/client/request.ts';
import { routes, type OperationId } from '../../contract/types.ts';

/** The part of JSON Schema that the contract uses for typed values. */
interface Schema {
  readonly $ref?: string;
  /** A list for a value that may be null. */
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly default?: string | number;
  readonly required?: readonly string[];
  /** Fields that are required where another one is absent, by that other one. */
  readonly 'x-required-without'?: Readonly<Record<string, readonly string[]>>;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly maxItems?: number;
}

interface Parameter extends Pick<Schema, '$ref' | 'description'> {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
}

/** A screen's own text for a field, if the contract's text is not meant for a person. */
export interface Input {
  readonly label?: string;
  readonly hint?: string;
  readonly initial?: string;
  /** The text of each value that can be chosen. */
  readonly choices?: Readonly<Record<string, string>>;
}

interface Place {
  /** The name in its part of the request, such as `amount` or `additional_data.0.name`. */
  readonly name: string;
  readonly in: Parameter['in'] | 'body';
  readonly isRequired: boolean;
}

export interface Field extends Input, Place {
  readonly label: string;
  readonly kind: 'text' | 'amount' | 'integer' | 'flag' | 'day';
  readonly isSecret: boolean;
}

/** A screen's texts for fields, by name; a plain text is the label. */
export type Inputs = Readonly<Record<string, Input | string>>;

const paths = document.paths as unknown as Readonly<
  Record<string, Readonly<Record<string, Operation>> & Pick<Operation, 'parameters'>>
>;

/**
 * @param typed the texts by field so far: a list has room for one item more.
 * @returns the fields of an operation, the body first.
 */
export function contractFields(
  id: OperationId,
  inputs: Inputs,
  typed: Readonly<Record<string, string>>,
): Field[] {
  const { path, method } = routes[id];
  const item = paths[path];
  const { parameters = [], requestBody } = item?.[method.toLowerCase()] ?? {};
  const [content] = Object.values(requestBody?.content ?? {});
  const body = content ? resolve(content.schema) : {};
  const { properties = {} } = body;
  const required = requiredFields(body, typed);
  const members = Object.entries(properties).flatMap(([name, schema]) => {
    const { items, maxItems = Infinity } = schema;
    const place = { name, in: 'body', isRequired: required.includes(name) } as const;
    const { properties: parts } = resolve(schema);
    if (parts) return partFields(place, parts, inputs);
    if (!items) return [newField(place, schema, inputs[name])];
    const indexes = Object.keys(typed).map((key) => (typed[key] ? Number(key.split('.')[1]) : -1));
    const count = Math.min(maxItems, Math.max(-1, ...indexes.filter(Number.isInteger)) + 2);
    return Array.from({ length: count }, (_, index) => itemFields(name, items, index)).flat();
  });
  const others = [...(item?.parameters ?? []), ...parameters]
    .map(resolve)
    .map(({ name, in: part, required: isRequired = false, description = '', schema }) =>
      newField({ name, in: part, isRequired }, { description, ...schema }, inputs[name]),
    );
  return [...members, ...others];
}

function requiredFields(
  { required = [], 'x-required-without': alternatives = {} }: Schema,
  typed: Readonly<Record<string, string>>,
): readonly string[] {
  const conditional = Object.entries(alternatives).flatMap(([other, fields]) =>
    typed[other] ? [] : fields,
  );
  return [...required, ...conditional];
}

/** The fields of an object inside the body, such as `companies.day`. */
function partFields(
  { name, in: part }: Place,
  properties: NonNullable<Schema['properties']>,
  inputs: Inputs,
): Field[] {
  return Object.entries(properties).map(([member, schema]) => {
    const place = { name: `${name}.${member}`, in: part, isRequired: false };
    return newField(place, schema, inputs[place.name]);
  });
}

function itemFields(list: string, items: Schema, index: number): Field[] {
  return Object.entries(resolve(items).properties ?? {}).map(([member, schema]) => {
    const place = { name: `${list}.${index}.${member}`, in: 'body', isRequired: false } as const;
    return newField(place, schema, `${capitalise(list)} ${index + 1}, ${member}`);
  });
}

const kinds: Readonly<Record<string, Field['kind']>> = {
  number: 'amount',
  integer: 'integer',
  boolean: 'flag',
};

function newField(place: Place, unresolved: Schema, input: Input | string = {}): Field {
  const { name } = place;
  const schema = resolve(unresolved);
  const { description = '', default: initial } = schema;
  const [type = 'string'] = [schema.type].flat();
  const kind = schema.format === 'date' ? 'day' : (kinds[type] ?? 'text');
  const values = kind === 'flag' ? ['no', 'yes'] : schema.enum;
  const said = typeof input === 'string' ? { label: input } : input;
  const choices = said.choices ?? (values && Object.fromEntries(values.map((one) => [one, one])));
  const example = kind === 'amount' ? 'such as 25,00 or 1.234,56' : description.replaceAll('`', '');
  const text = kind === 'day' ? `such as 22/11/2026. ${example}` : example;
  return {
    ...place,
    kind,
    isSecret: name.startsWith('password'),
    label: capitalise(name),
    hint: choices ? `← → to choose. ${text}` : text,
    ...(initial !== undefined && { initial: String(initial) }),
    ...said,
    ...(choices && { choices }),
  };
}

/** `receiver_name` becomes `Receiver name`. */
export function capitalise(name: string): string {
  return name.charAt(0).toUpperCase().concat(name.slice(1).replaceAll('_', ' '));
}

/** Follows a reference within the contract, such as `#/components/schemas/ChargeType`. */
function resolve<Part extends { readonly $ref?: string }>(part: Part): Part {
  const find = (node: unknown, name: string): unknown => (node as Record<string, unknown>)[name];
  return part.$ref === undefined
    ? part
    : (part.$ref.split('/').slice(1).reduce<unknown>(find, document) as Part);
}

export type Values = Readonly<Record<string, string | number | boolean>>;

/** Puts each value into the path, the query, a header or the body, as its field requires. */
export function buildRequest(
  fields: readonly Field[],
  values: Readonly<Record<string, Values[string] | undefined>>,
): AnyRequest {
  const parts: Record<string, Record<string, string>> = { path: {}, query: {}, header: {} };
  const body: Record<string, unknown> = {};
  for (const { name, in: place } of fields) {
    const value = values[name];
    const part = parts[place];
    if (value === undefined) continue;
    if (part) part[name] = String(value);
    else addMember(body, name.split('.'), value);
  }
  const { path = {}, query = {}, header: headers = {} } = parts;
  const hasBody = fields.some((field) => field.in === 'body');
  return { path, query, headers, ...(hasBody && { body }) };
}

/** Items without members stay in their list: the faults of the response count them too. */
function addMember(
  body: Record<string, unknown>,
  path: readonly string[],
  value: Values[string] | undefined,
): void {
  const [name = '', index, member] = path;
  if (index === undefined) {
    body[name] = value;
    return;
  }
  if (member === undefined) {
    body[name] = { ...(body[name] as object | undefined), [index]: value };
    return;
  }
  const items = (body[name] ??= []) as Record<string, unknown>[];
  while (items.length <= Number(index)) items.push({});
  Object.assign(items[Number(index)] ?? {}, { [member]: value });
}
