/** What becomes of a report, by what is stored: a table of cases without a database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromEvent } from '../../../src/domain/pix.ts';
import { judge } from '../../../src/ledger/judge.ts';
import { returnRequestId } from '../../../src/ledger/return-ids.ts';
import {
  needsFacts,
  toFacts,
  toReport,
  type ReportedItem,
  type Verdict,
} from '../../../src/ledger/report.ts';
import type { CandidateRow } from '../../../src/ledger/transaction-repository.ts';
import type { PayeeRow } from '../../../src/ledger/payee-repository.ts';
import type { WebhookItem } from '../../../src/provider/webhook-events.ts';
import { dialects } from '../../support/dialects.ts';

const receivedAt = new Date('2026-05-24T12:00:01.000Z');
const again = 'conflict charge paid_again_without_id';
const eventId = '019d0000-0000-7000-8000-000000000001';
const endToEnd = 'E11165756202605241200aaaaaaaaaaa';
const otherEndToEnd = 'E11165756202605241200bbbbbbbbbbb';
const txid = 'abcdefghijklmnopqrstuvwxyz';

const send: CandidateRow = {
  id: 'send',
  userId: 1,
  operation: 'SEND',
  idempotencyKey: 'key',
  status: 'PROCESSING',
  phase: 'ACCEPTED',
  outcome: 'accepted',
  failureCode: null,
  amount: '10.50',
  endToEnd,
  transactionIdentification: null,
  qrCode: null,
  copyPaste: null,
  pixKey: 'bruno@example.com',
  providerTxid: 'bank-1',
  repeated: false,
  createdAt: new Date('2026-05-24T12:00:00.000Z'),
  expiresAt: null,
  reachedPayee: null,
  owner: null,
  paidBy: null,
};

const charge: CandidateRow = {
  ...send,
  id: 'charge',
  operation: 'CHARGE',
  idempotencyKey: 'charge-key',
  pixKey: 'ana@example.com',
  endToEnd: null,
  transactionIdentification: txid,
  qrCode: 'qr',
  providerTxid: null,
  owner: ['0001', '123456', '52998224725'],
};

const returnId = 'D11165756202605241201ccccccccccc';
const younger = { createdAt: new Date('2026-05-24T12:00:01.001Z') };
const ended = { phase: 'SETTLED' } as const;
const completed = { ...ended, status: 'COMPLETED' } as const;
const failed = { ...ended, status: 'FAILED' } as const;

const record: CandidateRow = {
  ...send,
  ...completed,
  id: 'record',
  operation: 'RECEIVED',
  idempotencyKey: null,
  providerTxid: null,
};

const otherReturnId = 'D11165756202605241201ddddddddddd';
const made: CandidateRow = { ...send, id: 'return', operation: 'REFUND_OUT', endToEnd: returnId };
const returned = {
  event: 'PIX_REFUND_OUT',
  status: 'CONFIRMED',
  endToEnd,
  amount: 10.5,
  clientRequestId: returnRequestId({ userId: 1, idempotencyKey: 'key' }),
};

const ana: PayeeRow = { userId: 1, agrees: true, hasKey: true };
const bruno: PayeeRow = { userId: 2, agrees: true, hasKey: true };

const sent = { event: 'PIX_PAYMENT_OUT', status: 'CONFIRMED', endToEnd };
const received = { event: 'PIX_RECEIVED', endToEnd, amount: 10.5 };
const ofCharge = { ...received, txid };

type Payload = Readonly<Record<string, unknown>>;

function makeItem(payload: Payload): WebhookItem {
  const [item] = dialects.readEvents(payload);
  assert.ok(item);
  return item;
}

/** A verdict in a few words, with the transaction that it is about. */
function inWords(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'move':
      return `move ${verdict.transaction.id} to ${verdict.move.status}`;
    case 'record': {
      const { received: pix, beside } = verdict;
      const told = beside ? ` beside a conflict of the charge: ${beside.reason}` : '';
      return `record for ${pix.userId}${told}`;
    }
    case 'identify':
    case 'analysis':
    case 'correct':
    case 'already':
    case 'reached':
      return `${verdict.kind} ${verdict.transaction.id}`;
    case 'refund': {
      const { refund, transaction } = verdict;
      return `${refund.operation} ${refund.amountCents} of ${transaction.id}`;
    }
    case 'waits': {
      const { reason, transaction, beside } = verdict;
      const words = ['waits', reason, transaction?.id, beside && `conflict ${beside.reason}`];
      return words.filter(Boolean).join(' ');
    }
    case 'ignored':
      return ['ignored', verdict.reason, verdict.transaction?.id].filter(Boolean).join(' ');
    case 'conflict':
    case 'unread':
      return `${verdict.kind} ${verdict.transaction?.id ?? 'nothing'} ${verdict.reason}`;
  }
}

