/**
 * The contract says what is specified here: its paths, statuses, security and bodies. It is written
 * down a second time, so that nothing that an app relies on changes by accident.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { contractBreaches } from '../../../src/contract/reply-check.ts';
import { readServedContract } from '../../../src/app/contract-file.ts';

interface Schema {
  description?: string;
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  additionalProperties?: unknown;
}

interface Response {
  $ref?: string;
  description: string;
  headers?: Record<string, unknown>;
  content?: Record<string, { schema: Schema }>;
}

interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  tags: string[];
  security?: Record<string, string[]>[];
  parameters?: { $ref?: string; name?: string; description?: string }[];
  requestBody?: {
    required?: boolean;
    description?: string;
    content: Record<string, unknown>;
    'x-max-body-bytes'?: number;
  };
  responses: Record<string, Response>;
  'x-throttle'?: string;
  'x-throttle-user'?: boolean;
  'x-strict-query'?: boolean;
}

interface Contract {
  info: { version: string; license: { name: string } };
  security: Record<string, string[]>[];
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, Response>; schemas: Record<string, Schema> };
}

const contract = parse(
  readFileSync(new URL('../../../contract/openapi.yaml', import.meta.url), 'utf8'),
) as Contract;

type Access = 'public' | 'token' | 'secret';

/** The promise to the app: method and path, operation, access, statuses. */
const specified: Record<string, [operationId: string, access: Access, statuses: string]> = {
  'post /auth/login': ['login', 'public', '200 422 502'],
  'post /auth/logout': ['logout', 'token', '200 401'],
  'get /accounts/me': ['getMe', 'token', '200 401'],
  'get /accounts/balance': ['getBalance', 'token', '200 401 404'],
  'get /accounts/statement': ['getStatement', 'token', '200 401'],
  'post /accounts/pf': ['registerPf', 'public', '201 422'],
  'post /accounts/pj': ['registerPj', 'public', '501'],
  'post /pix/send': ['sendPix', 'token', '200 401 422 501 502'],
  'post /pix/send/cancel': ['cancelPix', 'token', '200 401 422'],
  'post /pix/decode': ['decodePixCode', 'token', '200 401 422'],
  'post /pix/lookup': ['lookUpPixKey', 'token', '200 401 422 502'],
  'post /pix/charge': ['createCharge', 'token', '200 401 422 502'],
  'get /pix': ['listPixTransactions', 'token', '200 401 422'],
  'get /pix/{transactionId}': ['getPixTransaction', 'token', '200 401 404'],
  'get /pix/{transactionId}/receipt': ['getPixReceipt', 'token', '200 401 404'],
  'post /pix/{transactionId}/dispute': ['openDispute', 'token', '200 401 404 422 501 502'],
  'get /pix/{transactionId}/dispute': ['getDispute', 'token', '200 401 404 501'],
  'delete /pix/{transactionId}/dispute': ['withdrawDispute', 'token', '200 401 404 422 501 502'],
  'post /pix/{transactionId}/refund': ['refundPix', 'token', '200 401 404 422 501 502'],
  'post /pix/{transactionId}/refund/cancel': ['cancelRefund', 'token', '200 401 404 422'],
  'get /pix/limits': ['getPixLimits', 'token', '200 401'],
  'put /pix/limits': ['setPixLimits', 'token', '200 401 422'],
  'get /pix/keys': ['listPixKeys', 'token', '200 401 502'],
  'post /pix/keys': ['createPixKey', 'token', '201 401 422 502'],
  'delete /pix/keys': ['deletePixKey', 'token', '200 401 422 502'],
  'post /onboarding/pf': ['startOnboarding', 'public', '201 422'],
  'get /onboarding/cep/{cep}': ['lookUpCep', 'public', '200 502'],
  'get /onboarding/{applicationId}': ['getOnboarding', 'public', '200 404'],
  'post /onboarding/{applicationId}/address': ['submitAddress', 'public', '201 422'],
  'post /onboarding/{applicationId}/documents': ['submitDocument', 'public', '201 422'],
  'post /onboarding/{applicationId}/proposal': ['submitProposal', 'public', '202'],
  'post /onboarding/{applicationId}/electronic-validation': [
    'requestElectronicValidation',
    'public',
    '202',
  ],
  'post /onboarding/{applicationId}/electronic-validation/confirm': [
    'confirmElectronicValidation',
    'public',
    '202',
  ],
  'post /onboarding/{applicationId}/prova-vida': ['startProvaVida', 'public', '202'],
  'get /onboarding/{applicationId}/kyc': ['getKyc', 'public', '200'],
  'post /onboarding/{applicationId}/sync': ['syncOnboarding', 'public', '202'],
  'post /webhooks/provider': ['receiveProviderWebhook', 'secret', '200'],
};

