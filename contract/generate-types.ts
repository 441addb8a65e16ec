/**
 * Turns the contract's schemas and operations into TypeScript types, with the table of routes that
 * a client needs beside them, and the contract itself into JSON, which a start reads sooner.
 *
 *     node contract/generate-types.ts
 *
 * reads contract/openapi.yaml and writes contract/types.ts and contract/openapi.generated.json,
 * which are committed; a test fails when one is not fresh. Only the parts of OpenAPI 3.1 that the
 * contract uses are understood; anything else throws, so that a new construct never turns silently
 * into `unknown`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { parse } from 'yaml';

/** A reference to a part of the same document, such as `#/components/schemas/Message`. */
export interface Reference {
  $ref: string;
}

/** The keywords of JSON Schema that decide a type; all others only narrow it. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  enum?: (string | number | boolean | null)[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  format?: string;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: Schema;
}

type Content = Record<string, { schema: Schema }>;

export interface Operation {
  operationId: string;
  summary: string;
  parameters?: (Parameter | Reference)[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { content?: Content } | Reference>;
}

export interface PathItem extends Partial<Record<Method, Operation>> {
  parameters?: (Parameter | Reference)[];
}

/** The contract, as far as types come from it. */
export interface Contract {
  paths: Record<string, PathItem>;
  components: { schemas: Record<string, Schema>; [section: string]: Record<string, unknown> };
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
type Method = (typeof methods)[number];

const header = `/**
 * The types of the contract's requests and answers, and where each operation is found.
 * Made from contract/openapi.yaml by \`node contract/generate-types.ts\`; do not edit.
 */
`;

/**
 * The text of contract/types.ts for a contract.
 * @param document the parsed contract
 * @returns TypeScript source, formatted with the project's own settings
 * @throws Error when the contract uses a construct that this generator does not know
 */
export async function typesOf(document: Contract): Promise<string> {
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) =>
    declarationOf(name, schema),
  );
  const operations = operationsOf(document).map(({ operation, shared }) =>
    operationEntry(document, operation, shared),
  );
  const source = [
    header,
    ...schemas,
    '/** The input and the replies of each operation, by operationId. */',
    `export interface Operations {\n${operations.join('\n')}\n}\n`,
    '/** The name of an operation of the contract. */',
    'export type OperationId = keyof Operations;\n',
    '/** Where each operation is found, below the server of the contract. */',
    `export const routes = {\n${routesOf(document).join('\n')}\n} as const;`,
  ].join('\n');
  return format(source, { ...(await resolveConfig(typesPath)), parser: 'typescript' });
}

/** The text of contract/openapi.generated.json for a contract, whole. */
export async function jsonOf(document: unknown): Promise<string> {
  const source = JSON.stringify(document);
  return format(source, { ...(await resolveConfig(jsonPath)), parser: 'json' });
}

/** One named schema as an interface, or as a type alias when it is no plain object. */
function declarationOf(name: string, schema: Schema): string {
  const text = typeOf(schema);
  const isInterface = schema.type === 'object' && text.startsWith('{');
  const declaration = isInterface ? `interface ${name} ${text}` : `type ${name} = ${text};`;
  return `${docOf(schema.description)}export ${declaration}\n`;
}

function docOf(description: string | undefined): string {
  if (description === undefined) return '';
  const lines = description.trim().replaceAll('*/', '* /').split('\n');
  if (lines.length === 1) return `/** ${lines[0]} */\n`;
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;
}

/** A schema as a TypeScript type expression. */
function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ');
  if (schema.format === 'binary') return 'unknown';
  if (schema.type === undefined) throw new Error(`untyped schema: ${JSON.stringify(schema)}`);
  return [schema.type]
    .flat()
    .map((type) => typeOfOne(type, schema))
    .join(' | ');
}

function typeOfOne(type: string, schema: Schema): string {
  switch (type) {
    case 'object':
      return objectType(schema);
    case 'array':
      return `(${schema.items ? typeOf(schema.items) : 'unknown'})[]`;
    case 'integer':
      return 'number';
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return type;
    default:
      throw new Error(`unknown schema type: ${type}`);
  }
}

