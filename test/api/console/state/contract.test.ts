/** Forms and requests are made from the contract. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildRequest, contractFields } from '../../../../console/state/contract.ts';

const names = (...parameters: Parameters<typeof contractFields>): string[] =>
  contractFields(...parameters).map(({ name }) => name);

describe('the fields of an operation', () => {
  it('are the members of its body and its parameters', () => {
    const fields = contractFields('sendPix', { pix_key: 'Pix key' }, {});
    assert.deepEqual(
      fields.map(({ name, in: place, kind, isRequired }) => [name, place, kind, isRequired]),
      [
        ['pix_key', 'body', 'text', true],
        ['amount', 'body', 'amount', true],
        ['description', 'body', 'text', false],
        ['copy_paste', 'body', 'text', false],
        ['lookup_id', 'body', 'text', false],
        ['Idempotency-Key', 'header', 'text', true],
      ],
    );
    assert.equal(fields[0]?.label, 'Pix key');
    const [pixKey] = contractFields('sendPix', {}, { copy_paste: '000201' });
    assert.equal(pixKey?.isRequired, false);
    assert.equal(fields[2]?.label, 'Description');
    assert.equal(fields[2]?.hint, 'A text for the payee.');
    assert.deepEqual(names('getOnboarding', {}, {}), ['applicationId']);
    assert.deepEqual(names('getBalance', {}, {}), []);
  });

  it('have the choices and the initial values of the contract', () => {
    const fields = contractFields('createCharge', { type: { choices: { dynamic: 'D' } } }, {});
    const field = (name: string) => fields.find((one) => one.name === name);
    assert.deepEqual(field('type')?.choices, { dynamic: 'D' });
    assert.deepEqual(field('reusable')?.choices, { no: 'no', yes: 'yes' });
    assert.equal(field('expiration_qr')?.kind, 'integer');
    assert.match(field('city')?.hint ?? '', /by default Sao Paulo/);
    assert.equal(contractFields('listPixTransactions', {}, {})[4]?.initial, '20');
    assert.match(
      contractFields('getStatement', {}, {})[0]?.hint ?? '',
      /^such as 22\/11\/2026\. The first/,
    );
  });

  it('hide passwords', () => {
    const secrets = contractFields('startOnboarding', {}, {}).filter(({ isSecret }) => isSecret);
    assert.deepEqual(
      secrets.map(({ name }) => name),
      ['password', 'password_confirmation'],
    );
  });

  it('have room for one more item of a list than there are', () => {
    const listed = (typed: Record<string, string>): string[] =>
      names('createCharge', {}, typed).filter((name) => name.startsWith('additional_data'));
    assert.deepEqual(listed({}), ['additional_data.0.name', 'additional_data.0.value']);
    assert.equal(listed({ 'additional_data.1.value': 'x' }).length, 6);
    assert.equal(listed({ 'additional_data.1.value': '' }).length, 2);
    assert.equal(listed({ 'additional_data.49.name': 'x' }).length, 100);
  });
});

describe('a request', () => {
  it('has each value where the contract wants it', () => {
    const values = { pix_key: 'k', amount: 1, 'Idempotency-Key': 'i' };
    assert.deepEqual(buildRequest(contractFields('sendPix', {}, {}), values), {
      path: {},
      query: {},
      headers: { 'Idempotency-Key': 'i' },
      body: { pix_key: 'k', amount: 1 },
    });
    const resumed = { applicationId: 'a' };
    assert.deepEqual(buildRequest(contractFields('getOnboarding', {}, {}), resumed), {
      path: { applicationId: 'a' },
      query: {},
      headers: {},
    });
    const days = { start_date: '2026-05-01' };
    const { query } = buildRequest(contractFields('getStatement', {}, {}), days);
    assert.deepEqual(query, days);
  });

  it('has an empty body where every member of it is optional', () => {
    const fields = contractFields('submitProposal', {}, {});
    assert.deepEqual(buildRequest(fields, { applicationId: 'a' }).body, {});
  });

  it('has the items of a list in their places', () => {
    const values = {
      'additional_data.0.name': 'Table',
      'additional_data.2.name': 'Guest',
      'additional_data.2.value': 'Ana',
    };
    const { body } = buildRequest(contractFields('createCharge', {}, values), values);
    assert.deepEqual(body, {
      additional_data: [{ name: 'Table' }, {}, { name: 'Guest', value: 'Ana' }],
    });
  });
});
