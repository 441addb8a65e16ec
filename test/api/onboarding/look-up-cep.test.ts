/** Looking up a CEP: from what is known here, or at the provider. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faulty, refused } from '../../../src/provider/sandbox/bank/response.ts';
import { startTestApp } from '../../support/app.ts';
import { addressBody, give, newPerson, register } from './applicants.ts';

const local = await startTestApp({ environment: { JOBS: 'off' } });
const remote = await startTestApp({
  environment: { JOBS: 'off', ONBOARDING_LOCAL_ONLY: 'false', PROVIDER_RETRIES: '0' },
});

const paulista = {
  cep: '01310100',
  logradouro: 'Avenida Paulista',
  bairro: 'Bela Vista',
  cidade: 'São Paulo',
  estado: 'SP',
};

test('a known CEP gives the street, the district and the city, without the provider', async (t) => {
  const lookUp = t.mock.method(local.bank.onboarding, 'lookUpCep');
  for (const cep of ['01310100', '01310-100']) {
    const response = await local.call(`/onboarding/cep/${cep}`);
    assert.equal(response.status, 200);
    assert.deepEqual(response.body, { cep: paulista });
  }
  assert.equal(lookUp.mock.callCount(), 0);
});

test('of any other CEP the state alone is known', async () => {
  const response = await local.call('/onboarding/cep/69400-000');
  assert.equal(response.status, 200);
  assert.deepEqual(response.body, {
    cep: { cep: '69400000', logradouro: null, bairro: null, cidade: null, estado: 'AM' },
  });
});

for (const [cep, cidade, estado] of [
  ['17400-000', 'Garça', 'SP'],
  ['54580-000', 'Cabo de Santo Agostinho', 'PE'],
] as const) {
  test(`a town with one CEP, ${cep}, has neither street nor district, and its address is taken`, async () => {
    const { body } = await local.call(`/onboarding/cep/${cep}`);
    const known = { cep: cep.replace('-', ''), logradouro: '', bairro: '', cidade, estado };
    assert.deepEqual(body, { cep: known });
    const typed = { cep, logradouro: 'Estrada do Sítio', numero: 'S/N', cidade, estado };
    for (const bairro of ['', undefined]) {
      const { id } = await register(local);
      const response = await give(local, id, { step: 'address', body: { ...typed, bairro } });
      assert.equal(response.status, 201, JSON.stringify(response.body));
    }
  });
}

test('an address elsewhere needs its district', async () => {
  const { id } = await register(local);
  for (const bairro of ['', ' ', undefined]) {
    const body = { ...addressBody, numero: 'S/N', bairro };
    const response = await give(local, id, { step: 'address', body });
    assert.equal(response.status, 422);
    assert.deepEqual(Object.keys(response.body.errors), ['bairro']);
  }
  const pf = { ...newPerson(), address: { ...addressBody, bairro: '' } };
  const legacy = await local.call('/accounts/pf', { body: pf });
  assert.deepEqual(Object.keys(legacy.body.errors), ['address.bairro']);
});

test('a district that is no text is one error', async () => {
  const { id } = await register(local);
  for (const bairro of [null, 7]) {
    const response = await give(local, id, { step: 'address', body: { ...addressBody, bairro } });
    assert.equal(response.status, 422);
    assert.deepEqual(response.body.errors, { bairro: ['The value must be a text.'] });
    assert.equal(response.body.message, 'The value must be a text.');
  }
});

test('422 for a CEP with a character that cannot be stored says only that', async () => {
  const { status, body } = await local.call('/onboarding/cep/01310100%00');
  const message = 'The text contains a character that is not allowed.';
  assert.deepEqual([status, body], [422, { message, errors: { cep: [message] } }]);
});

test('422 for a CEP that belongs to no state', async () => {
  for (const [language, message] of [
    ['en', 'This CEP does not exist: it belongs to no state.'],
    ['pt-BR', 'Este CEP não existe: não pertence a nenhum estado.'],
  ] as const) {
    const headers = { 'accept-language': language };
    const response = await local.call('/onboarding/cep/78900000', { headers });
    assert.equal(response.status, 422);
    assert.deepEqual(response.body.errors, { cep: [message] });
  }
});

for (const cep of ['0131010', '013101000', '0131-0100', 'abcdefgh', '%20']) {
  test(`422 for ${cep}, which is not eight digits`, async (t) => {
    const lookUp = t.mock.method(remote.bank.onboarding, 'lookUpCep');
    for (const app of [local, remote]) {
      const response = await app.call(`/onboarding/cep/${cep}`);
      assert.equal(response.status, 422);
      assert.ok(response.body.errors.cep.includes('The CEP must have eight digits.'));
      assert.deepEqual(Object.keys(response.body.errors), ['cep']);
    }
    assert.equal(lookUp.mock.callCount(), 0);
  });
}

for (const cep of ['01.310-100', '01310%20100', '%2001310-100', '01310%E2%80%93100']) {
  test(`a CEP as forms print it is read: ${cep}`, async () => {
    const response = await local.call(`/onboarding/cep/${cep}`);
    assert.equal(response.status, 200);
    assert.equal(response.body.cep.cep, '01310100');
  });
}

test('422 for a faulty CEP is worded in Portuguese for those who prefer it', async () => {
  const headers = { 'accept-language': 'pt-BR' };
  const response = await local.call('/onboarding/cep/123', { headers });
  assert.deepEqual(response.body.errors, { cep: ['O CEP deve ter oito dígitos.'] });
});

test('the provider is called where onboarding is not local only', async (t) => {
  const lookUp = t.mock.method(remote.bank.onboarding, 'lookUpCep');
  const response = await remote.call('/onboarding/cep/01310-100');
  assert.equal(response.status, 200);
  assert.deepEqual(response.body, { cep: paulista });
  assert.deepEqual(
    lookUp.mock.calls.map((call) => call.arguments),
    [['01310100']],
  );
});

test('a CEP that the provider does not know is answered from what is known here', async (t) => {
  const unknown = refused({ kind: 'missing', reason: 'CepNotFound' });
  t.mock.method(remote.bank.onboarding, 'lookUpCep', () => unknown);
  const response = await remote.call('/onboarding/cep/69400-000');
  assert.equal(response.status, 200);
  assert.equal(response.body.cep.estado, 'AM');
  assert.equal((await remote.call('/onboarding/cep/78900001')).status, 422);
});

const failures = [
  ['answers 503', faulty('unavailable'), 'PROVIDER_UNAVAILABLE'],
  ['answers HTML', faulty('garbled'), 'PROVIDER_INVALID_RESPONSE'],
] as const;

for (const [what, outcome, code] of failures) {
  test(`502 ${code} when the provider ${what}`, async (t) => {
    t.mock.method(remote.bank.onboarding, 'lookUpCep', () => outcome);
    const response = await remote.call('/onboarding/cep/78900000');
    assert.equal(response.status, 502);
    assert.deepEqual(Object.keys(response.body), ['code', 'message']);
    assert.equal(response.body.code, code);
  });
}

test('502 PROVIDER_TIMEOUT when the provider does not answer in time', async (t) => {
  const { mock } = t.mock.method(remote.bank.onboarding, 'lookUpCep', () => faulty('hang'));
  const response = remote.call('/onboarding/cep/04538133');
  while (mock.callCount() === 0) await new Promise((resolve) => setImmediate(resolve));
  await remote.clock.advance(100);
  assert.equal((await response).status, 502);
  assert.equal((await response).body.code, 'PROVIDER_TIMEOUT');
});
