/** What is shown of a payload: the payment and its result, without personal data. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesPerson, redacted } from '../../../src/operator/webhook-redaction.ts';
import { endToEnd, shapes, txid } from '../../unit/provider/webhook-shapes.ts';

test('ids, amounts, times and words of state are shown as they are', () => {
  const payload = {
    event: 'PIX_PAYMENT_OUT',
    id: '93b7611f-6622-4871-a605-2401fd0d3d6c',
    endToEnd,
    end_to_end_id: endToEnd,
    clientRequestId: 'rent-1795232953',
    transactionIdentification: txid,
    status: { StatusId: 2, Description: 'Confirmado' },
    amount: 123_456_789.01,
    error: { code: 'BE17', description: 'recusado' },
    createdAt: '2026-05-24T15:31:02.000Z',
    final: true,
    previous: null,
  };
  assert.deepEqual(redacted(payload), {
    ...payload,
    status: { StatusId: 2, Description: '***' },
    error: { code: 'BE17', description: '***' },
  });
});

test('every other value is masked, and the structure stays', () => {
  const person = {
    nome: 'Maria da Silva',
    document: '52998224725',
    document2: 52_998_224_725,
    chave: 'maria@example.com',
    Account: '999-1',
    list: ['Rua A', 12, { telefone: '+5511987654321' }],
  };
  assert.deepEqual(redacted({ payer: person }), {
    payer: {
      nome: '***',
      document: '***',
      document2: '***',
      chave: '***',
      Account: '***',
      list: ['***', '***', { telefone: '***' }],
    },
  });
});

test('a personal value is masked at any place', () => {
  const people = [
    '52998224725',
    '529.982.247-25',
    '11222333000181',
    '12.ABC.345/01DE-35',
    'maria@example.com',
    '+5511987654321',
    '(11) 98765-4321',
    52_998_224_725,
  ];
  for (const person of people) {
    for (const name of ['id', 'endToEnd', 'clientRequestId', 'status', 'reason', 'createdAt']) {
      assert.deepEqual(redacted({ [name]: person }), { [name]: '***' }, `${name} ${person}`);
    }
    assert.deepEqual(redacted({ [String(person)]: { id: '7' } }), { '***': { id: '7' } });
    assert.equal(redacted(person), '***');
  }
});

test('a value beside its own name may be anything, and is masked', () => {
  const additional = [
    { nome: 'senha', valor: '1234' },
    { name: 'pin', value: 1234 },
  ];
  assert.deepEqual(redacted({ infoAdicionais: additional, valor: '12.34' }), {
    infoAdicionais: [
      { nome: '***', valor: '***' },
      { name: '***', value: '***' },
    ],
    valor: '12.34',
  });
});

test('an amount or a word of another form is masked', () => {
  const odd = {
    amount: 'dez reais',
    status: 'paid by Maria',
    horario: 'hoje',
    code: 'x'.repeat(65),
  };
  assert.deepEqual(Object.values(redacted(odd) as object), ['***', '***', '***', '***']);
});

test('what is nested too deep is masked whole', () => {
  let deep: unknown = { id: 'secret' };
  for (let depth = 0; depth < 20; depth += 1) deep = [deep];
  assert.ok(!JSON.stringify(redacted(deep)).includes('secret'));
});

test('every shape of a provider keeps the ids, the amount and the status', () => {
  for (const { title, payload } of shapes) {
    const shown = JSON.stringify(redacted(payload));
    for (const person of ['ana@ponte.test', '52998224725', '111.444.777-35', 'Fulano']) {
      assert.ok(!shown.includes(person), `${title} shows ${person}`);
    }
    const original = JSON.stringify(payload);
    for (const id of [endToEnd, txid, 'key-1', '1050', '10.5', 'CONFIRMED', 'ERROR', 'BE17']) {
      const isInWords = id === 'CONFIRMED' && title.startsWith('RequestBody');
      assert.ok(isInWords || shown.includes(id) === original.includes(id), `${title} and ${id}`);
    }
  }
});

test('an e-mail, a CPF or a CNPJ in a sentence is found', () => {
  for (const text of [
    'reported by a@b.c',
    'CPF:52998224725',
    'firm 12.ABC.345/01DE-35, São Paulo',
  ]) {
    assert.ok(namesPerson(text), text);
  }
  for (const text of ['protocol 2026112100123', 'ticket 12345678901', `E2E ${endToEnd}`]) {
    assert.ok(!namesPerson(text), text);
  }
});
