/** The generated types are fresh, and the generator turns each construct into the right type. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import {
  generated,
  renderJson,
  type ContractName,
  type Schema,
  renderTypes,
} from '../../../contract/generate-types.ts';

const contractText = (name: string): string =>
  readFileSync(new URL(`../../../contract/${name}`, import.meta.url), 'utf8');

const renderSource = (document: object): Promise<string> => renderTypes(document, 'openapi.yaml');

/** The generated text for one schema, on one line. */
async function renderType(schema: Schema): Promise<string> {
  const source = await renderSource({ components: { schemas: { Example: schema } } });
  const [declaration = ''] = source.split('/** The input and the replies').slice(0, 1);
  return oneLine(declaration.slice(declaration.indexOf('*/') + 2));
}

/** The generated text for one operation, on one line. */
async function readOperation(parts: object, components: object = {}) {
  const operation = { operationId: 'example', summary: 'Example', responses: {}, ...parts };
  const source = await renderSource({ paths: { '/example': { post: operation } }, components });
  return oneLine(source.slice(source.indexOf('example:'), source.indexOf('/** The name')));
}

const oneLine = (source: string): string => source.replaceAll(/\s+/g, ' ').trim();

const json = (schema: Schema) => ({ 'application/json': { schema } });

for (const [name, files] of Object.entries(generated)) {
  test(`contract/${files.types} and ${files.json} are made from contract/${name}`, async () => {
    const document: unknown = parse(contractText(name));
    const stale = `the file is stale: run 'npm run contract:types'`;
    assert.ok(
      contractText(files.types) === (await renderTypes(document, name as ContractName)),
      stale,
    );
    assert.ok(contractText(files.json) === (await renderJson(document)), stale);
  });
}

test('a description becomes the docstring', async () => {
  const type = await renderType({ type: 'string', description: 'A word.' });
  assert.equal(type, '/** A word. */ export type Example = string;');
});

test('an object becomes an interface whose optional fields may be undefined', async () => {
  const properties = { a: { type: 'integer' }, 'b-c': { type: ['string', 'null'] } };
  const type = await renderType({ type: 'object', required: ['a'], properties });
  assert.equal(type, "export interface Example { a: number; 'b-c'?: string | null | undefined; }");
});

test('enums, nulls and references become unions of literals and names', async () => {
  assert.equal(
    await renderType({ type: ['string', 'null'], enum: ['A', null] }),
    "export type Example = 'A' | null;",
  );
  assert.equal(
    await renderType({ anyOf: [{ $ref: '#/components/schemas/Other' }, { type: 'null' }] }),
    'export type Example = Other | null;',
  );
});

test('free objects and arrays keep what is known of their values', async () => {
  const strings = { type: 'array', items: { type: 'string' } };
  assert.equal(
    await renderType({ type: 'object', additionalProperties: strings }),
    'export type Example = Record<string, string[]>;',
  );
  assert.equal(
    await renderType({ type: ['object', 'array'] }),
    'export type Example = Record<string, unknown> | unknown[];',
  );
  assert.equal(
    await renderType({ type: 'object', properties: {}, additionalProperties: true }),
    'export interface Example { [name: string]: unknown; }',
  );
});

test('a file is unknown', async () => {
  assert.equal(
    await renderType({ type: 'string', format: 'binary' }),
    'export type Example = unknown;',
  );
});

test('a construct that the generator does not know is refused', async () => {
  await assert.rejects(renderType({}), /untyped schema/);
  await assert.rejects(renderType({ type: 'date' }), /unknown schema type: date/);
  await assert.rejects(
    renderType({ $ref: '#/components/parameters/A' }),
    /not a reference to a schema/,
  );
});

test('an operation without input and body says so', async () => {
  assert.equal(
    await readOperation({ responses: { 204: {} } }),
    'example: { path: Record<string, never>; query: Record<string, never>; ' +
      'headers: Record<string, never>; body: undefined; replies: { 204: undefined }; }; }',
  );
});

test('parameters are typed by place and exact name, shared ones included', async () => {
  const parameters = [
    { name: 'days', in: 'query', schema: { type: 'integer' } },
    { $ref: '#/components/parameters/Key' },
  ];
  const Key = { name: 'Idempotency-Key', in: 'header', required: true, schema: { type: 'string' } };
  const type = await readOperation({ parameters }, { parameters: { Key } });
  assert.match(type, /query: \{ days\?: number \| undefined \}/);
  assert.match(type, /headers: \{ 'Idempotency-Key': string \}/);
});

test('an optional body may be undefined', async () => {
  const type = await readOperation({ requestBody: { content: json({ type: 'string' }) } });
  assert.match(type, /body: string \| undefined;/);
});

test('replies list every status but the default, shared ones included', async () => {
  const Gone = { content: json({ type: 'number' }) };
  const type = await readOperation(
    {
      responses: {
        200: { content: json({ type: 'string' }) },
        410: { $ref: '#/components/responses/Gone' },
        default: { content: json({ type: 'null' }) },
      },
    },
    { responses: { Gone } },
  );
  assert.match(type, /replies: \{ 200: string; 410: number \};/);
});

test('a reference that leads nowhere and a body of two media types are refused', async () => {
  await assert.rejects(
    readOperation({ responses: { 200: { $ref: '#/components/responses/None' } } }),
    /leads nowhere/,
  );
  const two = { ...json({ type: 'string' }), 'text/plain': { schema: { type: 'string' } } };
  await assert.rejects(
    readOperation({ responses: { 200: { content: two } } }),
    /several media types/,
  );
});
