/** The contract's schemas hold the limits of each field, and its examples meet its schemas. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { validationMessage } from '../../../src/contract/validation-messages.ts';
import { closedReplies } from '../../../src/contract/closed-replies.ts';
import { createSchemaCompiler } from '../../../src/contract/schemas.ts';

interface Media {
  schema: { $ref?: string };
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

type Json = Record<string, unknown>;

const contract = parse(
  readFileSync(new URL('../../../contract/openapi.yaml', import.meta.url), 'utf8'),
) as Json;

/** The validator of the service itself: what it lets pass here, it lets pass there. */
const published = createSchemaCompiler(contract);

/** That of its own responses. */
const closed = createSchemaCompiler(closedReplies(contract));

type Schemas = typeof published;

/** Compiled once for each place: several examples are checked there. */
const validators = new Map<Schemas, Map<string, ReturnType<ReturnType<Schemas['compile']>>>>();

function validatorAt(place: string[], schemas: Schemas) {
  const known = validators.getOrInsertComputed(schemas, () => new Map());
  const $ref = schemas.reference(place);
  return known.getOrInsertComputed($ref, () => schemas.compile({ $ref })());
}

/** The faults of a value against the schema at a place of the contract; none when it is right. */
function findFaults(place: string[], value: unknown, schemas = published): string[] {
  const validate = validatorAt(place, schemas);
  assert.equal(typeof validate(value), 'boolean', 'the schema is checked at once');
  return (validate.errors ?? []).map(
    (error) => `${error.instancePath}: ${validationMessage(error).en}`,
  );
}

/** Every body of the contract, with the place of its media type. */
function bodiesIn(node: unknown, place: string[] = []): { place: string[]; media: Media }[] {
  if (node === null || typeof node !== 'object') return [];
  return Object.entries(node).flatMap(([key, value]) => {
    const here = [...place, key];
    if (place.at(-1) === 'content') return [{ place: here, media: value as Media }];
    return bodiesIn(value, here);
  });
}

function listExamples(media: Media): unknown[] {
  const named = Object.values(media.examples ?? {}).map((example) => example.value);
  return 'example' in media ? [media.example, ...named] : named;
}

const bodies = bodiesIn(contract);

test('every body has an example, and every example meets its schema', () => {
  assert.ok(bodies.length > 50, 'the bodies are found');
  for (const { place, media } of bodies) {
    const examples = listExamples(media);
    assert.ok(examples.length > 0, `${place.join('/')} has no example`);
    for (const example of examples) {
      assert.deepEqual(findFaults([...place, 'schema'], example), [], place.join('/'));
    }
  }
});

test('a response with a field that the contract does not know is found out, by the service only', () => {
  for (const { place, media } of bodies.filter((body) => body.place.includes('responses'))) {
    for (const example of listExamples(media)) {
      const leaky = { ...(example as Json), leaked: true };
      assert.deepEqual(findFaults([...place, 'schema'], example, closed), [], place.join('/'));
      assert.notDeepEqual(findFaults([...place, 'schema'], leaky, closed), [], place.join('/'));
      assert.deepEqual(findFaults([...place, 'schema'], leaky), [], place.join('/'));
    }
  }
});

test('a request with a field that the contract does not know is accepted', () => {
  for (const { place, media } of bodies.filter((body) => body.place.includes('requestBody'))) {
    for (const example of listExamples(media)) {
      const extended = { ...(example as Json), unknown_field: true };
      assert.deepEqual(findFaults([...place, 'schema'], extended), [], place.join('/'));
    }
  }
});

const send = { pix_key: 'ana@example.com', amount: 1 };
const charge = { type: 'dynamic', amount: 1 };
const address = {
  cep: '01310-100',
  logradouro: 'Avenida Paulista',
  numero: '1000',
  bairro: 'Bela Vista',
  cidade: 'São Paulo',
  estado: 'SP',
};
const person = {
  name: 'Ana Souza',
  email: 'ana@example.com',
  password: 'correct horse',
  password_confirmation: 'correct horse',
  document: '11144477735',
  phone: '+5511999990001',
};
const company = { ...person, company_name: 'Souza Padaria Ltda', document: '12ABC34501DE35' };
const text = (length: number): string => 'ã'.repeat(length);
const digits = (length: number): string => '1'.repeat(length);

interface Limit {
  schema: string;
  /** A right body, to which the field is added. */
  base: Json;
  field: string;
  /** The field that has to repeat it. */
  repeatedIn?: string;
  accepted: unknown[];
  refused: unknown[];
}

const amounts = {
  accepted: [0.01, 10, 10.5, 1e1, 999999999.99],
  refused: [0, 0.001, 10.505, -1, 1e9, '10', null],
};