function objectType(schema: Schema): string {
  const additional = schema.additionalProperties;
  const rest = typeof additional === 'object' ? typeOf(additional) : 'unknown';
  if (!schema.properties) return `Record<string, ${rest}>`;
  const members = Object.entries(schema.properties).map(([name, property]) =>
    member(name, typeOf(property), schema.required?.includes(name) ?? false),
  );
  if (additional) members.push(`[name: string]: ${rest};`);
  return `{ ${members.join(' ')} }`;
}

/** One property. An optional one may also be undefined, for exactOptionalPropertyTypes. */
function member(name: string, type: string, required: boolean): string {
  const key = JSON.stringify(name);
  return required ? `${key}: ${type};` : `${key}?: ${type} | undefined;`;
}

function nameOf(ref: string): string {
  const name = /^#\/components\/schemas\/(\w+)$/.exec(ref)?.[1];
  if (name === undefined) throw new Error(`not a reference to a schema: ${ref}`);
  return name;
}

/** The line of each operation in the table of routes, for clients. */
function routesOf(document: Contract): string[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      if (!operation) return [];
      return `${operation.operationId}: { method: '${method.toUpperCase()}', path: '${path}' },`;
    }),
  );
}

interface OperationInPath {
  operation: Operation;
  /** The parameters that the path gives to all of its operations. */
  shared: (Parameter | Reference)[];
}

function operationsOf(document: Contract): OperationInPath[] {
  return Object.values(document.paths).flatMap((item) =>
    methods.flatMap((method) => {
      const operation = item[method];
      return operation ? [{ operation, shared: item.parameters ?? [] }] : [];
    }),
  );
}

/** One line of the table `Operations`. */
function operationEntry(
  document: Contract,
  operation: Operation,
  shared: (Parameter | Reference)[],
): string {
  const parameters = [...shared, ...(operation.parameters ?? [])].map((parameter) =>
    resolve<Parameter>(document, parameter),
  );
  return `/** ${operation.summary}. */
    ${operation.operationId}: {
      path: ${parametersType(parameters, 'path')};
      query: ${parametersType(parameters, 'query')};
      headers: ${parametersType(parameters, 'header')};
      body: ${bodyType(operation)};
      replies: { ${replies(document, operation)} };
    };`;
}

function parametersType(parameters: Parameter[], place: Parameter['in']): string {
  const members = parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name, schema, required }) => member(name, typeOf(schema), required ?? false));
  return members.length === 0 ? 'Record<string, never>' : `{ ${members.join(' ')} }`;
}

function bodyType({ requestBody }: Operation): string {
  if (!requestBody) return 'undefined';
  const type = contentType(requestBody.content);
  return requestBody.required ? type : `${type} | undefined`;
}

/** The answers by status; `default` is left out, because no operation answers it on purpose. */
function replies(document: Contract, operation: Operation): string {
  return Object.entries(operation.responses)
    .filter(([status]) => status !== 'default')
    .map(([status, response]) => {
      const { content } = resolve<{ content?: Content }>(document, response);
      return `${status}: ${content ? contentType(content) : 'undefined'};`;
    })
    .join(' ');
}

/** The type of a body; every body of the contract has exactly one media type. */
function contentType(content: Content): string {
  const [media, ...others] = Object.values(content);
  if (!media || others.length > 0) throw new Error('a body needs exactly one media type');
  return typeOf(media.schema);
}

/** The thing itself, or what the reference to it points to. */
function resolve<T extends object>(document: Contract, value: T | Reference): T {
  if (!('$ref' in value)) return value;
  const [, section = '', name = ''] = /^#\/components\/(\w+)\/(\w+)$/.exec(value.$ref) ?? [];
  const found = document.components[section]?.[name];
  if (found === undefined) throw new Error(`reference to nothing: ${value.$ref}`);
  return found as T;
}

const typesPath = fileURLToPath(new URL('types.ts', import.meta.url));
const jsonPath = fileURLToPath(new URL('openapi.generated.json', import.meta.url));

if (import.meta.main) {
  const text = readFileSync(new URL('openapi.yaml', import.meta.url), 'utf8');
  const contract = parse(text) as Contract;
  writeFileSync(typesPath, await typesOf(contract));
  writeFileSync(jsonPath, await jsonOf(contract));
}
