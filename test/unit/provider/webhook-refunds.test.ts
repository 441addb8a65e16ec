/** What items say of refunds, and of charges that have expired. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WebhookItem } from '../../../src/provider/webhook-events.ts';
import { dialects } from '../../support/dialects.ts';

const endToEnd = 'E11165756202605241530aB3dE5gH7jK';
const returnId = 'D00000000202605241700aB3dE5gH7jK';
const txid = 'Q7w8E9r0T1y2U3i4O5p6A7s8D9';

function readOne(payload: unknown): WebhookItem {
  const [item, ...others] = dialects.readEvents(payload);
  assert.ok(item && others.length === 0);
  return item;
}

/** A refund in a few words, or why it is ignored. */
function inWords({ kind, ids, refund, amountCents, ignoredBecause }: WebhookItem): string {
  if (kind === 'ignored') return `${ignoredBecause}`;
  assert.equal(ids.endToEnd, endToEnd);
  assert.equal(refund?.returnId, returnId);
  return `${kind} ${refund?.direction} ${amountCents}`;
}

const flat = (changes: object = {}) => ({
  event: 'PIX_REFUND_IN',
  endToEnd,
  returnId,
  amount: 4,
  status: 'CONFIRMED',
  ...changes,
});

const entity = (name: string, body: object = {}) => ({
  entity: name,
  status: 'CONFIRMED',
  body: { id: '1', endToEndId: endToEnd, returnIdentification: returnId, amount: 4, ...body },
});

const refundTransaction = { value: 400, endToEndId: returnId, status: 'CONFIRMED', type: 'REFUND' };

const shapes: readonly (readonly [says: string, payload: unknown, expected: string])[] = [
  ['flat', flat(), 'refund in 400'],
  ['an entity in', entity('pix-reversal-in'), 'refund in 400'],
  ['an entity out', entity('pix-reversal-out'), 'refund out 400'],
  [
    'objects of the refund and of the payment, in centavos',
    {
      event: 'PIX_TRANSACTION_REFUND_RECEIVED_CONFIRMED',
      refundTransaction,
      originalTransaction: { endToEndId: endToEnd, value: 1_000 },
    },
    'refund in 400',
  ],
  [
    'a refund within a transaction, without a direction',
    {
      event: 'OPENPIX:TRANSACTION_REFUND_RECEIVED',
      refund: { value: 400, returnIdentification: returnId },
      transaction: { value: 1_000, endToEndId: endToEnd },
    },
    'refund null 400',
  ],
  [
    'a request body',
    {
      RequestBody: {
        TransactionType: 'REVERTED',
        EndToEndId: endToEnd,
        ReturnIdentification: returnId,
        Amount: 4,
        StatusCode: { StatusId: 2, Description: 'CONFIRMED' },
      },
    },
    'refund null 400',
  ],
  ["the central bank's word", flat({ event: 'DEVOLUCAO', status: 'DEVOLVIDO' }), 'refund null 400'],
  ['a return because of fraud', flat({ event: 'MED' }), 'refund null 400'],
  ['no status', flat({ status: undefined }), 'refund in 400'],
  [
    'a status of the word',
    flat({ event: 'REFUND_CONFIRMED', status: undefined }),
    'refund null 400',
  ],
  ['one that is under way', flat({ status: 'EM_PROCESSAMENTO' }), 'processing'],
  ['one that was not made', flat({ status: 'NAO_REALIZADO' }), 'not_refunded'],
  ['one that has failed', flat({ status: 'ERROR' }), 'not_refunded'],
  ['an unknown status', flat({ status: 'SOMEHOW' }), 'unknown_status'],
  ['no return id', flat({ returnId: undefined }), 'reversal'],
  ['an id of another form', flat({ returnId: 'refund-1' }), 'reversal'],
  ['no payment', flat({ endToEnd: undefined }), 'reversal'],
  ['two payments', flat({ originalEndToEnd: endToEnd.replace('K', 'L') }), 'contradictory_id'],
  ['two return ids', flat({ rtrId: returnId.replace('K', 'L') }), 'contradictory_id'],
  ['no amount', flat({ amount: undefined }), 'unreadable_amount'],
  ['two amounts', flat({ valor: '5.00' }), 'unreadable_amount'],
  ['an unknown word about refunds', flat({ event: 'REFUND_POLICY' }), 'reversal'],
];

describe('a refund', () => {
  for (const [says, payload, expected] of shapes) {
    it(`${says}: ${expected}`, () => assert.equal(inWords(readOne(payload)), expected));
  }

  it("of the central bank's list follows the PIX of the list", () => {
    const devolucoes = [{ id: 'x', rtrId: returnId, valor: '4.00', status: 'DEVOLVIDO' }];
    const pix = { endToEndId: endToEnd, txid, valor: '10.00', horario: '2026-05-24T12:00:00Z' };
    const items = dialects.readEvents({
      pix: [
        { ...pix, devolucoes },
        { ...pix, endToEndId: '2' },
      ],
    });
    assert.deepEqual(
      items.map(({ index, kind }) => [index, kind]),
      [
        [0, 'received'],
        [1, 'received'],
        [2, 'refund'],
      ],
    );
    assert.equal(inWords(items[2] ?? assert.fail()), 'refund out 400');
  });
});

const charge = { value: 400, status: 'EXPIRED', correlationID: txid };

const expiries: readonly (readonly [says: string, payload: unknown, expected: string])[] = [
  ['by its word', { event: 'OPENPIX:CHARGE_EXPIRED', charge }, 'expired'],
  ['with a prefix', { event: 'X_CHARGE_EXPIRED', txid, amount: 4 }, 'expired'],
  ['by its status', { event: 'CHARGE', txid, amount: 4, status: 'EXPIRADA' }, 'expired'],
  ['with a payment', { event: 'CHARGE_EXPIRED', txid, endToEnd }, 'contradictory_status'],
  ['that was paid', { event: 'CHARGE_EXPIRED', txid, status: 'PAID' }, 'contradictory_status'],
  ['without an id', { event: 'CHARGE_EXPIRED', amount: 4 }, 'no_id'],
  ['of a received PIX', { event: 'PIX_RECEIVED', txid, status: 'EXPIRED' }, 'unknown_status'],
];

describe('a charge that has expired', () => {
  for (const [says, payload, expected] of expiries) {
    it(`${says}: ${expected}`, () => {
      const { kind, ignoredBecause, ids, status } = readOne(payload);
      assert.equal(ignoredBecause ?? kind, expected);
      if (kind === 'expired') {
        assert.deepEqual([ids.transactionIdentification, status], [txid, 'FAILED']);
      }
    });
  }
});
