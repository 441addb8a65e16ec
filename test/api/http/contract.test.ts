import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { readServedContract } from '../../../src/app/contract-file.ts';
import { compileValidators, type OperationContract } from '../../../src/contract/contract.ts';
import { parseContract, smallContract } from './small-contract.ts';

function small(id: string): OperationContract {
  const found = parseContract(smallContract).operations.find((operation) => operation.id === id);
  assert.ok(found);
  return found;
}

function changed(from: string, to: string): () => unknown {
  assert.ok(smallContract.includes(from), from);
  return () => compileValidators(parseContract(smallContract.replace(from, to)));
}

test('routes stand below the path of the first server', () => {
  assert.equal(small('getThing').path, '/api/v1/things/{thingId}');
  assert.equal(small('getThing').method, 'GET');
});

test('security says who may call', () => {
  assert.equal(small('createThing').access, 'token');
  assert.equal(small('readCode').access, 'public');
  assert.equal(small('receiveEvent').access, 'secret');
});

test('parameters are found by reference, on the path and on the operation', () => {
  const names = (id: string, where: 'pathParameters' | 'headerParameters'): string[] =>
    small(id)[where].parameters.map(({ name }) => name);
  assert.deepEqual(names('getThing', 'pathParameters'), ['thingId']);
  assert.deepEqual(names('createThing', 'headerParameters'), ['Idempotency-Key']);
});

test('formats refuse what the database would refuse', () => {
  const validate = (format: string, value: string): boolean => {
    const text = smallContract.replace('note, in: query, schema: { type: string }', (whole) =>
      whole.replace('string', `string, format: ${format}`),
    );
    const contract = parseContract(text).operations.find(({ id }) => id === 'createThing');
    return contract?.queryParameters.validate({ note: value }) ?? false;
  };
  assert.ok(validate('uuid', '3F0C1F8E-5d0b-4b5c-9a51-0f6f3c1f2a77'));
  assert.ok(!validate('uuid', 'urn:uuid:3f0c1f8e-5d0b-4b5c-9a51-0f6f3c1f2a77'));
  assert.ok(validate('date', '2024-02-29'));
  assert.ok(!validate('date', '2025-02-29'));
  assert.ok(!validate('date', '0000-01-01'));
  assert.ok(validate('date-time', '2026-05-24T15:30:00.000Z'));
  assert.ok(!validate('date-time', '2026-05-24 15:30:00Z'));
});

test('a contract that asks for what the service does not do is refused', () => {
  assert.throws(() => parseContract('just text'), /not an OpenAPI document/);
  assert.throws(changed('operationId: getThing', 'summary: x'), /has no operationId/);
  assert.throws(changed('security: [{ webhookSecret: [] }, {}]', 'security: [{ key: [] }]'), /key/);
  assert.throws(
    changed('security: [{ webhookSecret: [] }, {}]', 'security: [{ bearerAuth: [] }, {}]'),
    /optional token/,
  );
  assert.throws(changed('multipart/form-data:', 'text/plain:'), /unknown media type/);
  assert.throws(changed("'#/components/schemas/Note'", "'#/components/schemas/No'"), /resolve/);
  assert.throws(changed('responses/Message', 'responses/No'), /leads nowhere/);
  assert.throws(changed('schema: { type: boolean }', 'schema: { type: array }'), /simple type/);
  assert.throws(changed('format: binary', 'format: byte'), /exactly one file/);
  assert.throws(changed('required: [tipo_documento, arquivo]', 'required: []'), /exactly one file/);
  assert.throws(changed('x-max-body-bytes: 262144', 'x-max-body-bytes: 262145'), /x-max-body/);
  assert.throws(changed('x-max-decimals: 2', 'x-max-decimals: 3'), /x-max-decimals/);
  assert.throws(changed('x-format: cpf', 'x-format: rg'), /x-format/);
  assert.throws(changed('x-same-as: password', 'x-same-as: email'), /x-same-as/);
  assert.throws(changed('maxItems: 5', 'maximumItems: 5'), /unknown keyword/);
});

test('the service’s own contract loads, with every response', async () => {
  const text = await readFile(new URL('../../../contract/openapi.yaml', import.meta.url), 'utf8');
  const contract = await readServedContract();
  assert.equal(contract.bytes.toString(), text);
  compileValidators(contract);
  for (const { path } of contract.operations) assert.match(path, /^\/api\/v1\//);
});
