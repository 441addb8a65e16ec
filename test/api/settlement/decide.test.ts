/** What becomes of an item, decided from what is stored: a table of cases without a database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decide, needsFacts } from '../../../src/settlement/decide.ts';
import type { Decision } from '../../../src/settlement/decision.ts';
import type { CandidateRow, PayeeRow } from '../../../src/settlement/transaction-repository.ts';
import { readWebhookEvents, type WebhookItem } from '../../../src/provider/webhook-events.ts';

const eventId = '019d0000-0000-7000-8000-000000000001';
const endToEnd = 'E11165756202605241200aaaaaaaaaaa';
const otherEndToEnd = 'E11165756202605241200bbbbbbbbbbb';
const txid = 'abcdefghijklmnopqrstuvwxyz';

const send: CandidateRow = {
  id: 'send',
  user_id: 1,
  operation: 'SEND',
  idempotency_key: 'key',
  status: 'PROCESSING',
  phase: 'ACCEPTED',
  outcome: 'accepted',
  amount: '10.50',
  end_to_end: endToEnd,
  transaction_identification: null,
  qr_code: null,
  copy_paste: null,
  pix_key: 'bruno@example.com',
  provider_txid: 'bank-1',
  repeated: false,
};

const charge: CandidateRow = {
  ...send,
  id: 'charge',
  operation: 'CHARGE',
  idempotency_key: 'charge-key',
  pix_key: null,
  end_to_end: null,
  transaction_identification: txid,
  qr_code: 'qr',
  provider_txid: null,
};

const ended = { phase: 'SETTLED' } as const;
const completed = { ...ended, status: 'COMPLETED' } as const;
const failed = { ...ended, status: 'FAILED' } as const;

const record: CandidateRow = {
  ...send,
  ...completed,
  id: 'record',
  operation: 'RECEIVED',
  idempotency_key: null,
  provider_txid: null,
};

const ana: PayeeRow = { user_id: 1, agrees: true };
const bruno: PayeeRow = { user_id: 2, agrees: true };

const sent = { event: 'PIX_PAYMENT_OUT', status: 'CONFIRMED', endToEnd };
const received = { event: 'PIX_RECEIVED', endToEnd, amount: 10.5 };
const ofCharge = { ...received, txid };

type Payload = Readonly<Record<string, unknown>>;

function itemOf(payload: Payload): WebhookItem {
  const [item] = readWebhookEvents(payload);
  assert.ok(item);
  return item;
}

/** A decision in a few words, with the transaction that it is about. */
function inWords(decision: Decision): string {
  switch (decision.kind) {
    case 'move':
      return `move ${decision.transaction.id} to ${decision.move.status}`;
    case 'record': {
      const { received: pix, beside } = decision;
      return `record for ${pix.userId}${beside ? ` beside ${beside.reason}` : ''}`;
    }
    case 'identify':
    case 'correct':
      return `${decision.kind} ${decision.transaction.id}`;
    case 'refund': {
      const { refund, transaction } = decision;
      return `${refund.operation} ${refund.amountCents} of ${transaction.id}`;
    }
    case 'skip': {
      const { result, reason, transaction, meanwhile } = decision;
      const words = [result, reason, transaction?.id, meanwhile && `flag ${meanwhile.reason}`];
      return words.filter(Boolean).join(' ');
    }
    default:
      return `${decision.kind} ${decision.transaction.id} ${decision.reason}`;
  }
}

type Case = readonly [
  says: string,
  payload: Payload,
  candidates: readonly CandidateRow[],
  expected: string | readonly string[],
  payees?: readonly PayeeRow[],
];