function verdictsOn(
  reported: Omit<ReportedItem, 'source' | 'receivedAt'>,
  candidates: readonly CandidateRow[],
  payees: readonly PayeeRow[] = [],
): readonly Verdict[] {
  return judge(
    toReport({ source: fromEvent(eventId), receivedAt, ...reported }),
    toFacts({ candidates, payees }),
  );
}

type Case = readonly [
  says: string,
  payload: Payload,
  candidates: readonly CandidateRow[],
  expected: string | readonly string[],
  payees?: readonly PayeeRow[],
];

const refused = { status: 'ERROR', error: { code: 'AC03' } };
const analysis = { status: 'UNDER_ANALYSIS' };

const cases: readonly Case[] = [
  ['the end of an accepted send', sent, [send], 'move send to COMPLETED'],
  ['a failure of an accepted send', { ...sent, ...refused }, [send], 'move send to FAILED'],
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
    { ...sent, ...refused },
    [{ ...send, phase: 'PAYING' }],
    'waits still_paying send',
  ],
  [
    'a failure of a payment that was repeated',
    { ...sent, ...refused },
    [{ ...send, repeated: true }],
    'conflict send failed_after_repeat',
  ],
  [
    'the same without its end-to-end id',
    { ...sent, ...refused, endToEnd: undefined, clientRequestId: 'key', id: 'bank-1' },
    [{ ...send, repeated: true }],
    'waits weak_id send conflict weak_id',
  ],
  [
    'the end of a send that has not left',
    { ...sent, endToEnd: undefined, clientRequestId: 'key', amount: 10.5 },
    [{ ...send, phase: 'RESERVED', endToEnd: null, providerTxid: null }],
    'waits not_paying_yet send',
  ],
  [
    'the end of a payment of another amount, whose send may be stored later',
    { ...sent, clientRequestId: 'key', amount: 99 },
    [{ ...send, phase: 'RESERVED', endToEnd: null, providerTxid: null }],
    'waits amount_mismatch send conflict amount_mismatch',
  ],
  [
    'the end of a payment of another amount, without an end-to-end id',
    { ...sent, endToEnd: undefined, clientRequestId: 'key', amount: 99 },
    [{ ...send, phase: 'RESERVED', endToEnd: null, providerTxid: null }],
    'conflict send amount_mismatch',
  ],
  ['the same end again', sent, [{ ...send, ...completed }], 'already send'],
  [
    'a failure of a completed send',
    { ...sent, ...refused },
    [{ ...send, ...completed }],
    'conflict send contradicts_final_status',
  ],
  [
    'the end of a failed send',
    sent,
    [{ ...send, ...failed }],
    'conflict send contradicts_final_status',
  ],
  [
    'the end of a failed send, with its amount',
    { ...sent, amount: 10.5 },
    [{ ...send, ...failed }],
    'correct send',
  ],
  ['another amount', { ...sent, amount: 10.51 }, [send], 'conflict send amount_mismatch'],
  ['another key', { ...sent, clientRequestId: 'x' }, [send], 'conflict send ids_disagree'],
  [
    'the key of a send with another end-to-end id',
    { ...sent, endToEnd: otherEndToEnd, clientRequestId: 'key', amount: 10.5 },
    [send],
    'waits no_match',
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
    'waits no_match',
  ],
  [
    'the key, the amount and another id of the provider',
    { ...sent, endToEnd: undefined, clientRequestId: 'key', amount: 10.5, id: 'bank-2' },
    [send],
    'conflict send other_provider_id',
  ],
  [
    'a failure of another payment of the provider',
    {
      ...sent,
      ...refused,
      endToEnd: undefined,
      clientRequestId: 'key',
      amount: 10.5,
      id: 'bank-2',
    },
    [send],
    'conflict send other_provider_id',
  ],
  [
    'a failure without a code of another payment of the provider',
    { ...sent, status: 'ERROR', endToEnd: undefined, clientRequestId: 'key', id: 'bank-2' },
    [send],
    'conflict send other_provider_id',
  ],
  [
    'the key alone',
    { ...sent, endToEnd: undefined, clientRequestId: 'key' },
    [send],
    'waits no_match',
  ],
  [
    'the key and the amount of a send that is younger than the event',
    { ...sent, endToEnd: undefined, clientRequestId: 'key', amount: 10.5 },
    [{ ...send, ...younger }],
    'waits no_match',
  ],
  [
    'the key and the amount of two sends of which one is younger than the event',
    { ...sent, endToEnd: undefined, clientRequestId: 'key', amount: 10.5 },
    [send, { ...send, ...younger, id: 'other', userId: 2, endToEnd: otherEndToEnd }],
    'waits no_match',
  ],
  [
    'the key of two sends, of which the younger one has another amount',
    { ...sent, endToEnd: undefined, clientRequestId: 'key', amount: 10.5 },
    [send, { ...send, ...younger, id: 'other', userId: 2, amount: '11.00' }],
    'move send to COMPLETED',
  ],
  [
    'the end-to-end id of a send that is younger than the event',
    sent,
    [{ ...send, ...younger }],
    'move send to COMPLETED',
  ],
  [
    "the provider's id and the amount of a charge that is younger than the event",
    { ...received, endToEnd: undefined, id: 'charge-1' },
    [{ ...charge, ...younger, providerTxid: 'charge-1' }],
    'waits no_match',
  ],
  [
    "the provider's id and the amount of a send that is younger than the event",
    { ...sent, endToEnd: undefined, id: 'bank-1', amount: 10.5 },
    [{ ...send, ...younger }],
    'waits no_match',
  ],
  [
    "a failure with the provider's id and the amount of a send that is younger than the event",
    { ...sent, ...refused, endToEnd: undefined, id: 'bank-1', amount: 10.5 },
    [{ ...send, ...younger }],
    'waits no_match',
  ],
  [
    "a paid charge, and the provider's id of a send that is younger than the event",
    { ...sent, endToEnd: undefined, txid, id: 'bank-1', amount: 10.5 },
    [{ ...charge }, { ...send, ...younger }],
    ['waits no_match'],
  ],
  ['a send that is not stored', sent, [], 'waits no_match'],
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
  [
    'a reversal that cannot be read, of a completed send',
    { ...sent, event: 'REVERSAL' },
    [{ ...send, ...completed }],
    'unread send reversal',
  ],
  [
    'a return whose amount cannot be read, of a completed send',
    { ...sent, event: 'PIX_REFUND_IN', returnId, amount: '30,00' },
    [{ ...send, ...completed }],
    'unread send unreadable_amount',
  ],
  [
    'a return of a send whose outcome is unknown',
    { ...sent, event: 'PIX_REFUND_IN', returnId, amount: 3 },
    [{ ...send, phase: 'UNKNOWN', outcome: 'unknown' }],
    ['move send to COMPLETED', 'REFUND_IN 300 of send'],
  ],
  [
    'a return of a send that has not left',
    { ...sent, event: 'PIX_REFUND_IN', returnId, amount: 3 },
    [{ ...send, phase: 'RESOLVED', outcome: null }],
    'waits not_completed_yet send',
  ],
  [
    'a return of more than an open send',
    { ...sent, event: 'PIX_REFUND_IN', returnId, amount: 10.51 },
    [{ ...send, phase: 'UNKNOWN', outcome: 'unknown' }],
    'conflict send refunds_exceed_amount',
  ],
  [
    'a return of a failed send',
    { ...sent, event: 'PIX_REFUND_IN', returnId, amount: 3 },
    [{ ...send, ...failed }],
    'waits contradicts_final_status send conflict contradicts_final_status',
  ],
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
    'record for 1 beside a conflict of the charge: amount_mismatch',
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
    [{ ...charge, ...completed, endToEnd }],
    'already charge',
  ],
  [
    'a charge that is paid once more',
    { ...ofCharge, endToEnd: otherEndToEnd },
    [{ ...charge, ...completed, endToEnd }],
    'record for 1',
  ],
  [
    'a charge of another payee',
    { ...ofCharge, key: 'b@b.test' },
    [charge],
    'conflict charge payee_disagrees',
    [bruno],
  ],
  [
    'a charge that is paid to its own key',
    { ...ofCharge, key: 'ANA@example.com' },
    [charge],
    'move charge to COMPLETED',
  ],
  [
    'a charge that is paid to a key of nobody here',
    { ...ofCharge, key: 'zoe@example.com' },
    [charge],
    'conflict charge payee_disagrees',
  ],
  [
    'a charge that is paid to another key of its owner',
    { ...ofCharge, key: 'other@example.com' },
    [charge],
    'move charge to COMPLETED',
    [ana],
  ],
  [
    'a charge whose key has moved to another account',
    { ...ofCharge, key: 'ana@example.com' },
    [charge],
    'conflict charge payee_disagrees',
    [bruno],
  ],
  [
    'a charge that is paid to the account and the document of its owner',
    {
      ...ofCharge,
      creditParty: { branch: '1', account: '12345-6', taxId: '529.982.247-25' },
    },
    [charge],
    'move charge to COMPLETED',
  ],
  ...(
    [
      ['document', { recebedor: { cpf: '93541134780' } }],
      ['agency', { creditParty: { branch: '0009', account: '123456' } }],
      ['account', { creditParty: { branch: '0001', account: '7777777' } }],
      ['document beside its own key', { key: 'ana@example.com', payee: { cpf: '93541134780' } }],
      ['key beside its own', { key: 'ana@example.com', payee: { key: 'zoe@example.com' } }],
    ] as const
  ).map(([what, payee]): Case => [
    `a charge that is paid to another ${what}`,
    { ...ofCharge, ...payee },
    [charge],
    'conflict charge payee_disagrees',
  ]),
  [
    'a payment without a direction that names the charge and another payee',
    { ...sent, txid, amount: 10.5, event: 'PIX_PAYMENT', recebedor: { cpf: '93541134780' } },
    [charge],
    'conflict charge payee_disagrees',
  ],
  [
    'a charge that is paid once more, to another document',
    { ...ofCharge, endToEnd: otherEndToEnd, recebedor: { cpf: '93541134780' } },
    [{ ...charge, ...completed, endToEnd }],
    'waits no_match',
  ],
  ...(
    [
      ['another id', { id: 'pay-2' }, {}, again],
      ['the same id', { id: 'pay-1' }, {}, 'already charge'],
      ['no id', {}, {}, 'conflict charge paid_again_without_id'],
      ["the charge's own id", { id: 'own' }, { providerTxid: 'own' }, again],
      ['an id, after a payment without one', { id: 'pay-2' }, { paidBy: ['event', null] }, again],
      [
        'no id, by the event that has completed it',
        {},
        { paidBy: [eventId, null] },
        'already charge',
      ],
      ['no id, and it is dynamic', {}, { expiresAt: receivedAt }, 'already charge'],
      ['another id, and it is dynamic', { id: 'pay-2' }, { expiresAt: receivedAt }, again],
    ] as const
  ).map(([what, more, stored, expected]): Case => [
    `a paid charge without an end-to-end id: ${what}`,
    { ...ofCharge, endToEnd: undefined, ...more },
    [{ ...charge, ...completed, paidBy: ['event', 'pay-1'], ...stored }],
    expected,
  ]),
  [
    'a dynamic charge that is paid with another id of the provider than that of its payment',
    { ...ofCharge, id: 'pay-2' },
    [{ ...charge, ...completed, paidBy: ['event', 'pay-1'], expiresAt: receivedAt }],
    'record for 1 beside a conflict of the charge: paid_again_without_id',
    [ana],
  ],
  [
    "a charge that has expired, by the provider's id and the amount",
    { event: 'CHARGE_EXPIRED', id: 'own', amount: 10.5 },
    [{ ...charge, providerTxid: 'own' }],
    'waits weak_id charge conflict weak_id',
  ],
  [
    'a second payment of a charge that is recorded without an end-to-end id',
    { ...ofCharge, endToEnd: undefined, id: 'pay-2' },
    [
      { ...charge, ...completed, paidBy: ['event', 'pay-1'] },
      { ...record, endToEnd: null, providerTxid: 'pay-2' },
    ],
    'already record',
  ],
  [
    'the end-to-end id of a second payment that is recorded without it',
    { ...ofCharge, id: 'pay-2' },
    [
      { ...charge, ...completed, paidBy: ['event', 'pay-1'] },
      { ...record, endToEnd: null, providerTxid: 'pay-2' },
    ],
    'identify record',
  ],
  ['a PIX for one account', { ...received, key: 'a@b.test' }, [], 'record for 1', [ana]],
  ['a PIX for two accounts', { ...received, key: 'a@b.test' }, [], 'waits no_match', [ana, bruno]],
  [
    'a PIX for an account that disagrees',
    { ...received, key: 'a@b.test' },
    [],
    'waits no_match',
    [{ ...ana, agrees: false }],
  ],
  ['a PIX that is recorded', received, [record], 'already record'],
  [
    'a PIX whose send has failed',
    received,
    [{ ...send, ...failed }],
    ['reached send', 'record for 2'],
    [bruno],
  ],
  [
    'a PIX that is recorded, whose send has failed',
    received,
    [
      { ...record, userId: 2 },
      { ...send, ...failed },
    ],
    ['reached send', 'already record'],
  ],
  ['a PIX whose send is open', received, [send], ['reached send', 'record for 2'], [bruno]],
  ['a PIX whose send is completed', received, [{ ...send, ...completed }], 'record for 2', [bruno]],
  [
    'a PIX whose send is known to have reached its payee',
    received,
    [{ ...send, reachedPayee: true }],
    'record for 2',
    [bruno],
  ],
  [
    'a failed send whose PIX is recorded',
    { ...sent, ...refused },
    [send, { ...record, userId: 2 }],
    'conflict send received_by_payee',
  ],
  [
    'a failed send that has reached its payee',
    { ...sent, ...refused },
    [{ ...send, reachedPayee: true }],
    'conflict send received_by_payee',
  ],
  [
    'a failed send whose money has come back to its payer',
    { ...sent, ...refused },
    [send, record],
    'move send to FAILED',
  ],
  [
    'a PIX to the payer of a failed send with its id',
    received,
    [record, { ...send, ...failed }],
    'already record',
  ],
  [
    'a failed send whose payment has completed a charge',
    { ...sent, ...refused },
    [send, { ...charge, ...completed, endToEnd, userId: 2 }],
    'conflict send received_by_payee',
  ],
  [
    'a PIX that is recorded for another user than its payee',
    { ...received, recebedor: { cpf: '93541134780' } },
    [record],
    'conflict record payee_disagrees',
    [bruno],
  ],
  [
    'a PIX that is recorded, whose key is another user’s by now',
    { ...received, key: 'bruno@example.com' },
    [record],
    'already record',
    [bruno],
  ],
  [
    'a PIX that is recorded for another key than its own',
    { ...received, key: 'a@b.test' },
    [record],
    'conflict record payee_disagrees',
    [bruno],
  ],
  [
    'a PIX that is recorded with another amount',
    { ...received, amount: 1 },
    [record],
    'conflict record amount_mismatch',
  ],
  [
    'the same, which names a charge',
    { ...ofCharge, amount: 1 },
    [record],
    'waits no_match conflict amount_mismatch',
  ],
  ['an analysis of an accepted send', { ...sent, ...analysis }, [send], 'analysis send'],
  [
    'an analysis during PAYING',
    { ...sent, ...analysis },
    [{ ...send, phase: 'PAYING' }],
    'analysis send',
  ],
  [
    'an analysis of a send that has ended',
    { ...sent, ...analysis },
    [{ ...send, ...completed }],
    'ignored processing',
  ],
  [
    'an analysis of another amount',
    { ...sent, ...analysis, amount: 1 },
    [send],
    'ignored processing',
  ],
  [
    'an analysis of another payment with the key',
    { ...sent, ...analysis, endToEnd: otherEndToEnd, clientRequestId: 'key' },
    [send],
    'ignored processing',
  ],
  [
    'an analysis of money that comes in',
    { ...received, ...analysis },
    [send],
    'ignored processing',
  ],
  ['a failed return', { ...returned, ...refused, returnId }, [made], 'move return to FAILED'],
  [
    'a failed return with the id of another return',
    { ...returned, ...refused, returnId: otherReturnId },
    [made],
    'conflict return ids_disagree',
  ],
  [
    'a return that was made with the id of another return',
    { ...returned, returnId: otherReturnId },
    [made],
    'conflict return ids_disagree',
  ],
  [
    'a failed return that gives another payment back',
    { ...returned, ...refused, returnId, endToEnd: otherEndToEnd },
    [record, { ...made, originalId: 'record' }],
    'conflict return ids_disagree',
  ],
  [
    'a return that was made, with its own id as the end-to-end id, too',
    { ...returned, returnId, endToEnd: returnId },
    [record, { ...made, originalId: 'record' }],
    'move return to COMPLETED',
  ],
  [
    'a failed return that gives its payment back',
    { ...returned, ...refused, returnId },
    [record, { ...made, originalId: 'record' }],
    'move return to FAILED',
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
    const verdicts = verdictsOn({ item: makeItem(payload) }, candidates, payees);
    assert.deepEqual(verdicts.map(inWords), [expected].flat());
  });
}