/** The statuses that the service adds to them; 503 and `default` are everywhere. */
const added: Record<string, string> = {
  login: '400 413 415 429',
  logout: '429',
  getMe: '429',
  getBalance: '429',
  getStatement: '422 429',
  registerPf: '400 413 415 429',
  registerPj: '400 413 415 429',
  sendPix: '400 413 415 429',
  cancelPix: '429',
  createCharge: '400 413 415 429',
  decodePixCode: '400 413 415 429',
  lookUpPixKey: '400 413 415 429',
  listPixTransactions: '429',
  getPixTransaction: '304 429',
  getPixReceipt: '429',
  openDispute: '400 413 415 429',
  getDispute: '422 429',
  withdrawDispute: '429',
  refundPix: '400 413 415 429',
  cancelRefund: '429',
  getPixLimits: '422 429',
  setPixLimits: '400 413 415 429',
  listPixKeys: '422 429',
  createPixKey: '400 413 415 429',
  deletePixKey: '400 413 415 429',
  startOnboarding: '400 413 415 429',
  lookUpCep: '422 429',
  getOnboarding: '429',
  submitAddress: '400 404 413 415 429',
  submitDocument: '400 404 413 415 429',
  submitProposal: '400 404 413 415 422 429',
  requestElectronicValidation: '400 404 413 415 422 429',
  confirmElectronicValidation: '400 404 413 415 422 429',
  startProvaVida: '404 422 429 502',
  getKyc: '404 429',
  syncOnboarding: '404 422 429',
  receiveProviderWebhook: '400 401 413 415 422 429',
};

/** The fields of each schema of a reply; `?` nullable, `~` may be absent, `…` others. */
const replyFields: Record<string, string> = {
  LoginReply: 'access_token token_type expires_in',
  Message: 'message',
  ValidationError: 'message transaction_id~ errors',
  CodedError: 'code message transaction_id~',
  NotImplementedError: 'code message',
  NotAvailableError: 'code message',
  User: 'id name email document? person_type?',
  Account:
    'id provider agency? account_number? status bank provider_company_id? provider_client_token?',
  Me: 'user account?',
  Balance: 'balance blocked~ source',
  Statement: 'items',
  StatementItem:
    'id type amount status pix_key? provider_txid? created_at payer~ payee~ description~ end_to_end~',
  StatementRefund:
    'id type amount status original_transaction_id return_id provider_txid? created_at payer~ ' +
    'payee~ description~ end_to_end~',
  PixTransaction: 'transaction_id status failure~ detail~ end_to_end~',
  PixRefund: 'transaction_id status failure~ detail~ return_id~',
  Charge: 'transaction_id status failure~ qr_code~ copy_paste~ expires_at~',
  DecodedPixCode:
    'kind one_time purpose~ url~ pix_key~ key_type~ pix_key_type~ state~ payee~ amount~ ' +
    'amount_changeable~ minimum_amount~ maximum_amount~ original_amount~ discount~ interest~ ' +
    'fine~ due_date~ charge_expires_at~ lookup_id~ expires_at~ unread~ payee_name payee_city ' +
    'description~ txid~',
  PixPayee: 'name~ document~ bank~ institution~',
  PixKeyOwner:
    'pix_key key_type~ pix_key_type~ ambiguous~ name~ document~ bank~ institution~ lookup_id ' +
    'expires_at',
  PixTransactionView:
    'transaction_id status failure~ detail~ qr_code~ copy_paste~ expires_at~ corrected_at~ ' +
    'paid_again_by~ overruled_at~',
  PixPage: 'items next_cursor~',
  PixListItem:
    'transaction_id type amount status failure~ detail~ created_at qr_code~ copy_paste~ ' +
    'expires_at~ corrected_at~ paid_again_by~ overruled_at~ payer~ payee~ description~ ' +
    'end_to_end~ return_id~ ' +
    'original_transaction_id~',
  PixReceipt:
    'transaction_id type status amount currency created_at settled_at~ corrected_at~ ' +
    'paid_again_by~ overruled_at~ expires_at~ end_to_end~ return_id~ original_transaction_id~ ' +
    'refunded_amount~ description~ payer~ payee~ failure~ issued_at',
  PixReceiptParty: 'name~ document~ bank~ institution~ key~',
  PixBank: 'ispb name? document~',
  PixReceiptInstitution: 'ispb',
  PixReceiptFailure: 'code message',
  PixLimits: 'period day night companies own_document night_from pending_night_from~',
  PixLimitsOfPayees: 'day night',
  PixLimit: 'limit? left? own? maximum? renews_at pending_own~ pending_maximum~',
  PendingPixLimit: 'amount? applies_at',
  PixDispute:
    'transaction_id status situation~ requested_at opened_at~ withdrawal_requested_at~ ' +
    'ended_at~ refunded_amount~',
  PixKeysReply: 'data',
  RegisterPfReply: 'user_id account_id? onboarding_id pessoa_fisica_id? message onboarding',
  OnboardingApplication:
    'id user_id person_type status name email document phone provider prova_vida kyc_status? ' +
    'conta_bancaria_criada steps',
  OnboardingStep: 'name status attempts updated_at? error?',
  CepReply: 'cep',
  CepAddress: 'cep?~ logradouro?~ bairro?~ cidade?~ estado?~ …',
  ProvaVidaReply: 'application url_iframe',
  KycReply: 'application',
  StepAccepted: 'message application',
  WebhookReceipt: 'message event_id duplicate',
};