const limits: Limit[] = [
  { schema: 'SendPixRequest', base: send, field: 'amount', ...amounts },
  { schema: 'ChargeRequest', base: charge, field: 'amount', ...amounts },
  {
    schema: 'SendPixRequest',
    base: send,
    field: 'pix_key',
    accepted: [' ana@example.com ', '(11) 98765-4321', `${' '.repeat(240)}ana@example.com`],
    refused: ['ana', digits(256), `${' '.repeat(241)}ana@example.com`, 1, null],
  },
  atMost(512, { schema: 'SendPixRequest', base: send, field: 'description' }),
  atMost(140, { schema: 'ChargeRequest', base: charge, field: 'description' }),
  {
    schema: 'ChargeRequest',
    base: charge,
    field: 'key',
    accepted: [' ana@example.com ', `${' '.repeat(240)}ana@example.com`],
    refused: ['ana', '', digits(256), `${' '.repeat(241)}ana@example.com`, 1, null],
  },
  atMost(25, { schema: 'ChargeRequest', base: charge, field: 'receiver_name' }),
  atMost(15, { schema: 'ChargeRequest', base: charge, field: 'city' }),
  atMost(140, { schema: 'ChargeRequest', base: charge, field: 'payer_name' }),
  {
    schema: 'ChargeRequest',
    base: charge,
    field: 'payer_cpf',
    accepted: ['11144477735', '111.444.777-35', '12ABC34501DE35'],
    refused: ['', '1', 'abcdefghijk', '00000000000', '11144477736', '12.ABC.345/01DE-35', 1, null],
  },
  atMost(10, { schema: 'ChargeRequest', base: charge, field: 'code_category' }),
  {
    schema: 'DeletePixKeyRequest',
    base: {},
    field: 'key',
    accepted: [' ana@example.com ', `${' '.repeat(240)}ana@example.com`],
    refused: ['ana', '', digits(256), `${' '.repeat(241)}ana@example.com`, 1, null],
  },
  {
    schema: 'ChargeRequest',
    base: charge,
    field: 'zipcode',
    accepted: ['01310100'],
    refused: ['0131010', '013101000', '01310-100', 'abcdefgh'],
  },
  {
    schema: 'ChargeRequest',
    base: charge,
    field: 'expiration_qr',
    accepted: [60, 86400],
    refused: [59, 86401, 60.5],
  },
  {
    schema: 'ChargeRequest',
    base: charge,
    field: 'type',
    accepted: ['dynamic', 'static'],
    refused: ['DYNAMIC', ''],
  },
  {
    schema: 'ChargeRequest',
    base: charge,
    field: 'additional_data',
    accepted: [[], [{ name: 'Pedido', value: '1' }]],
    refused: [[{ name: 'Pedido' }], [{ value: '1' }], {}, ['Pedido']],
  },
  {
    schema: 'CreatePixKeyRequest',
    base: {},
    field: 'key_type',
    accepted: ['CPF', 'CNPJ', 'CELULAR', 'E_MAIL', 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO'],
    refused: ['EVP', 'cpf'],
  },
  {
    schema: 'SubmitDocumentRequest',
    base: { arquivo: '' },
    field: 'tipo_documento',
    accepted: [1, 21],
    refused: [0, 22, 1.5],
  },
  {
    schema: 'OnboardingAddress',
    base: address,
    field: 'estado',
    accepted: ['SP'],
    refused: ['', 'S', 'SPA'],
  },
  {
    schema: 'OnboardingAddress',
    base: address,
    field: 'complemento',
    accepted: ['Apto 12', null],
    refused: [12],
  },
  {
    schema: 'OnboardingAddress',
    base: address,
    field: 'cep',
    accepted: ['01310100', '01310-100'],
    refused: ['0131010', '01310-10', '013101000', '0-1310100'],
  },
  {
    schema: 'StartOnboardingRequest',
    base: person,
    field: 'password',
    repeatedIn: 'password_confirmation',
    accepted: [text(8), text(128)],
    refused: [text(7), text(129)],
  },
  ...['StartOnboardingRequest', 'RegisterPfRequest', 'RegisterPjRequest'].map((schema) => ({
    schema,
    base: schema === 'RegisterPjRequest' ? company : person,
    field: 'password_confirmation',
    accepted: [person.password],
    refused: ['correct horsE', ''],
  })),
  {
    schema: 'LoginRequest',
    base: { password: 'x' },
    field: 'email',
    accepted: ['ana@example.com'],
    refused: ['ana', '', `${digits(250)}@example.com`],
  },
];

/** A text field of at most so many characters; letters with an accent count as one. */
function atMost(
  length: number,
  { schema, base, field }: Omit<Limit, 'accepted' | 'refused'>,
): Limit {
  return { schema, base, field, accepted: [text(length)], refused: [text(length + 1), 1, null] };
}

for (const { schema, base, field, repeatedIn, accepted, refused } of limits) {
  test(`${schema} holds the limits of ${field}`, () => {
    const place = ['components', 'schemas', schema];
    const faultsWith = (value: unknown) =>
      findFaults(place, { ...base, [field]: value, ...(repeatedIn && { [repeatedIn]: value }) });
    for (const value of accepted) assert.deepEqual(faultsWith(value), [], JSON.stringify(value));
    for (const value of refused) {
      const faults = faultsWith(value);
      assert.ok(faults.length > 0, `${JSON.stringify(value)} was accepted`);
      assert.ok(
        faults.every((fault) => fault.startsWith(`/${field}`)),
        faults.join('; '),
      );
    }
  });
}

/** The required fields of each request: leaving one out is refused, whatever else is there. */
const required: Record<string, { base: Json; fields: string }> = {
  LoginRequest: { base: { email: 'ana@example.com', password: 'x' }, fields: 'email password' },
  SendPixRequest: { base: send, fields: 'pix_key amount' },
  ChargeRequest: { base: charge, fields: 'type amount' },
  CreatePixKeyRequest: { base: { key_type: 'CPF' }, fields: 'key_type' },
  DeletePixKeyRequest: { base: { key: 'ana@example.com' }, fields: 'key' },
  StartOnboardingRequest: { base: person, fields: Object.keys(person).join(' ') },
  RegisterPfRequest: { base: person, fields: Object.keys(person).join(' ') },
  RegisterPjRequest: { base: company, fields: Object.keys(company).join(' ') },
  OnboardingAddress: { base: address, fields: Object.keys(address).join(' ') },
  SubmitDocumentRequest: {
    base: { tipo_documento: 1, arquivo: '' },
    fields: 'tipo_documento arquivo',
  },
  ProposalRequest: { base: {}, fields: '' },
  ElectronicValidationRequest: { base: {}, fields: '' },
  ConfirmElectronicValidationRequest: { base: {}, fields: '' },
};

for (const [schema, { base, fields }] of Object.entries(required)) {
  test(`${schema} requires ${fields || 'nothing'}`, () => {
    const place = ['components', 'schemas', schema];
    assert.deepEqual(findFaults(place, base), []);
    for (const field of fields.split(' ').filter(Boolean)) {
      const { [field]: _left, ...rest } = base;
      assert.notDeepEqual(findFaults(place, rest), [], `without ${field}`);
    }
  });
}

test('Idempotency-Key is 1 to 128 visible ASCII characters', () => {
  const place = ['components', 'parameters', 'IdempotencyKey', 'schema'];
  for (const key of ['a', '!~', digits(128)]) assert.deepEqual(findFaults(place, key), [], key);
  for (const key of ['', ' ', 'a b', 'é', 'a\n', digits(129), 'undefined', 'null', 'NaN']) {
    assert.notDeepEqual(findFaults(place, key), [], JSON.stringify(key));
  }
});

test('an event of the provider is any JSON object or array', () => {
  const place = ['components', 'schemas', 'ProviderEvent'];
  for (const event of [{}, [], { pix: [] }, [{ status: 'PAID' }]]) {
    assert.deepEqual(findFaults(place, event), []);
  }
  for (const event of ['text', 1, null, true]) assert.notDeepEqual(findFaults(place, event), []);
});

/** The sentences for people in an example: its message, and those beside its fields. */
function sentencesIn(example: unknown): string[] {
  const { message, errors = {} } = example as { message?: unknown; errors?: Json };
  return [message, ...Object.values(errors).flat()].filter((one) => typeof one === 'string');
}

test('every sentence in an example is one that the service says', () => {
  const files = globSync(join(import.meta.dirname, '../../../src/**/*.ts'));
  const source = files
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
    .replaceAll(/['`] \+\s+['`]/g, '');
  const literals = [...source.matchAll(/'((?:[^'\\\n]|\\.)+\.)'|"([^"\n]+\.)"|`([^`]+\.)`/g)];
  const said = literals.map(([, single, double, template]) => {
    const literal = single?.replaceAll("\\'", "'") ?? double ?? template ?? '';
    return new RegExp(`^${RegExp.escape(literal).replaceAll(/\\\$\\\{.+?\\\}/g, '.+')}$`);
  });
  const shown = bodies
    .filter(({ place }) => place.includes('responses'))
    .flatMap(({ media }) => listExamples(media).flatMap(sentencesIn));
  assert.ok(shown.length > 60);
  const unknown = shown.filter((sentence) => !said.some((one) => one.test(sentence)));
  assert.deepEqual(unknown, []);
});