test('a move names the event in the timeline, and leaves only phases that may end so', () => {
  const [verdict] = verdictsOn({ item: makeItem(sent) }, [send]);
  assert.ok(verdict?.kind === 'move');
  assert.deepEqual(verdict.move.timeline, [{ phase: 'SETTLED', eventId, note: 'COMPLETED' }]);
  assert.deepEqual(verdict.move.from, ['PAYING', 'ACCEPTED', 'UNKNOWN']);
});

test('what completes a send sets its outcome, whatever the row said when it was read', () => {
  const refund = { event: 'PIX_REFUND_IN', status: 'CONFIRMED', endToEnd, returnId, amount: 2.5 };
  for (const payload of [sent, refund]) {
    const [verdict] = verdictsOn({ item: makeItem(payload) }, [send]);
    assert.ok(verdict?.kind === 'move', payload.event);
    assert.equal(verdict.move.outcome, 'accepted');
  }
});

test('an item that moves nothing and contradicts nothing needs no look at what is stored', () => {
  const without = [{ event: 'CONTA_CRIADA' }, { ...sent, status: 'PROCESSING' }, { a: 1 }];
  assert.deepEqual(
    without.map((payload) => needsFacts(makeItem(payload))),
    [false, false, false],
  );
  assert.equal(needsFacts(makeItem({ ...sent, status: 'PERHAPS' })), true);
});

