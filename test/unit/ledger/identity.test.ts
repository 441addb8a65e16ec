import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fromStatement } from '../../../src/domain/pix.ts';
import { noPayee, type WebhookItem } from '../../../src/provider/webhook-events.ts';
import { judge } from '../../../src/ledger/judge.ts';
import { toFacts, toReport } from '../../../src/ledger/report.ts';
import { maxCandidates, type CandidateRow } from '../../../src/ledger/transaction-repository.ts';

type Item = Pick<WebhookItem, 'kind' | 'ids' | 'amountCents' | 'isNamedAlone'>;

const noIds = {
  endToEnd: null,
  clientRequestId: null,
  transactionIdentification: null,
  providerTxid: null,
};

function makeItem(
  kind: 'payment' | 'received',
  ids: Partial<Item['ids']>,
  amountCents: number | null = 1050,
): Item {
  return { kind, ids: { ...noIds, ...ids }, amountCents, isNamedAlone: true };
}

const payment = (ids: Partial<Item['ids']>, amountCents?: number | null) =>
  makeItem('payment', ids, amountCents);
const receipt = (ids: Partial<Item['ids']>, amountCents?: number | null) =>
  makeItem('received', ids, amountCents);

function stored(changes: Partial<CandidateRow>): CandidateRow {
  return {
    id: 'transaction',
    operation: 'SEND',
    status: 'PROCESSING',
    failureCode: null,
    amount: '10.50',
    idempotencyKey: 'key',
    endToEnd: 'E1',
    transactionIdentification: null,
    providerTxid: 'P1',
    userId: 1,
    phase: 'ACCEPTED',
    outcome: 'accepted',
    qrCode: null,
    copyPaste: null,
    pixKey: null,
    repeated: false,
    createdAt: new Date(0),
    expiresAt: null,
    reachedPayee: null,
    owner: null,
    paidBy: null,
    ...changes,
  };
}

const send = (changes: Partial<CandidateRow> = {}) => stored(changes);
const charge = (changes: Partial<CandidateRow> = {}) =>
  stored({
    operation: 'CHARGE',
    endToEnd: null,
    transactionIdentification: 'T1',
    providerTxid: 'C1',
    ...changes,
  });
const received = (changes: Partial<CandidateRow> = {}) =>
  stored({ operation: 'RECEIVED', status: 'COMPLETED', idempotencyKey: null, ...changes });

/** The transaction that a completion with these ids is about, or why it is about none. */
function meant(item: Item, ...candidates: CandidateRow[]): string {
  const whole: WebhookItem = {
    ...item,
    index: 0,
    name: 'made up',
    shape: null,
    status: 'COMPLETED',
    payee: noPayee,
    reason: null,
    ignoredBecause: null,
    word: null,
  };
  const report = toReport({ source: fromStatement, item: whole, receivedAt: new Date(1) });
  const [verdict] = judge(report, toFacts({ candidates, payees: [] }));
  switch (verdict?.kind) {
    case 'move':
    case 'correct':
    case 'already':
      return verdict.transaction.id;
    case 'identify':
      return `${verdict.transaction.id}: identified ${verdict.endToEnd}`;
    case 'conflict':
      return `${verdict.transaction?.id}: ${verdict.reason}`;
    case 'waits':
      return verdict.beside ? `${verdict.beside.transaction.id}: ${verdict.beside.reason}` : 'none';
    case 'record':
      return verdict.beside
        ? `${verdict.beside.transaction.id}: ${verdict.beside.reason}`
        : 'record';
    default:
      return verdict?.kind ?? 'nothing';
  }
}

