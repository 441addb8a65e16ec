/** Which failures say that the provider has the payment already: those prove nothing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { reportsDuplicate } from '../../../src/provider/wire-duplicates.ts';
import { readFields } from '../../../src/provider/wire-reading.ts';

const texts: readonly (readonly [string, boolean])[] = [
  ...[
    'DUPL',
    'AM05',
    'DU01',
    'DU05',
    'PBE300',
    'pbe300: Duplicated EndToEndId',
    'DuplicatedEndToEndId',
    'DUPLICATE_REQUEST',
    'pagamento duplicado',
    'Duplicidade',
    'ALREADY_PAID',
    'AlreadyPaid',
    'the payment already exists',
    'account already closed',
    'clientRequestId em uso',
    'CLIENT_CODE_EM_USO',
    'clientCode must be unique',
    'Identificador repetido',
    'já existe',
    'Já Existe',
    'ja_existe',
    'JÁ EXISTE',
    'JaExiste',
    'EndToEndId utilizado anteriormente',
    'Transação existente',
    'TRANSACAO EXISTENTE',
    'Pagamento já foi processado.',
    'Este pagamento já se encontra finalizado',
    'id must be unique',
    'unique constraint violated',
    'idempotency key was used',
    'ja\u0301 existe',
  ].map((text) => [text, true] as const),
  ...[
    'AC03',
    'BE17',
    'NOT_ENOUGH_BALANCE',
    'Saldo insuficiente',
    'Conta inexistente',
    'transação inexistente',
    'Transação não existente',
    'Limite diário já atingido',
    'conta já encerrada',
    'the key does not exist',
    'E1',
    '',
    // No such text is that long, and no pattern is run on it.
    `${' '.repeat(1_000)}duplicated`,
  ].map((text) => [text, false] as const),
];

describe('a failure is a duplicate by its words', () => {
  for (const [text, expected] of texts) {
    it(`${JSON.stringify(text.trim().slice(0, 50))}: ${expected}`, () => {
      for (const said of [{ code: text }, { message: text }, { error: { description: text } }]) {
        assert.equal(reportsDuplicate([readFields(said)]), expected, JSON.stringify(said));
      }
    });
  }
});

const bodies: readonly (readonly [unknown, boolean])[] = [
  [{ message: ['first', 'must be unique'] }, true],
  [{ errors: [{ code: 'E1' }, { message: 'já existe' }] }, true],
  [{ errors: { endToEnd: ['must be unique'] } }, true],
  [{ error: { details: [{ reason: { text: 'em uso' } }] } }, true],
  [{ StatusCode: { StatusId: 3, Description: 'Duplicated EndToEndId' } }, true],
  [{ statusCode: 422, error: true, code: 17, message: null }, false],
  // An account that is closed already is a reason of its own.
  [{ code: 'AC07', message: 'account already closed' }, false],
  [{ code: 'AC07', message: 'payment already processed' }, true],
  // The description of a payment is the payer's, unless nothing else says why it failed.
  [{ status: 'ERROR', description: 'Duplicated EndToEndId' }, true],
  [{ status: 'ERROR', code: '153', description: 'EndToEndId já utilizado' }, true],
  [{ status: 'ERROR', error: { code: 'AC03' }, description: 'duplicata 4511' }, false],
  [{ status: 'ERROR', message: 'Conta inexistente', description: 'duplicata 4511' }, false],
];

describe('a failure is a duplicate by its fields', () => {
  for (const [body, expected] of bodies) {
    it(`${JSON.stringify(body).slice(0, 80)}: ${expected}`, () => {
      assert.equal(reportsDuplicate([readFields(body)]), expected);
    });
  }

  it('the description of a refusal has the reason, whatever the other fields', () => {
    const refusal = [readFields({ message: 'Not accepted', description: 'Pagamento repetido' })];
    assert.equal(reportsDuplicate(refusal), false);
    assert.equal(reportsDuplicate(refusal, { describesFailure: true }), true);
  });

  it('deep and long bodies are read in bounded time', () => {
    const deep: unknown[] = [];
    let inner = deep;
    for (let level = 0; level < 50; level += 1) inner.push((inner = []));
    inner.push('duplicated');
    const message = Array.from({ length: 100_000 }, () => 'já '.repeat(400));
    assert.equal(reportsDuplicate([readFields({ errors: deep, message })]), false);
  });
});
