/**
 * Turns a contract's schemas and operations into TypeScript types, with the table of routes that a
 * client needs beside them, and the contract itself into JSON, which a start reads sooner.
 *
 *     node contract/generate-types.ts
 *
 * reads contract/openapi.yaml and writes contract/types.ts and contract/openapi.generated.json, and
 * of contract/provider.yaml contract/provider-types.ts and contract/provider.generated.json. They
 * are committed; a test fails when one is not fresh. Only the parts of OpenAPI 3.1 that the
 * contracts use are understood; anything else throws, so that a new construct never turns silently
 * into `unknown`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { parse } from 'yaml';
import {
  declaredOperations,
  type Declaration,
  type DeclaredContent,
  type ParameterPlace,
} from '../src/contract/declarations.ts';
import { OpenApiDocument } from '../src/contract/document.ts';

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

/** The files generated from each contract, by the name of its YAML file. */
export const generated = {
  'openapi.yaml': { types: 'types.ts', json: 'openapi.generated.json' },
  'provider.yaml': { types: 'provider-types.ts', json: 'provider.generated.json' },
} as const;

/** The name of a contract's YAML. */
export type ContractName = keyof typeof generated;

/**
 * The text of the types of a contract.
 * @param parsed the parsed contract
 * @returns TypeScript source, formatted with the project's own settings
 * @throws Error when the contract uses a construct that this generator does not know
 */
export async function renderTypes(parsed: unknown, name: ContractName): Promise<string> {
  const document = new OpenApiDocument(parsed);
  const operations = declaredOperations(document);
  const schemas = document.find(document.root, 'components', 'schemas')?.value ?? {};
  const source = [
    `/**
      * The types of the contract's requests and replies, and the route of each operation.
      * Generated from contract/${name} by \`node contract/generate-types.ts\`; do not edit.
      */\n`,
    ...Object.entries(schemas).map(([key, schema]) => renderDeclaration(key, schema as Schema)),
    '/** The input and the replies of each operation, by operationId. */',
    `export interface Operations {\n${operations.map(operationEntry).join('\n')}\n}\n`,
    '/** The name of an operation of the contract. */',
    'export type OperationId = keyof Operations;\n',
    '/** Where each operation is found, below the server of the contract. */',
    `export const routes = {\n${operations.map(routeEntry).join('\n')}\n} as const;`,
  ].join('\n');
  return format(source, { ...(await resolveConfig(import.meta.filename)), parser: 'typescript' });
}

/** The text of a contract as JSON, whole. */
export async function renderJson(document: unknown): Promise<string> {
  const source = JSON.stringify(document);
  return format(source, { ...(await resolveConfig(import.meta.filename)), parser: 'json' });
}

/** One named schema as an interface, or as a type alias when it is no plain object. */
function renderDeclaration(name: string, schema: Schema): string {
  const text = renderType(schema);
  const isInterface = schema.type === 'object' && text.startsWith('{');
  const declaration = isInterface ? `interface ${name} ${text}` : `type ${name} = ${text};`;
  return `${renderDoc(schema.description)}export ${declaration}\n`;
}

function renderDoc(description: string | undefined): string {
  if (description === undefined) return '';
  const lines = description.trim().replaceAll('*/', '* /').split('\n');
  if (lines.length === 1) return `/** ${lines[0]} */\n`;
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;
}

/** A schema as a TypeScript type expression. */
function renderType(schema: Schema): string {
  if (schema.$ref !== undefined) return renderName(schema.$ref);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf) return schema.anyOf.map(renderType).join(' | ');
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
      return `(${isAnything(schema.items) ? 'unknown' : renderType(schema.items)})[]`;
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

/** @returns whether an array says nothing of its elements. */
function isAnything(items: Schema | undefined): items is undefined {
  return items === undefined || Object.keys(items).length === 0;
}

function objectType(schema: Schema): string {
  const additional = schema.additionalProperties;
  const rest = typeof additional === 'object' ? renderType(additional) : 'unknown';
  if (!schema.properties) return `Record<string, ${rest}>`;
  const members = Object.entries(schema.properties).map(([name, property]) =>
    member(name, renderType(property), schema.required?.includes(name) ?? false),
  );
  if (additional) members.push(`[name: string]: ${rest};`);
  return `{ ${members.join(' ')} }`;
}

/** One property. An optional one may also be undefined, for exactOptionalPropertyTypes. */
function member(name: string, type: string, required: boolean): string {
  const key = JSON.stringify(name);
  return required ? `${key}: ${type};` : `${key}?: ${type} | undefined;`;
}

function renderName(ref: string): string {
  const name = /^#\/components\/schemas\/(\w+)$/.exec(ref)?.[1];
  if (name === undefined) throw new Error(`not a reference to a schema: ${ref}`);
  return name;
}

/** The line of an operation in the table of routes, for clients. */
function routeEntry({ id, method, path }: Declaration): string {
  return `${id}: { method: '${method}', path: '${path}' },`;
}

/** The line of an operation in `Operations`. */
function operationEntry(declared: Declaration): string {
  const { id, operation, body } = declared;
  return `/** ${String(operation.value['summary'])}. */
    ${id}: {
      path: ${parametersType(declared, 'path')};
      query: ${parametersType(declared, 'query')};
      headers: ${parametersType(declared, 'header')};
      body: ${contentType(body)}${body?.required === false ? ' | undefined' : ''};
      replies: { ${repliesType(declared)} };
    };`;
}

function parametersType({ parameters }: Declaration, where: ParameterPlace): string {
  const members = parameters
    .filter((parameter) => parameter.in === where)
    .map(({ name, place, required }) =>
      member(name, renderType(place.value['schema'] as Schema), required),
    );
  return members.length === 0 ? 'Record<string, never>' : `{ ${members.join(' ')} }`;
}

/** The responses by status; `default` is left out, because no operation answers it on purpose. */
function repliesType({ replies }: Declaration): string {
  return replies
    .filter(({ status }) => status !== 'default')
    .map(({ status, content }) => `${status}: ${contentType(content)};`)
    .join(' ');
}

function contentType(content: DeclaredContent | null): string {
  return content === null ? 'undefined' : renderType(content.place.value['schema'] as Schema);
}

if (import.meta.main) {
  for (const [name, files] of Object.entries(generated)) {
    const contract: unknown = parse(readFileSync(new URL(name, import.meta.url), 'utf8'));
    const types = await renderTypes(contract, name as ContractName);
    writeFileSync(new URL(files.types, import.meta.url), types);
    writeFileSync(new URL(files.json, import.meta.url), await renderJson(contract));
  }
}