const methods = ['get', 'post', 'put', 'patch', 'delete'];

const operations = Object.entries(contract.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([method]) => methods.includes(method))
    .map(([method, operation]) => ({ route: `${method} ${path}`, operation })),
);

function resolved(response: Response): Response {
  const name = response.$ref?.replace('#/components/responses/', '');
  const found = name === undefined ? response : contract.components.responses[name];
  assert.ok(found, `no response ${name}`);
  return found;
}

function findSchemaName(response: Response): string | undefined {
  const schema = resolved(response).content?.['application/json']?.schema;
  return schema?.$ref?.replace('#/components/schemas/', '');
}

function isNullable(schema: Schema): boolean {
  return schema.anyOf?.some(isNullable) ?? [schema.type].flat().includes('null');
}

/** Writes the fields of a schema in the notation of {@link replyFields}. */
function listFields(schema: Schema): string {
  const listed = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const absent = schema.required?.includes(name) ? '' : '~';
    return name + (isNullable(field) ? '?' : '') + absent;
  });
  return [...listed, ...(schema.additionalProperties === undefined ? [] : ['…'])].join(' ');
}

test('the contract is version 1.3.0 under Apache-2.0', () => {
  assert.equal(contract.info.version, '1.3.0');
  assert.equal(contract.info.license.name, 'Apache-2.0');
});

test('the contract has the operations that are specified, and no others', () => {
  const found = operations.map(({ route, operation }) => `${route}: ${operation.operationId}`);
  const wanted = Object.entries(specified).map(([route, [id]]) => `${route}: ${id}`);
  assert.deepEqual(found.sort(), wanted.sort());
});

/** The schemas with an `enum`, wherever they stand, each with its place. */
function enumsIn(node: unknown, place = ''): { place: string; schema: Schema }[] {
  if (node === null || typeof node !== 'object' || place.endsWith('/example')) return [];
  const inside = Object.entries(node).flatMap(([key, value]) => enumsIn(value, `${place}/${key}`));
  return Array.isArray((node as Schema).enum) ? [{ place, schema: node }, ...inside] : inside;
}

test('an enum has no null and nothing but a type beside it, which generators read differently', () => {
  const enums = enumsIn(contract);
  assert.ok(enums.length > 25, 'the enums are found');
  for (const { place, schema } of enums) {
    const { description: _text, enum: values, ...others } = schema;
    const types = values?.map((value) => (Number.isInteger(value) ? 'integer' : typeof value));
    assert.deepEqual(
      types?.filter((type) => type !== schema.type),
      [],
      place,
    );
    assert.deepEqual(Object.keys(others), ['type'], place);
  }
});

