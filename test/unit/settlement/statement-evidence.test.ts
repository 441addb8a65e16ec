/** What the lines of a provider's statement prove about a payment, as they are read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  findChargeEvidence,
  findSendEvidence,
  type StatementEvidence,
} from '../../../src/settlement/statement-evidence.ts';
import { dialects } from '../../support/dialects.ts';
import { readLines } from '../../support/read-lines.ts';

const payment = { endToEnd: 'E1', amountCents: 1_050 };
const withoutStatus = { endToEnd: 'E1', amount: 10.5, direction: 'DEBIT' };
const undirected = { endToEnd: 'E1', amount: 10.5, status: 'CONFIRMED' };
const line = { ...withoutStatus, status: 'CONFIRMED' };
const reversal = { ...line, direction: 'CREDIT', type: 'REVERSAL' };
const returnId = `D${'9'.repeat(31)}`;
const back = {
  ...undirected,
  endToEnd: undefined,
  originalEndToEnd: 'E1',
  returnId,
  direction: 'CREDIT',
};

const pickLines = (items: Lines, settledOnly = false) =>
  readLines(dialects.readStatement(items, settledOnly)?.lines ?? assert.fail());

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
    'its fee, by its declared kind': [line, { ...line, amount: 0.25, type: 'FEE' }],
    'its fee as a negative number': [line, { ...undirected, amount: -0.25, type: 'TARIFA' }],
    'its hold, by its declared kind': [{ ...undirected, type: 'PIX_HOLD' }, line],
    'a pending and a settled line of one payment': [{ ...line, status: 'PROCESSING' }, line],
    'money back with a return id': [line, { ...back, amount: 0.5 }],
    'a refund that names the payment in a field of its own': [
      line,
      { endToEnd: 'D9', original: { endToEndId: 'E1' }, amount: 10.5, direction: 'CREDIT' },
    ],
    'a return with an id of its own': [
      line,
      { returnId: `D${'9'.repeat(31)}`, originalEndToEnd: 'E1', amount: 10.5, direction: 'DEBIT' },
    ],
  },
  returned: {
    'money back with a return id, and lines that are not clear': [line, line, back],
    'money back with a return id, beside a reversal of the same money': [line, reversal, back],
    'money back with a return id, of a payment that is under way': [
      { ...line, status: 'PROCESSING' },
      { ...back, amount: 0.5 },
    ],
    'money back with a return id alone': [back],
  },
  reversed: {
    'a debit and its reversal': [line, reversal],
    'a reversal without a direction': [{ ...undirected, type: 'Estorno' }, line],
    'two debits and their reversals': [line, line, reversal, reversal],
    'a debit, its fee and its reversal': [line, { ...undirected, type: 'FEE' }, reversal],
    'a debit that was pending before, and its reversal': [
      { ...line, status: 'PROCESSING' },
      line,
      reversal,
    ],
  },
  pending: {
    ...Object.fromEntries(['PIX_HOLD', 'BLOQUEIO', 'Agendamento', 'TARIFA'].map(withType)),
    'a hold alone': [{ ...undirected, type: 'PIX_HOLD' }],
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
    'a part that came back without a return id': [line, { ...reversal, amount: 0.5 }],
    'a reversal that is under way': [line, { ...reversal, status: 'PROCESSING' }],
    'a debit that failed, and a reversal': [{ ...line, status: 'ERROR' }, reversal],
    'two debits and one reversal': [line, line, reversal],
    'a debit and a reversal of another amount': [
      { ...line, amount: 0.5 },
      { ...reversal, amount: 0.5 },
    ],
    'money back with a return id of another form': [line, { ...back, returnId: 'D1' }],
    'more money back than was paid': [{ ...back, amount: 10.51 }],
    'money back that is under way': [{ ...back, status: 'PROCESSING' }],
    'a settled line, and a pending one of another amount': [
      line,
      { ...line, amount: 1, status: 'PROCESSING' },
    ],
    'a pending and a failed line': [
      { ...line, status: 'PROCESSING' },
      { ...line, status: 'ERROR' },
    ],
    'a word that no dialect has': [
      { endToEndId: 'E1', value: 10.5, status: 'PAID', type: 'pixEnviado', natureza: 'DEBITO' },
    ],
    'a second line with the id': [line, { ...line, amount: 0.25 }],
    'a second line of a kind that no dialect has': [line, { ...line, amount: 0.25, type: 'IOF' }],
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
    ...Object.fromEntries(['pixReserve', 'PRE_AUTHORIZATION'].map(withType)),
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
      assert.equal(findSendEvidence(pickLines(items), payment).evidence, evidence);
    });
  }
}

test('a line without a status counts as settled only where the provider documents that', () => {
  const judge = (item: Lines[number]) =>
    findSendEvidence(pickLines([item], true), payment).evidence;
  assert.equal(judge(withoutStatus), 'completed');
  assert.equal(judge({ ...line, status: 'PROCESSING' }), 'pending');
  assert.equal(judge({ ...line, status: 'SCHEDULED' }), 'unclear');
});

const txid = 'abcdefghijklmnopqrstuvwxyz';
const received = { endToEnd: 'E1', txid, amount: 20, direction: 'CREDIT', status: 'CONFIRMED' };
const charge = { transactionIdentification: txid, amountCents: 2_000 };

const e1 = 'E11165756202605241200aaaaaaaaaaa';

test('a settled incoming line with its identification and its amount pays a charge', () => {
  const paid = { ...received, endToEnd: e1 };
  const judge = (...items: Lines) => findChargeEvidence(pickLines(items), charge);
  const find = (...items: Lines) => {
    const judged = judge(...items);
    return judged.evidence === 'paid' ? judged.line : null;
  };
  assert.equal(find(paid)?.ids.endToEnd, e1);
  const cut = { ...paid, txid: txid.slice(0, 25) };
  assert.equal(find(cut)?.ids.transactionIdentification, txid.slice(0, 25));
  assert.equal(find({ ...paid, endToEnd: undefined })?.ids.endToEnd, null);
  const absent = {
    'another identification': { ...paid, txid: txid.slice(1) },
    'no identification': { ...paid, txid: undefined },
    'another amount': { ...paid, amount: 20.01 },
    'a payment of the owner': { ...paid, direction: 'DEBIT' },
    'in progress': { ...paid, status: 'PROCESSING' },
    'money that was given back': { ...paid, returnId: `D${'1'.repeat(31)}` },
  };
  for (const [title, other] of Object.entries(absent)) {
    assert.equal(judge(other).evidence, 'absent', title);
  }
  const unclear = {
    'no direction': [{ ...paid, direction: undefined }],
    'no status': [{ ...paid, status: undefined }],
    'a second line': [paid, paid],
    'a second line without an end-to-end id': [
      { ...paid, endToEnd: undefined },
      { ...paid, endToEnd: undefined },
    ],
    'an id of another form': [{ ...paid, endToEnd: 'E1' }],
    'money that left under the same id': [paid, { ...paid, direction: 'DEBIT' }],
  };
  for (const [title, lines] of Object.entries(unclear)) {
    assert.equal(judge(...lines).evidence, 'unclear', title);
  }
});
