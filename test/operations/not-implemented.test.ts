/** What the contract promises and this version does not carry out: 501, after the checks. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { OperationId } from '../../src/operations/operation.ts';
import { startTestApp, type TestRequest } from '../support/app.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });

const person = {
  name: 'Ana Souza',
  email: 'ana@example.com',
  password: 'correct horse battery',
  password_confirmation: 'correct horse battery',
  document: '11144477735',
  phone: '+5511999990001',
};

const address = {
  cep: '01310100',
  logradouro: 'Avenida Paulista',
  numero: '1000',
  bairro: 'Bela Vista',
  cidade: 'São Paulo',
  estado: 'SP',
};

function form(): TestRequest {
  const boundary = 'a-boundary';
  const lines = [
    `--${boundary}`,
    'Content-Disposition: form-data; name="tipo_documento"',
    '',
    '1',
    `--${boundary}`,
    'Content-Disposition: form-data; name="arquivo"; filename="rg.pdf"',
    'Content-Type: application/pdf',
    '',
    '%PDF-1.7',
    `--${boundary}--`,
    '',
  ];
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  return { body: lines.join('\r\n'), headers };
}

const application = `/onboarding/${randomUUID()}`;

const later: [id: OperationId, path: string, request: TestRequest][] = [
  ['registerPf', '/accounts/pf', { body: { ...person, address } }],
  ['startOnboarding', '/onboarding/pf', { body: person }],
  ['lookUpCep', '/onboarding/cep/01310100', {}],
  ['getOnboarding', application, {}],
  ['submitAddress', `${application}/address`, { body: address }],
  ['submitDocument', `${application}/documents`, form()],
  ['submitProposal', `${application}/proposal`, { body: {} }],
  ['requestElectronicValidation', `${application}/electronic-validation`, { body: {} }],
  ['confirmElectronicValidation', `${application}/electronic-validation/confirm`, { body: {} }],
  ['startProvaVida', `${application}/prova-vida`, { method: 'POST' }],
  ['getKyc', `${application}/kyc`, {}],
  ['syncOnboarding', `${application}/sync`, { method: 'POST' }],
];

for (const [id, path, request] of later) {
  test(`${id} answers 501 with a code and a message, without a token`, async () => {
    const answer = await app.call(path, request);
    assert.equal(answer.status, 501, JSON.stringify(answer.body));
    assert.deepEqual(answer.body, {
      code: 'NOT_IMPLEMENTED',
      message: 'This service is not available yet.',
    });
  });
}

test('501 is worded in Portuguese for those who prefer it', async () => {
  const answer = await app.call(application, { headers: { 'accept-language': 'pt-BR' } });
  assert.equal(answer.status, 501);
  assert.deepEqual(answer.body, {
    code: 'NOT_IMPLEMENTED',
    message: 'Este serviço ainda não está disponível.',
  });
  assert.equal(answer.headers.get('content-language'), 'pt-BR');
});

test('422 comes before 501: an invalid body is told to be invalid', async () => {
  const answer = await app.call('/onboarding/pf', { body: { ...person, email: 'ana' } });
  assert.equal(answer.status, 422);
  assert.deepEqual(answer.body.errors, { email: ['The value must be an e-mail address.'] });
});

test('404 comes before 501: an application id that is no UUID names nothing', async () => {
  assert.equal((await app.call('/onboarding/17')).status, 404);
});

test('501 stores nothing', async () => {
  const stored = await app.rows(
    'select id::text from users union all select id::text from onboarding_applications',
  );
  assert.deepEqual(stored, []);
});