test('every body of JSON has its own limit', () => {
  const bodies = operations.flatMap(({ operation }) => operation.requestBody ?? []);
  const json = bodies.filter(({ content }) => 'application/json' in content);
  assert.ok(json.length > 10, 'the bodies are found');
  for (const body of json) assert.ok(body['x-max-body-bytes'], JSON.stringify(body));
  const larger = operations
    .map(({ operation: { operationId, requestBody } }) => [
      operationId,
      (requestBody?.['x-max-body-bytes'] ?? 0) / 1_024,
    ])
    .filter(([, kib]) => Number(kib) > 16);
  assert.deepEqual(Object.fromEntries(larger), { createCharge: 64, receiveProviderWebhook: 256 });
});

for (const { route, operation } of operations) {
  const [id, access, statuses] = specified[route] ?? [operation.operationId, 'token', ''];

  test(`${id} answers the statuses that are specified and those that the service adds`, () => {
    const wanted = `${statuses} ${added[id] ?? ''} 503 default`.trim().split(/\s+/);
    assert.deepEqual(Object.keys(operation.responses).sort(), wanted.sort());
  });

  test(`${id} is ${access === 'public' ? 'public' : `protected by the ${access}`}`, () => {
    const wanted = {
      public: [],
      token: [{ bearerAuth: [] }],
      secret: [{ webhookSecret: [] }, {}],
    }[access];
    assert.deepEqual(operation.security ?? contract.security, wanted);
  });

  test(`${id} is explained`, () => {
    assert.ok(operation.summary && operation.description, 'summary and description');
    const tags = contract.tags.filter((tag) => tag.description).map((tag) => tag.name);
    assert.equal(operation.tags.length, 1);
    assert.ok(tags.includes(operation.tags[0] ?? ''), 'a described tag');
    for (const parameter of operation.parameters ?? []) {
      assert.ok(parameter.$ref ?? parameter.description, `${parameter.name} is described`);
    }
    if (operation.requestBody) assert.ok(operation.requestBody.description, 'the body');
    for (const response of Object.values(operation.responses)) {
      assert.ok(resolved(response).description, 'each response');
    }
  });

  test(`${id} answers errors with the bodies that are specified`, () => {
    const special: Record<string, string> = {
      422: 'ValidationError',
      501: id === 'registerPj' ? 'NotImplementedError' : 'NotAvailableError',
      502: 'CodedError',
    };
    for (const [status, response] of Object.entries(operation.responses)) {
      if (/^[23]/.test(status)) continue;
      const isOffered = status === '501' && id !== 'registerPj';
      const name = isOffered ? 'NotAvailableError' : special[status];
      assert.equal(findSchemaName(response), name ?? 'Message', status);
    }
  });

  test(`${id} names its headers`, () => {
    for (const [status, response] of Object.entries(operation.responses)) {
      const headers = Object.keys(resolved(response).headers ?? {});
      assert.ok(headers.includes('X-Request-Id'), `${status} has X-Request-Id`);
      // A call about a dispute that the provider puts off is repeated later.
      const ofProvider = status === '502' && !id.endsWith('Dispute');
      const waits = status === '429' || status === '503' || ofProvider;
      assert.equal(headers.includes('Retry-After'), waits, `${status} and Retry-After`);
    }
  });
}

test('login, registrations, documents and CEPs are throttled by address, nothing else is', () => {
  const throttled = operations
    .filter(({ operation }) => operation['x-throttle'] !== undefined)
    .map(({ operation }) => [operation.operationId, operation['x-throttle']]);
  assert.deepEqual(Object.fromEntries(throttled), {
    login: 'login',
    lookUpCep: 'cep',
    registerPf: 'registration',
    registerPj: 'registration',
    startOnboarding: 'registration',
    submitDocument: 'document',
  });
});

test('sends, returns, cancellations, charges, look-ups, lists, statements, PIX keys, disputes: throttled by user', () => {
  const throttled = operations
    .filter(({ operation }) => operation['x-throttle-user'] === true)
    .map(({ operation }) => operation.operationId);
  assert.deepEqual(throttled.sort(), [
    'cancelPix',
    'cancelRefund',
    'createCharge',
    'createPixKey',
    'deletePixKey',
    'getPixLimits',
    'getStatement',
    'listPixKeys',
    'listPixTransactions',
    'lookUpPixKey',
    'openDispute',
    'refundPix',
    'sendPix',
    'setPixLimits',
    'withdrawDispute',
  ]);
});