test('a refund whose payment is not named is no refund of a transaction without an id', () => {
  const refund = { event: 'PIX_REFUND_IN', status: 'CONFIRMED', endToEnd, returnId, amount: 2.5 };
  const { ids, ...item } = makeItem(refund);
  const unnamed = { ...item, ids: { ...ids, endToEnd: null } };
  const verdicts = verdictsOn({ item: unnamed }, [{ ...send, ...completed, endToEnd: null }]);
  assert.deepEqual(verdicts.map(inWords), ['waits no_match']);
});

test('a refund that names only the txid is of the one payment of a charge that expires', () => {
  const event = { event: 'PIX_REFUND_OUT', status: 'CONFIRMED', endToEnd, returnId, amount: 2.5 };
  const { ids, ...item } = makeItem(event);
  const transactionIdentification = charge.transactionIdentification;
  const byTxid = { ...item, ids: { ...ids, endToEnd: null, transactionIdentification } };
  const expiresAt = new Date('2026-05-25T12:00:00Z');
  const judged = (stored: Partial<CandidateRow>) =>
    verdictsOn({ item: byTxid }, [{ ...charge, expiresAt, ...stored }]).map(inWords);
  assert.deepEqual(judged({ ...completed, endToEnd }), ['REFUND_OUT 250 of charge']);
  assert.deepEqual(judged({ ...completed, endToEnd: null }), ['waits no_match']);
  assert.deepEqual(judged({ ...completed, endToEnd, expiresAt: null }), ['waits no_match']);
  assert.deepEqual(judged({}), ['waits not_completed_yet charge']);
});

test('a failure that another item of its event contradicts ends nothing', () => {
  const failure = { item: makeItem({ ...sent, ...refused }), isContradicted: true };
  const ofSend = (stored: Partial<CandidateRow>) =>
    verdictsOn(failure, [{ ...send, ...stored }]).map(inWords);
  const contradicted = ['conflict send contradicted_in_event'];
  assert.deepEqual([ofSend({}), ofSend(completed)], [contradicted, contradicted]);
  assert.deepEqual(ofSend(failed), ['already send']);
});

test('money between two customers gives its end-to-end id to a charge that was paid without', () => {
  const item: WebhookItem = {
    ...makeItem({ ...received, id: 'bank-2', key: send.pixKey }),
    isUndirected: true,
  };
  const of = { providerTxid: 'bank-2', pixKey: send.pixKey, owner: null };
  const verdicts = verdictsOn({ item }, [send, { ...charge, ...completed, ...of }]);
  assert.deepEqual(verdicts.map(inWords), ['move send to COMPLETED', 'identify charge']);
});