const cases: readonly Case[] = [
  ['the end of an accepted send', sent, [send], 'move send to COMPLETED'],
  ['a failure of an accepted send', { ...sent, status: 'ERROR' }, [send], 'move send to FAILED'],
  [
    'the end of a send whose outcome is unknown',
    sent,
    [{ ...send, phase: 'UNKNOWN', outcome: 'unknown' }],
    'move send to COMPLETED',
  ],
  [
    'the end of a send during PAYING',
    sent,
    [{ ...send, phase: 'PAYING' }],
    'move send to COMPLETED',
  ],
  [
    'a failure during PAYING',
    { ...sent, status: 'ERROR' },
    [{ ...send, phase: 'PAYING' }],
    'parked still_paying send',
  ],
  [
    'a failure of a payment that was repeated',
    { ...sent, status: 'ERROR' },
    [{ ...send, repeated: true }],
    'flag send failed_after_repeat',
  ],
  [
    'the end of a send that has not left',
    { ...sent, endToEnd: undefined, clientRequestId: 'key' },
    [{ ...send, phase: 'RESERVED', end_to_end: null }],
    'parked not_paying_yet send',
  ],
  ['the same end again', sent, [{ ...send, ...completed }], 'already send'],
  [
    'a failure of a completed send',
    { ...sent, status: 'ERROR' },
    [{ ...send, ...completed }],
    'flag send contradicts_final_status',
  ],
  [
    'the end of a failed send',
    sent,
    [{ ...send, ...failed }],
    'flag send contradicts_final_status',
  ],
  [
    'the end of a failed send, with its amount',
    { ...sent, amount: 10.5 },
    [{ ...send, ...failed }],
    'correct send',
  ],
  ['another amount', { ...sent, amount: 10.51 }, [send], 'flag send amount_mismatch'],
  ['another key', { ...sent, clientRequestId: 'x' }, [send], 'flag send ids_disagree'],
  [
    'the key of a send with another end-to-end id',
    { ...sent, endToEnd: otherEndToEnd, clientRequestId: 'key', amount: 10.5 },
    [send],
    'flag send other_end_to_end',
  ],
  [
    'the id of the provider and the amount',
    { ...sent, endToEnd: undefined, id: 'bank-1', amount: 10.5 },
    [send],
    'move send to COMPLETED',
  ],
  [
    'the id of the provider alone',
    { ...sent, endToEnd: undefined, id: 'bank-1' },
    [send],
    'parked no_match',
  ],
  ['a send that is not stored', sent, [], 'parked no_match'],
  [
    'a word that is not known',
    { ...sent, status: 'PERHAPS' },
    [send],
    'unread send unknown_status',
  ],
  [
    'a word that is not known, of no open send',
    { ...sent, status: 'PERHAPS' },
    [],
    'ignored unknown_status',
  ],
  ['a reversal', { ...sent, event: 'REVERSAL' }, [{ ...send, ...completed }], 'ignored reversal'],
  ['a payment that is under way', { ...sent, status: 'PROCESSING' }, [send], 'ignored processing'],
  ['a charge that is paid', ofCharge, [charge], 'move charge to COMPLETED'],
  [
    'a charge that is paid before its code is stored',
    ofCharge,
    [{ ...charge, phase: 'RESERVED' }],
    'move charge to COMPLETED',
  ],
  [
    'a charge with another amount',
    { ...ofCharge, amount: 1 },
    [charge],
    'record for 1 beside amount_mismatch',
  ],
  [
    'a charge whose payment is known now',
    ofCharge,
    [{ ...charge, ...completed }],
    'identify charge',
  ],
  [
    'a payment that has completed a charge',
    { ...received },
    [{ ...charge, ...completed, end_to_end: endToEnd }],
    'already charge',
  ],
  [
    'a charge that is paid once more',
    { ...ofCharge, endToEnd: otherEndToEnd },
    [{ ...charge, ...completed, end_to_end: endToEnd }],
    'record for 1',
  ],
  [
    'a charge of another payee',
    { ...ofCharge, key: 'b@b.test' },
    [charge],
    'flag charge payee_disagrees',
    [bruno],
  ],
  ['a PIX for one account', { ...received, key: 'a@b.test' }, [], 'record for 1', [ana]],
  ['a PIX for two accounts', { ...received, key: 'a@b.test' }, [], 'parked no_match', [ana, bruno]],
  [
    'a PIX for an account that disagrees',
    { ...received, key: 'a@b.test' },
    [],
    'parked no_match',
    [{ ...ana, agrees: false }],
  ],
  ['a PIX that is recorded', received, [record], 'already record'],
  [
    'a PIX that is recorded with another amount',
    { ...received, amount: 1 },
    [record],
    'flag record amount_mismatch',
  ],
  [
    'the same, which names a charge',
    { ...ofCharge, amount: 1 },
    [record],
    'parked no_match flag amount_mismatch',
  ],
  [
    'a payment between two customers, by the payer and the payee',
    { ...sent, txid, amount: 10.5 },
    [send, charge],
    ['move send to COMPLETED', 'move charge to COMPLETED'],
  ],
];

for (const [says, payload, candidates, expected, payees = []] of cases) {
  test(`${says}: ${String(expected)}`, () => {
    const decisions = decide({ eventId, item: itemOf(payload) }, { candidates, payees });
    assert.deepEqual(decisions.map(inWords), [expected].flat());
  });
}

test('a move names the event in the timeline, and leaves only phases that may end so', () => {
  const [decision] = decide({ eventId, item: itemOf(sent) }, { candidates: [send], payees: [] });
  assert.ok(decision?.kind === 'move');
  assert.deepEqual(decision.move.timeline, [{ phase: 'SETTLED', eventId, note: 'COMPLETED' }]);
  assert.deepEqual(decision.move.from, ['PAYING', 'ACCEPTED', 'UNKNOWN']);
});

test('an item that moves nothing and contradicts nothing needs no look at what is stored', () => {
  const without = [{ event: 'CONTA_CRIADA' }, { ...sent, status: 'PROCESSING' }, { a: 1 }];
  assert.deepEqual(
    without.map((payload) => needsFacts(itemOf(payload))),
    [false, false, false],
  );
  assert.equal(needsFacts(itemOf({ ...sent, status: 'PERHAPS' })), true);
});