const released = (name: string) =>
  readFileSync(new URL(`../../../contract/released/${name}`, import.meta.url), 'utf8');

test('only operations that 1.0.0 does not have refuse unknown query parameters', () => {
  const { paths } = parse(released('openapi-1.0.0.yaml')) as Contract;
  const promised = Object.values(paths).flatMap((item) =>
    Object.values(item).map(({ operationId }) => operationId),
  );
  const strict = operations
    .filter(({ operation }) => operation['x-strict-query'] === true)
    .map(({ operation }) => operation.operationId);
  assert.deepEqual(strict.sort(), [
    'cancelPix',
    'cancelRefund',
    'decodePixCode',
    'getDispute',
    'getPixLimits',
    'listPixTransactions',
    'lookUpPixKey',
    'openDispute',
    'refundPix',
    'setPixLimits',
    'withdrawDispute',
  ]);
  assert.deepEqual(
    strict.filter((id) => promised.includes(id)),
    [],
  );
});

test('no schema of the contract is closed: a client that checks it takes new fields', () => {
  assert.ok(!JSON.stringify(contract).includes('"additionalProperties":false'));
});

test('the service checks its own responses against the closed schemas', async () => {
  const served = await readServedContract();
  const getMe = served.operations.find(({ id }) => id === 'getMe');
  const body = { user: null, account: null, added: 1 };
  assert.ok(getMe);
  assert.deepEqual(contractBreaches(getMe, { status: 200, body }), [
    'added (additionalProperties)',
    'user (type)',
  ]);
});

for (const id of ['sendPix', 'refundPix', 'cancelPix', 'cancelRefund']) {
  test(`every response of ${id} carries Pix-Outcome`, () => {
    const send = operations.find(({ operation }) => operation.operationId === id)?.operation;
    const listed = Object.entries(send?.responses ?? {}).filter(([status]) => status !== 'default');
    assert.ok(listed.length >= 5);
    for (const [status, response] of listed) {
      assert.ok(resolved(response).headers?.['Pix-Outcome'], status);
    }
  });
}

/** Collects the names of the schemas that a schema refers to. */
function collectSchemas(part: unknown, names: Set<string>): void {
  if (typeof part !== 'object' || part === null) return;
  for (const [key, value] of Object.entries(part)) {
    const name = key === '$ref' ? String(value).replace('#/components/schemas/', '') : null;
    if (name === null) collectSchemas(value, names);
    else if (!names.has(name)) collectSchemas(contract.components.schemas[name], names.add(name));
  }
}

test('every body of a reply is a schema whose fields are listed here', () => {
  const names = new Set<string>();
  for (const { operation } of operations) {
    for (const [status, response] of Object.entries(operation.responses)) {
      const { schema } = resolved(response).content?.['application/json'] ?? {};
      const where = `${operation.operationId} ${status}`;
      assert.ok(schema === undefined || schema.$ref, `${where} has an unnamed schema`);
      collectSchemas(schema, names);
    }
  }
  const objects = [...names].filter((name) => contract.components.schemas[name]?.properties);
  assert.deepEqual(objects.sort(), Object.keys(replyFields).sort());
});

test('the replies have the fields that are specified', () => {
  for (const [name, fields] of Object.entries(replyFields)) {
    const schema = contract.components.schemas[name];
    assert.ok(schema, name);
    assert.equal(listFields(schema), fields, name);
  }
});

test('the catalogue of provider errors is the published one', () => {
  assert.deepEqual(contract.components.schemas['ProviderErrorCode']?.enum, [
    'PROVIDER_UNAVAILABLE',
    'PROVIDER_TIMEOUT',
    'PROVIDER_REJECTED',
    'PIX_KEY_NOT_FOUND',
    'PIX_KEY_LIMIT',
    'PIX_KEY_TAKEN',
    'INSUFFICIENT_FUNDS',
    'PROVIDER_RATE_LIMITED',
    'PROVIDER_INVALID_RESPONSE',
  ]);
});

for (const [name, schema] of Object.entries(contract.components.schemas)) {
  test(`every field of ${name} is explained, and none has a default for generated code`, () => {
    for (const [field, property] of Object.entries(schema.properties ?? {})) {
      assert.ok(property.$ref ?? property.description, field);
      assert.ok(!('default' in property), `${field}: say in words what is assumed`);
    }
  });
}
