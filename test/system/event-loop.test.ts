/**
 * No request blocks the event loop: for every operation and every field, input up to the limits of
 * the contract is parsed, validated and refused in less than 20 ms.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseContract, readServedContract } from '../../src/app/contract-file.ts';
import { AppError } from '../../src/errors.ts';
import { jsonBody } from '../../src/http/body.ts';
import type { ParameterSet } from '../../src/contract/contract.ts';
import { ValidationErrors } from '../../src/contract/validation-errors.ts';
import { readInput } from '../../src/http/input.ts';
import { parseQuery, readParameters } from '../../src/http/parameters.ts';
import { errorReply } from '../../src/http/reply.ts';
import { heldMs, maxHeldMs } from '../support/held.ts';
import {
  bodyWith,
  documentedBody,
  listFields,
  findMaxLegalSize,
  resolver,
  shapes,
  unknownField,
  type Field,
} from '../api/http/hostile-bodies.ts';

type Json = Record<string, unknown>;

const document = (await parseContract()) as Json;
const contract = await readServedContract();
const resolve = resolver(document);

const maxResponseBytes = 16 * 1024;

/** The most errors that validation may collect for a body: a response names only 200 fields. */
const maxErrors = 250;

/** The length of a tested parameter; the whole head of a request may have 16 KiB. */
const headBytes = 15_000;

const withJson = contract.operations.flatMap((operation) =>
  operation.body?.media === 'json' ? [{ operation, body: operation.body }] : [],
);

const headers = { 'idempotency-key': 'k-1' };
const id = '3f0c1f8e-5d0b-4b5c-9a51-0f6f3c1f2a77';

const params = { applicationId: id, transactionId: id };

/** @returns the refusal, or null when the input is accepted. */
function catchRefusal(work: () => void): AppError | null {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

/** Asserts that neither the work nor the rendering of its refusal blocks the event loop. */
function assertShort(what: string, work: () => void): void {
  const ms = heldMs(() => {
    const refusal = catchRefusal(work);
    if (refusal === null) return;
    const { status, content } = errorReply(refusal, 'pt');
    assert.ok(status >= 400 && status < 500, `${what}: ${status}`);
    const size = Buffer.byteLength(content?.bytes ?? '');
    assert.ok(size <= maxResponseBytes, `${what}: a response of ${size} bytes`);
    const isNamed = status !== 422 || !String(content?.bytes).includes('"errors":{}');
    assert.ok(isNamed, `${what}: no field is named`);
  });
  assert.ok(ms < maxHeldMs, `${what}: ${ms.toFixed(1)} ms`);
}

for (const { operation, body } of withJson) {
  test(`no body of ${operation.id} holds the event loop`, () => {
    const { schema, example } = documentedBody(document, operation.id);
    const known = listFields(schema, resolve);
    const unknown = known.map(unknownField).filter((field) => field !== null);
    const measure = (field: Field, bytes: number): void => {
      for (const [name, shape] of Object.entries(shapes)) {
        const raw = bodyWith(example, field, { shape, bytes });
        assert.ok(raw.length <= body.maxBytes);
        const what = `${operation.id} ${field.path.join('.') || 'body'}: ${name}`;
        assertShort(what, () => {
          readInput(operation, { params, query: '', headers, body: jsonBody(body, raw) });
        });
        const errors = body.validate.errors?.length ?? 0;
        assert.ok(errors <= maxErrors, `${what}: ${errors} errors`);
      }
    };
    for (const field of [...known, ...unknown]) measure(field, body.maxBytes);
  });

  test(`the longest legal body of ${operation.id} fits`, () => {
    if (body.isStoredAsBytes) return;
    const { schema } = documentedBody(document, operation.id);
    assert.ok(findMaxLegalSize(schema, resolve) <= body.maxBytes);
  });
}

test('a body that is faulty everywhere names its fields, and no more than fit', () => {
  for (const { operation, body } of withJson) {
    const { schema } = documentedBody(document, operation.id);
    const [root, ...fields] = listFields(schema, resolve);
    const own = fields.filter(({ path }) => path.length === 1).map(({ path }) => String(path[0]));
    const unknown = Array.from({ length: 300 }, (_, n) => `"${'k'.repeat(30)}${n}":"\\u0000"`);
    const faulty = own.map((key) => `"${key}":["\\u0000"]`);
    const raw = Buffer.from(`{${[...faulty, ...unknown].join(',')}}`);
    const refusal = catchRefusal(() => {
      readInput(operation, { params, query: '', headers, body: jsonBody(body, raw) });
    });
    if (body.isStoredAsBytes) continue;
    assert.equal(root?.path.length, 0);
    assert.equal(refusal?.status, 422, operation.id);
    const { content } = errorReply(refusal, 'pt');
    const { errors } = JSON.parse(String(content?.bytes)) as { errors: Json };
    for (const key of own) assert.ok(Object.hasOwn(errors, `${key}.0`), `${operation.id} ${key}`);
    assert.ok(Object.keys(errors).length <= 200);
  }
});

function texts(bytes: number): [string, string][] {
  return Object.entries(shapes)
    .map(([name, shape]): [string, string] => [name, shape(bytes)])
    .filter(([, json]) => json.startsWith('"'))
    .map(([name, json]) => [name, JSON.parse(json) as string]);
}

/** Reads a set of parameters of which only this one is present, twice. */
function read(set: ParameterSet, name: string, value: string): void {
  const errors = new ValidationErrors();
  readParameters(set, (other) => (other === name ? [value, value] : undefined), errors);
  errors.throwIfAny();
}

for (const operation of contract.operations) {
  const { pathParameters, queryParameters, headerParameters, body } = operation;
  const sets: [ParameterSet, number][] = [
    ...[pathParameters, queryParameters, headerParameters].map((set): [ParameterSet, number] => [
      set,
      headBytes,
    ]),
    // The limit of a form field is 1 KiB.
    ...(body?.form ? [[body.form.fields, 1_024] as [ParameterSet, number]] : []),
  ];
  test(`no parameter of ${operation.id} holds the event loop`, () => {
    for (const [set, bytes] of sets) {
      for (const { name } of set.parameters) {
        for (const [shape, text] of texts(bytes)) {
          assertShort(`${operation.id} ${name}: ${shape}`, () => read(set, name, text));
        }
      }
    }
  });
}

test('no query holds the event loop', () => {
  for (const unit of ['&', 'a&', 'a=1&', 'limit=1&', '%20', '+', '=', 'a%00&', '%']) {
    const query = unit.repeat(headBytes / unit.length);
    assertShort(unit, () => void parseQuery(query, () => true));
  }
});
