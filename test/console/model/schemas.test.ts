/** What is typed is checked by the very contract of the service. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { OperationId } from '../../../contract/types.ts';
import { noChecks } from '../../../console/model/check.ts';
import { newForm, type Field } from '../../../console/model/form.ts';
import { bodyOf, faultsOf, requiredOf, valuesOf } from '../../../console/model/form-values.ts';
import { checksOf } from '../../../console/model/schemas.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const checks = checksOf(readFileSync(join(root, 'contract', 'openapi.yaml'), 'utf8'));

type Values = Readonly<Record<string, unknown>>;

const payment = { 'Idempotency-Key': 'k1', pix_key: 'bruno@example.com', amount: 1 };
const charge = { 'Idempotency-Key': 'k1', type: 'dynamic', amount: 1 };
const applicationId = '3f0c1f8e-5d0b-4b5c-9a51-0f6f3c1f2a77';
const address = {
  ...{ applicationId, cep: '01310-100', logradouro: 'Avenida Paulista', numero: '1000' },
  ...{ bairro: 'Bela Vista', cidade: 'São Paulo', estado: 'SP' },
};
const person = {
  ...{ name: 'Ana', email: 'ana@example.com', document: '529.982.247-25', phone: '+5511987654321' },
  ...{ password: 'correct horse', password_confirmation: 'correct horse' },
};

describe('a request', () => {
  const good: readonly (readonly [OperationId, Values])[] = [
    ['sendPix', payment],
    [
      'createCharge',
      { ...charge, 'additional_data.0.name': 'Table', 'additional_data.0.value': '1' },
    ],
    ['startOnboarding', person],
    ['submitDocument', { applicationId, tipo_documento: 21, arquivo: 'rg.png' }],
    ['submitProposal', { applicationId }],
    ['getStatement', { start_date: '2026-02-28' }],
    ['getBalance', {}],
  ];
  for (const [id, values] of good) {
    it(`of ${id} that keeps to the contract has no fault`, () => {
      assert.deepEqual(checks(id)(values), {});
    });
  }

  const bad: readonly (readonly [OperationId, Values, field: string, fault: RegExp])[] = [
    ['sendPix', { ...payment, amount: 0 }, 'amount', /^At least 0\.01\.$/],
    ['sendPix', { ...payment, amount: 0.001 }, 'amount', /At (?:least 0\.01|most 2 decimals)\./],
    ['sendPix', { ...payment, amount: 1.005 }, 'amount', /^At most 2 decimals\.$/],
    ['sendPix', { ...payment, amount: '1.500' }, 'amount', /^An amount, such as 25/],
    ['sendPix', { ...payment, pix_key: '  ' }, 'pix_key', /CPF, CNPJ/],
    ['sendPix', { ...payment, pix_key: 'x'.repeat(256) }, 'pix_key', /^At most 255/],
    ['sendPix', { ...payment, 'Idempotency-Key': undefined }, 'Idempotency-Key', /^Required\.$/],
    ['sendPix', { ...payment, 'Idempotency-Key': 'a b' }, 'Idempotency-Key', /expected form/],
    ['createCharge', { ...charge, zipcode: '123' }, 'zipcode', /eight digits/],
    ['createCharge', { ...charge, expiration_qr: 59 }, 'expiration_qr', /^At least 60\.$/],
    ['createCharge', { ...charge, expiration_qr: '1,5' }, 'expiration_qr', /^A whole number\.$/],
    ['createCharge', { ...charge, type: 'x' }, 'type', /^One of: dynamic, static\.$/],
    [
      'createCharge',
      { ...charge, 'additional_data.0.name': 'Table' },
      'additional_data.0.value',
      /^Required\.$/,
    ],
    ['startOnboarding', { ...person, email: 'ana@' }, 'email', /^An e-mail address/],
    [
      'startOnboarding',
      { ...person, password_confirmation: 'correct hors' },
      'password_confirmation',
      /^Not the same as the password\.$/,
    ],
    ['submitAddress', { ...address, cep: '0131' }, 'cep', /^Eight digits/],
    [
      'submitDocument',
      { applicationId, tipo_documento: 22, arquivo: 'x' },
      'tipo_documento',
      /^At most 21\.$/,
    ],
    ['getStatement', { start_date: '2026-02-30' }, 'start_date', /^A date, such as/],
    ['getOnboarding', { applicationId: 'abc' }, 'applicationId', /^A UUID/],
  ];
  for (const [id, values, field, fault] of bad) {
    it(`of ${id} that does not is at fault in ${field}: ${String(fault)}`, () => {
      const { [field]: found = '', ...others } = checks(id)(values);
      assert.match(found, fault);
      assert.deepEqual(others, {});
    });
  }
});

describe('a form', () => {
  const fields: readonly Field[] = [
    { name: 'pix_key', label: 'PIX key', kind: 'text' },
    { name: 'amount', label: 'Amount', kind: 'money', initial: '0,00' },
    { name: 'Idempotency-Key', label: 'Key', kind: 'text' },
  ];
  const check = checks('sendPix');

  it('is not at fault for what is still empty, until it is sent', () => {
    const state = newForm(fields);
    assert.deepEqual(faultsOf({ fields, state, check }), { amount: 'At least 0.01.' });
    const asked = faultsOf({ fields, check, state: { ...state, isAsked: true } });
    assert.deepEqual(Object.keys(asked).toSorted(), ['Idempotency-Key', 'amount', 'pix_key']);
  });

  it('shows what the service refuses before anything else', () => {
    const state = { ...newForm(fields), refusals: { amount: 'Too much.' } };
    assert.deepEqual(faultsOf({ fields, state, check }), { amount: 'Too much.' });
  });

  it('knows what must not stay empty, and knows nothing before the contract has come', () => {
    assert.deepEqual([...requiredOf(check)].toSorted(), ['Idempotency-Key', 'amount', 'pix_key']);
    assert.equal(requiredOf(noChecks('sendPix')).size, 0);
  });

  it('becomes a body: numbers are numbers, what is empty is left out, lists are lists', () => {
    const charged: readonly Field[] = [
      { name: 'amount', label: '', kind: 'money', initial: '1.234,50' },
      { name: 'expiration_qr', label: '', kind: 'number', initial: '600' },
      { name: 'reusable', label: '', kind: 'flag', initial: 'yes' },
      { name: 'city', label: '', kind: 'text' },
      { name: 'additional_data.0.name', label: '', kind: 'text', initial: 'Table' },
      { name: 'additional_data.2.name', label: '', kind: 'text', initial: 'Guest' },
      { name: 'additional_data.2.value', label: '', kind: 'text', initial: 'Ana' },
    ];
    assert.deepEqual(bodyOf(valuesOf(charged, newForm(charged))), {
      amount: 1234.5,
      expiration_qr: 600,
      reusable: true,
      additional_data: [{ name: 'Table' }, {}, { name: 'Guest', value: 'Ana' }],
    });
  });
});