describe('an item about a payment', () => {
  test('means the send with its end-to-end id, its provider id or its request id', () => {
    assert.equal(meant(payment({ endToEnd: 'E1' }), send()), 'transaction');
    assert.equal(meant(payment({ providerTxid: 'P1' }), send()), 'transaction');
    assert.equal(meant(payment({ providerTxid: 'P1' }, null), send()), 'none');
    const ended = send({ status: 'COMPLETED' });
    assert.equal(meant(payment({ providerTxid: 'P1' }, null), ended), 'transaction');
    assert.equal(meant(receipt({ providerTxid: 'C1' }), charge()), 'transaction');
    assert.equal(meant(receipt({ providerTxid: 'C1' }, null), charge()), 'none');
    const otherEnd = { endToEnd: 'E9', clientRequestId: 'key' };
    assert.equal(meant(payment(otherEnd), send()), 'none');
    assert.equal(meant(payment(otherEnd, 1051), send()), 'none');
    assert.equal(meant(payment(otherEnd, null), send()), 'none');
    assert.equal(meant(payment(otherEnd), send({ status: 'COMPLETED' })), 'none');
    assert.equal(meant(receipt(otherEnd), send()), 'none');
    const cameIn = received({ id: 'known', endToEnd: 'E9' });
    assert.equal(meant(payment(otherEnd), send(), cameIn), 'none');
    const both = { providerTxid: 'P1', clientRequestId: 'key' };
    assert.equal(meant(payment(both, null), send()), 'transaction');
    assert.equal(meant(payment({ clientRequestId: 'key' }), send()), 'transaction');
    assert.equal(meant(payment({ clientRequestId: 'key' }, null), send()), 'none');
    const all = { endToEnd: 'E1', clientRequestId: 'key', providerTxid: 'P1' };
    assert.equal(meant(payment(all), send()), 'transaction');
  });

  test("by the provider's id alone means none, unless its shape declares that it names one", () => {
    const undeclared = (item: Item): Item => {
      const { isNamedAlone: _, ...rest } = item;
      return rest;
    };
    const alone = undeclared(payment({ providerTxid: 'P1' }));
    for (const status of ['PROCESSING', 'COMPLETED', 'FAILED'] as const) {
      assert.equal(meant(alone, send({ status })), 'none');
    }
    const both = undeclared(payment({ providerTxid: 'P1', clientRequestId: 'key' }));
    assert.equal(
      meant(both, send({ id: 'other', endToEnd: 'E2', amount: '3.00' }), send()),
      'transaction',
    );
    assert.equal(meant(undeclared(receipt({ providerTxid: 'C1' })), charge()), 'none');
  });

  test('contradicts a send with another id of the provider, unless the end-to-end id is its own', () => {
    const other = { clientRequestId: 'key', providerTxid: 'P2' };
    for (const status of ['PROCESSING', 'COMPLETED', 'FAILED'] as const) {
      assert.equal(meant(payment(other), send({ status })), 'transaction: other_provider_id');
    }
    assert.equal(meant(payment(other), send({ providerTxid: null })), 'transaction');
    assert.equal(meant(payment({ ...other, endToEnd: 'E1' }), send()), 'transaction');
  });

  test('means nothing without a candidate, and never what shares only an absent id', () => {
    assert.equal(meant(payment({ endToEnd: 'E1' })), 'none');
    const reserved = send({ endToEnd: null, providerTxid: null });
    assert.equal(meant(payment({}), reserved), 'none');
    assert.equal(meant(payment({ transactionIdentification: 'T1' }), reserved), 'none');
    assert.equal(meant(receipt({}), charge({ transactionIdentification: null })), 'none');
  });

  test('means the one with its end-to-end id among those that share the request id', () => {
    const item = payment({ endToEnd: 'E2', clientRequestId: 'key' });
    const candidates = [send({ id: 'a' }), send({ id: 'b', endToEnd: 'E2' })];
    assert.equal(meant(item, ...candidates), 'b');
    assert.equal(meant(item, ...candidates.reverse()), 'b');
  });

  test('means none when its request id is that of several sends and no other field decides', () => {
    const item = payment({ clientRequestId: 'key' });
    assert.equal(meant(item, send({ id: 'a' }), send({ id: 'b', endToEnd: 'E2' })), 'none');
  });

  test('means the one of several with its request id that alone has its amount', () => {
    const item = payment({ clientRequestId: 'key' }, 1050);
    const other = send({ id: 'b', endToEnd: 'E2', amount: '20.00' });
    assert.equal(meant(item, send(), other), 'transaction');
    assert.equal(meant(item, send(), send({ id: 'b', endToEnd: 'E2' })), 'none');
    const failed = send({ id: 'b', endToEnd: null, status: 'FAILED' });
    assert.equal(meant(item, send(), failed), 'none', 'it may report the failed one');
    assert.equal(meant(payment({ clientRequestId: 'key' }, null), send(), other), 'none');
    assert.equal(meant(payment({ clientRequestId: 'key' }, 3000), send(), other), 'none');
  });

  test('means none by its request id where more may share it than are looked at', () => {
    const others = Array.from({ length: maxCandidates - 1 }, (_, nth) =>
      send({ id: `other ${nth}`, amount: '20.00', endToEnd: `E-${nth}` }),
    );
    const item = payment({ clientRequestId: 'key' });
    assert.equal(meant(item, send(), ...others.slice(1)), 'transaction');
    assert.equal(meant(item, send(), ...others), 'none');
    assert.equal(meant(payment({ endToEnd: 'E1' }), send(), ...others), 'transaction');
  });

  test("means none by a provider's id that two have", () => {
    const two = [send({ id: 'a' }), send({ id: 'b', endToEnd: 'E2', idempotencyKey: 'other' })];
    assert.equal(meant(payment({ providerTxid: 'P1' }), ...two), 'none');
    assert.equal(meant(payment({ providerTxid: 'P1', clientRequestId: 'other' }), ...two), 'b');
  });

  test('with an end-to-end id means, by its request id, only a send that has none yet', () => {
    const item = payment({ endToEnd: 'E9', clientRequestId: 'key' });
    assert.equal(meant(item, send({ endToEnd: null, providerTxid: null })), 'transaction');
    assert.equal(meant(item, send({ amount: '10.51' })), 'none');
  });

  test('of the payer never means a charge or what was received', () => {
    const own = { endToEnd: 'E1', clientRequestId: 'key', providerTxid: 'P1' };
    assert.equal(meant(payment(own), charge({ providerTxid: 'P1', endToEnd: 'E1' })), 'none');
    assert.equal(meant(payment(own), received()), 'none');
  });

  test('contradicts a send that has another request id or another end-to-end id', () => {
    const otherRequest = payment({ endToEnd: 'E1', clientRequestId: 'other' });
    assert.equal(meant(otherRequest, send()), 'transaction: ids_disagree');
    const otherEnd = payment({ endToEnd: 'E2', providerTxid: 'P1' });
    assert.equal(meant(otherEnd, send()), 'transaction: ids_disagree');
  });

  test('contradicts a send of another amount, by a centavo too', () => {
    assert.equal(meant(payment({ endToEnd: 'E1' }, 1051), send()), 'transaction: amount_mismatch');
    assert.equal(
      meant(payment({ endToEnd: 'E1' }, 105000), send()),
      'transaction: amount_mismatch',
    );
  });

  test('without an amount is matched by its ids', () => {
    assert.equal(meant(payment({ endToEnd: 'E1' }, null), send()), 'transaction');
  });
});

