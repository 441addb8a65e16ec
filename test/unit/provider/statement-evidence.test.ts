/** What the lines of a provider's statement prove about one outgoing payment. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readEvidence, type StatementEvidence } from '../../../src/provider/statement-evidence.ts';

const payment = { endToEnd: 'E1', amountCents: 1_050 };
const withoutStatus = { endToEnd: 'E1', amount: 10.5, direction: 'DEBIT' };
const undirected = { endToEnd: 'E1', amount: 10.5, status: 'CONFIRMED' };
const line = { ...withoutStatus, status: 'CONFIRMED' };

type Lines = readonly Readonly<Record<string, unknown>>[];

const withStatus = (status: unknown) =>
  [`the status ${JSON.stringify(status)}`, [{ ...line, status }]] as const;
const withType = (type: string) => [`the type ${type}`, [{ ...line, type }]] as const;

const cases: Readonly<Record<StatementEvidence, Readonly<Record<string, Lines>>>> = {
  completed: {
    'a settled outgoing line of the amount': [line],
    'other spellings and texts': [
      { end_to_end_id: ' E1 ', valor: '10.50', status: 'SETTLED', type: 'PIX_PAYMENT_OUT' },
    ],
    'camel case and Portuguese': [
      { endToEndId: 'E1', value: 10.5, status: 'PAID', type: 'pixEnviado', natureza: 'DÉBITO' },
    ],
    'a negative number': [{ ...undirected, amount: -10.5 }],
    'a minus sign in a text': [{ ...undirected, amount: '-10.50' }],
    'other payments beside it': [line, { ...line, endToEnd: 'E2', type: 'REVERSAL' }],
    'a neutral type beside the direction': [{ ...line, type: 'INSTANT' }],
  },
  pending: {
    'a line that is under way': [{ ...line, status: 'PROCESSING' }],
  },
  absent: {
    'an empty statement': [],
    'other payments only': [
      { ...line, endToEnd: 'E2' },
      { ...line, endToEnd: 'E10' },
    ],
    'a line without an id': [{ amount: 10.5, status: 'CONFIRMED', direction: 'DEBIT' }],
  },
  unclear: {
    'a second line with the id': [line, { ...line, amount: 0.25, type: 'FEE' }],
    'the same line twice': [line, line],
    'a reversal with the id': [line, { ...line, direction: 'CREDIT', type: 'REVERSAL' }],
    'a refund that names the payment in a field of its own': [
      line,
      { endToEnd: 'D9', original: { endToEndId: 'E1' }, amount: 10.5, direction: 'CREDIT' },
    ],
    'another amount': [{ ...line, amount: 10.49 }],
    'two amounts': [{ ...line, value: 10.49 }],
    'an amount that cannot be read': [{ ...line, amount: 'R$ 10,50' }],
    'no amount': [{ endToEnd: 'E1', status: 'CONFIRMED', direction: 'DEBIT' }],
    'two ids': [{ ...line, end_to_end: 'E2' }],
    'another payment that mentions this one': [{ ...line, endToEnd: 'E2', reference: 'E1' }],
    'no direction': [undirected],
    'a plus sign': [{ ...undirected, amount: '+10.50' }],
    'a negative amount that comes in': [{ ...line, amount: -10.5, direction: 'CREDIT' }],
    'a type that is no text': [{ ...line, type: 7 }],
    'a type longer than any word': [{ ...line, type: 'DEBIT '.repeat(50) }],
    'no status': [withoutStatus],
    'two statuses': [{ ...line, state: 'PENDING' }],
    ...Object.fromEntries(
      ['ERROR', 'FAILED', 'SCHEDULED', 'RETURNED', '', {}, 7].map((status) => withStatus(status)),
    ),
    ...Object.fromEntries(
      ['PIX_HOLD', 'BLOQUEIO', 'pixReserve', 'PRE_AUTHORIZATION', 'Agendamento', 'TARIFA'].map(
        withType,
      ),
    ),
    ...Object.fromEntries(
      [
        'PIX_RECEIVED',
        'CREDIT',
        'Crédito',
        'C',
        'IN',
        'PIX_PAYMENT_IN',
        'DEVOLUCAO',
        'Estorno',
        'pixRefund',
      ].map(withType),
    ),
  },
};

for (const [evidence, statements] of Object.entries(cases)) {
  for (const [title, items] of Object.entries(statements)) {
    test(`${evidence}: ${title}`, () => {
      assert.equal(readEvidence(items, payment, false), evidence);
    });
  }
}

test('a line without a status counts as settled only where the provider documents that', () => {
  assert.equal(readEvidence([withoutStatus], payment, true), 'completed');
  assert.equal(readEvidence([{ ...line, status: 'PROCESSING' }], payment, true), 'pending');
  assert.equal(readEvidence([{ ...line, status: 'SCHEDULED' }], payment, true), 'unclear');
});

test('a line that is nested deeper than any provider writes does not exhaust the stack', () => {
  let nested: unknown = 'E1';
  for (let level = 0; level < 5_000; level += 1) nested = { nested };
  assert.equal(readEvidence([{ nested }], payment, false), 'absent');
});
