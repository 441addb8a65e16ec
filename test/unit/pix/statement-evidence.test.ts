/** What the lines of a provider's statement prove about a payment, as they are read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  findPaymentOfCharge,
  judgeSend,
  type StatementEvidence,
} from '../../../src/pix/statement-evidence.ts';
import { dialects } from '../../support/dialects.ts';

const payment = { endToEnd: 'E1', amountCents: 1_050 };
const withoutStatus = { endToEnd: 'E1', amount: 10.5, direction: 'DEBIT' };
const undirected = { endToEnd: 'E1', amount: 10.5, status: 'CONFIRMED' };
const line = { ...withoutStatus, status: 'CONFIRMED' };

const pickLines = (items: Lines, settledOnly = false) =>
  dialects.readStatement(items, settledOnly)?.lines ?? assert.fail();

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
    'a negative number': [{ ...undirected, amount: -10.5 }],
    'a minus sign in a text': [{ ...undirected, amount: '-10.50' }],
    'other payments beside it': [line, { ...line, endToEnd: 'E2', type: 'REVERSAL' }],
    'a neutral type beside the direction': [{ ...line, type: 'INSTANT' }],
    'a reversal with the id': [line, { ...line, direction: 'CREDIT', type: 'REVERSAL' }],
    'a return without a direction': [{ ...undirected, type: 'Estorno' }, line],
    'a part of the money back': [line, { ...line, amount: 0.5, direction: 'CREDIT' }],
    'a refund that names the payment in a field of its own': [
      line,
      { endToEnd: 'D9', original: { endToEndId: 'E1' }, amount: 10.5, direction: 'CREDIT' },
    ],
    'a return with an id of its own': [
      line,
      { returnId: `D${'9'.repeat(31)}`, originalEndToEnd: 'E1', amount: 10.5, direction: 'DEBIT' },
    ],
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
    'a line with two ids': [{ ...line, end_to_end: 'E2' }],
    'another payment that mentions this one': [{ ...line, endToEnd: 'E2', reference: 'E1' }],
    'a line without an id': [{ amount: 10.5, status: 'CONFIRMED', direction: 'DEBIT' }],
  },
  unclear: {
    'a word that no dialect has': [
      { endToEndId: 'E1', value: 10.5, status: 'PAID', type: 'pixEnviado', natureza: 'DEBITO' },
    ],
    'a second line with the id': [line, { ...line, amount: 0.25, type: 'FEE' }],
    'the same line twice': [line, line],
    'a reversal alone': [{ ...line, direction: 'CREDIT', type: 'REVERSAL' }],
    'a payment that was reversed in its own line': [{ ...line, type: 'PIX_OUT_REVERSED' }],
    'another amount': [{ ...line, amount: 10.49 }],
    'two amounts': [{ ...line, value: 10.49 }],
    'an amount that cannot be read': [{ ...line, amount: 'R$ 10,50' }],
    'no amount': [{ endToEnd: 'E1', status: 'CONFIRMED', direction: 'DEBIT' }],
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
      assert.equal(judgeSend(pickLines(items), payment).evidence, evidence);
    });
  }
}

test('a line without a status counts as settled only where the provider documents that', () => {
  const judge = (item: Lines[number]) => judgeSend(pickLines([item], true), payment).evidence;
  assert.equal(judge(withoutStatus), 'completed');
  assert.equal(judge({ ...line, status: 'PROCESSING' }), 'pending');
  assert.equal(judge({ ...line, status: 'SCHEDULED' }), 'unclear');
});

const txid = 'abcdefghijklmnopqrstuvwxyz';
const received = { endToEnd: 'E1', txid, amount: 20, direction: 'CREDIT', status: 'CONFIRMED' };
const charge = { transactionIdentification: txid, amountCents: 2_000 };

test('a settled incoming line with its identification and its amount pays a charge', () => {
  const find = (...items: Lines) => findPaymentOfCharge(pickLines(items), charge);
  assert.equal(find(received)?.ids.endToEnd, 'E1');
  const cut = { ...received, txid: txid.slice(0, 25) };
  assert.equal(find(cut, received)?.ids.transactionIdentification, txid.slice(0, 25));
  const others = {
    'another identification': { ...received, txid: txid.slice(1) },
    'no identification': { ...received, txid: undefined },
    'another amount': { ...received, amount: 20.01 },
    'a payment of the owner': { ...received, direction: 'DEBIT' },
    'no direction': { ...received, direction: undefined },
    'in progress': { ...received, status: 'PROCESSING' },
    'no status': { ...received, status: undefined },
    'money that was given back': { ...received, returnId: `D${'1'.repeat(31)}` },
  };
  for (const [title, other] of Object.entries(others)) assert.equal(find(other), null, title);
});