describe('an item about a PIX received', () => {
  test('means the charge with its identification, whether or not it says an end-to-end id', () => {
    assert.equal(meant(receipt({ transactionIdentification: 'T1' }), charge()), 'transaction');
    const both = receipt({ transactionIdentification: 'T1', endToEnd: 'E1' });
    assert.equal(meant(both, charge()), 'transaction');
    assert.equal(meant(both, charge({ status: 'COMPLETED', endToEnd: 'E1' })), 'transaction');
  });

  test('is recorded when a charge was paid by another PIX: it is a second payment', () => {
    const second = receipt({ transactionIdentification: 'T1', endToEnd: 'E2' });
    assert.equal(meant(second, charge({ status: 'COMPLETED', endToEnd: 'E1' })), 'record');
  });

  test('is the payment of a charge that was completed without one, the first time', () => {
    const completed = charge({ status: 'COMPLETED' });
    const named = receipt({ transactionIdentification: 'T1', endToEnd: 'E1' });
    assert.equal(meant(named, completed), 'transaction: identified E1');
    const unnamed = receipt({ transactionIdentification: 'T1' });
    assert.equal(meant(unnamed, completed), 'transaction: paid_again_without_id');
    assert.equal(meant(named, charge()), 'transaction', 'an open charge is completed by it');
    const other = receipt({ transactionIdentification: 'T1', endToEnd: 'E2' });
    assert.equal(meant(other, charge({ status: 'COMPLETED', endToEnd: 'E1' })), 'record');
    const wrong = receipt({ transactionIdentification: 'T1', endToEnd: 'E1' }, 1049);
    assert.equal(meant(wrong, completed), 'transaction: amount_mismatch');
  });

  test('is no news when its payment has completed a charge, which it need not name', () => {
    const paid = charge({ id: 'paid', status: 'COMPLETED', endToEnd: 'E1' });
    assert.equal(meant(receipt({ endToEnd: 'E1' }), paid), 'paid');
    const otherwise = receipt({ transactionIdentification: 'T9', endToEnd: 'E1' });
    assert.equal(meant(otherwise, paid), 'paid');
  });

  test('means an open charge that it names, even when the PIX was recorded without it', () => {
    const item = receipt({ transactionIdentification: 'T1', endToEnd: 'E1' });
    assert.equal(meant(item, received({ id: 'recorded' }), charge()), 'transaction');
  });

  test('contradicts a charge of another amount', () => {
    const item = receipt({ transactionIdentification: 'T1' }, 1049);
    assert.equal(meant(item, charge()), 'transaction: amount_mismatch');
  });

  test('never means a send, which is the same payment seen from the other side', () => {
    assert.equal(meant(receipt({ endToEnd: 'E1', providerTxid: 'P1' }), send()), 'none');
    assert.equal(meant(receipt({ clientRequestId: 'key' }), send()), 'none');
  });
});

test('an amount is compared in centavos, exactly, up to the largest', () => {
  const largest = send({ amount: '999999999.99' });
  assert.equal(meant(payment({ endToEnd: 'E1' }, 99999999999), largest), 'transaction');
  const differs = 'transaction: amount_mismatch';
  assert.equal(meant(payment({ endToEnd: 'E1' }, 99999999998), largest), differs);
  assert.equal(meant(payment({ endToEnd: 'E1' }, 29), send({ amount: '0.29' })), 'transaction');
});
