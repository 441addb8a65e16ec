/** The Postman collection: a request for each operation, with the example of the contract. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { parse } from 'yaml';
import { declaredOperations, type Declaration } from '../../src/contract/declarations.ts';
import { OpenApiDocument } from '../../src/contract/document.ts';
import { root } from '../system/service-process.ts';

/** Where the collection is. */
export const collectionFile = join(root, 'contract', 'postman.json');

/** What the login stores for the requests after it. */
const keepToken = [
  "if (pm.response.code === 200) pm.collectionVariables.set('token', pm.response.json().access_token);",
];

/** What a send and a charge store for the requests about the transaction. */
const keepTransaction = [
  'const { transaction_id } = pm.response.json();',
  "if (transaction_id) pm.collectionVariables.set('transactionId', transaction_id);",
];

/** What the start of an onboarding stores for its steps. */
const keepApplication = [
  "if (pm.response.code === 201) pm.collectionVariables.set('applicationId', pm.response.json().id);",
];

const scripts: Readonly<Record<string, readonly string[]>> = {
  login: keepToken,
  sendPix: keepTransaction,
  createCharge: keepTransaction,
  startOnboarding: keepApplication,
};

/** @returns the text of the collection, as it is committed. */
export function postmanCollection(): Promise<string> {
  const yaml = readFileSync(join(root, 'contract', 'openapi.yaml'), 'utf8');
  const contract = parse(yaml) as {
    info: { title: string; version: string };
    tags: { name: string; description: string }[];
  };
  const operations = declaredOperations(new OpenApiDocument(contract));
  const folders = contract.tags.map(({ name, description }) => ({
    name,
    description,
    item: operations.filter((one) => listTags(one).includes(name)).map(requestItem),
  }));
  const collection = {
    info: {
      name: `${contract.info.title} ${contract.info.version}`,
      description:
        'Log in first: the token, and the ids of what you create, are kept as variables.',
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{token}}', type: 'string' }] },
    variable: [
      { key: 'baseUrl', value: 'http://127.0.0.1:3000/api/v1' },
      { key: 'email', value: 'dev@ponte.test' },
      { key: 'password', value: 'ponte-dev-password' },
      ...['token', 'transactionId', 'applicationId'].map((key) => ({ key, value: '' })),
    ],
    item: folders,
  };
  return format(JSON.stringify(collection), { parser: 'json', printWidth: 100 });
}

function listTags({ operation }: Declaration): readonly unknown[] {
  return operation.value['tags'] as unknown[];
}

function requestItem(declared: Declaration): object {
  const { id, method, path, operation, parameters, body } = declared;
  const { summary, description, security } = operation.value;
  const named = (place: string) => parameters.filter((one) => one.in === place);
  const parts = path
    .slice(1)
    .replaceAll(/\{(\w+)\}/g, ':$1')
    .split('/');
  const variable = named('path').map(({ name, place }) => ({
    key: name,
    value: ['transactionId', 'applicationId'].includes(name) ? `{{${name}}}` : getExample(place),
  }));
  const query = named('query').map(({ name, place }) => ({
    key: name,
    value: getExample(place),
    disabled: true,
  }));
  const header = named('header').map(({ name, place, required }) => ({
    key: name,
    value: name === 'Idempotency-Key' ? '{{$guid}}' : getExample(place),
    disabled: !required,
  }));
  const exec = scripts[id];
  return {
    name: summary,
    ...(exec && { event: [{ listen: 'test', script: { type: 'text/javascript', exec } }] }),
    request: {
      method,
      description,
      ...(security !== undefined && { auth: { type: 'noauth' } }),
      header,
      url: {
        raw: `{{baseUrl}}/${parts.join('/')}`,
        host: ['{{baseUrl}}'],
        path: parts,
        ...(variable.length > 0 && { variable }),
        ...(query.length > 0 && { query }),
      },
      ...(body && { body: describeBody(id, body) }),
    },
  };
}

/** The example of a parameter, or of its schema. */
function getExample({ value }: { value: Readonly<Record<string, unknown>> }): string {
  const { example: inSchema } = (value['schema'] ?? {}) as { example?: string | number };
  return String((value['example'] as string | undefined) ?? inSchema ?? '');
}

function describeBody(id: string, { media, place }: NonNullable<Declaration['body']>): object {
  const { example, examples = {} } = place.value as {
    example?: unknown;
    examples?: Record<string, { value: unknown }>;
  };
  const credentials = { email: '{{email}}', password: '{{password}}' };
  const documented = example ?? Object.values(examples)[0]?.value ?? {};
  const shown = id === 'login' ? credentials : documented;
  if (media === 'application/json') {
    const options = { raw: { language: 'json' } };
    return { mode: 'raw', raw: JSON.stringify(shown, null, 2), options };
  }
  const fields = Object.entries(shown as Record<string, unknown>);
  const formdata = fields.map(([key, value]) =>
    key === 'arquivo'
      ? { key, type: 'file', src: '' }
      : { key, type: 'text', value: String(value) },
  );
  return { mode: 'formdata', formdata };
}
