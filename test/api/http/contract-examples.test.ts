/** The examples of the contract have the fields that real responses have. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { giveAll, newPerson, register } from '../onboarding/applicants.ts';
import { startPixApp } from '../pix/pix-app.ts';
import { givenCustomer } from '../../support/factories.ts';
import type { TestResponse } from '../../support/app.ts';

interface Content {
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}
interface Documented {
  responses: Record<string, { content?: Record<string, Content> }>;
}

const { paths } = parse(
  readFileSync(new URL('../../../contract/openapi.yaml', import.meta.url), 'utf8'),
) as { paths: Record<string, Record<string, Documented>> };

const app = await startPixApp({ environment: { STUB_SETTLE_MS: '1' } });

/** The fields of a value, with those of its items, as paths; the schemas hold their types. */
function fieldsIn(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => fieldsIn(item, `${path}[]`));
  if (value === null || typeof value !== 'object') return [path];
  return Object.entries(value).flatMap(([name, inner]) => fieldsIn(inner, `${path}.${name}`));
}

/** Holds a response against the examples of its operation and status: one has the same fields. */
function assertExample(operation: string, { status, body }: TestResponse): void {
  const [method = '', path = ''] = operation.split(' ');
  const content = paths[path]?.[method.toLowerCase()]?.responses[String(status)]?.content;
  const { example, examples = {} } = content?.['application/json'] ?? {};
  const shown = [example, ...Object.values(examples).map(({ value }) => value)].filter(Boolean);
  const listFields = (value: unknown) => [...new Set(fieldsIn(value))].toSorted();
  const real = listFields(body);
  const isShown = shown.some((one) => listFields(one).join() === real.join());
  if (!isShown) assert.deepEqual(shown.map(listFields), [real], `${operation} ${status}`);
}

test('the examples of the account, of payments and of charges are like real responses', async () => {
  const customer = await givenCustomer(app);
  const { token } = customer;
  const authorized = { token };
  assertExample('GET /accounts/me', await app.call('/accounts/me', authorized));
  assertExample('GET /accounts/balance', await app.call('/accounts/balance', authorized));
  const payment = { pix_key: 'bruno@example.com', amount: 10, description: 'Rent' };
  const sent = await app.send(customer, payment);
  assertExample('POST /pix/send', sent);
  const id = String(sent.body.transaction_id);
  await app.clock.advance(1_000);
  await app.settled(id);
  assertExample('GET /pix/{transactionId}', await app.call(`/pix/${id}`, authorized));
  assertExample(
    'GET /pix/{transactionId}/receipt',
    await app.call(`/pix/${id}/receipt`, authorized),
  );
  const charge = await app.call('/pix/charge', {
    ...authorized,
    key: 'charge',
    body: { type: 'dynamic', amount: 20 },
  });
  assertExample('POST /pix/charge', charge);
  const lookUp = { ...authorized, body: { pix_key: 'bruno@example.com' } };
  assertExample('POST /pix/lookup', await app.call('/pix/lookup', lookUp));
  const event = { body: { event: 'PIX_PAYMENT', endToEnd: 'E1', status: 'CONFIRMED' } };
  assertExample('POST /webhooks/provider', await app.call('/webhooks/provider', event));
  const logout = await app.call('/auth/logout', { ...authorized, method: 'POST' });
  assertExample('POST /auth/logout', logout);
});

test('the examples of an onboarding are like real responses', async () => {
  const started = await app.call('/onboarding/pf', { body: newPerson() });
  assertExample('POST /onboarding/pf', started);
  assertExample('GET /onboarding/cep/{cep}', await app.call('/onboarding/cep/01310100'));
  const { id } = await register(app);
  await giveAll(app, id);
  assertExample('GET /onboarding/{applicationId}', await app.call(`/onboarding/${id}`));
});
