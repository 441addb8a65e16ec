/**
 * That the order in which the reports of one payment come does not matter: it ends alike in every
 * order, or an operator is shown something.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromEvent } from '../../../src/domain/pix.ts';
import type { ReportedItem } from '../../../src/ledger/report.ts';
import type { CandidateRow } from '../../../src/ledger/transaction-repository.ts';
import type { PayeeRow } from '../../../src/ledger/payee-repository.ts';
import { noPayee, type WebhookItem } from '../../../src/provider/webhook-events.ts';
import { Chance } from '../../simulation/chance.ts';
import { emptyRow, MemoryLedger, type Happening } from './yardstick/memory-ledger.ts';

const endToEnd = 'E11165756202605241200aaaaaaaaaaa';
const laterEndToEnd = 'E11165756202605241200bbbbbbbbbbb';
const returnIds = ['D11165756202605241201ccccccccccc', 'D11165756202605241201ddddddddddd'] as const;
const txid = 'abcdefghijklmnopqrstuvwxyz';
const amountCents = 1_050;
const owner: PayeeRow = { userId: 1, hasKey: true, agrees: true };
const receivedAt = new Date('2026-05-24T12:00:01.000Z');

const send: CandidateRow = {
  ...emptyRow,
  id: 'send',
  operation: 'SEND',
  status: 'PROCESSING',
  phase: 'ACCEPTED',
  amount: '10.50',
  idempotencyKey: 'k1',
  endToEnd,
  pixKey: 'bruno@example.com',
  providerTxid: 'P1',
};

const charge: CandidateRow = {
  ...send,
  id: 'charge',
  operation: 'CHARGE',
  idempotencyKey: 'ck',
  endToEnd: null,
  transactionIdentification: txid,
  pixKey: 'ana@example.com',
  providerTxid: null,
  owner: ['0001', '123456', '52998224725'],
};

const made: CandidateRow = {
  ...send,
  id: 'return',
  operation: 'REFUND_OUT',
  idempotencyKey: 'rk',
  endToEnd: returnIds[0],
};

type Draw = (chance: Chance) => Partial<WebhookItem>;

const full = {
  endToEnd,
  clientRequestId: 'k1',
  transactionIdentification: null,
  providerTxid: 'P1',
};

/** Some of the ids of a payment. */
function someIds(chance: Chance, ids: WebhookItem['ids'], endToEndId: number): WebhookItem['ids'] {
  const keep = (id: string | null, probability: number): string | null =>
    chance.happens(probability) ? id : null;
  return {
    endToEnd: keep(ids.endToEnd, endToEndId),
    clientRequestId: keep(ids.clientRequestId, 0.5),
    transactionIdentification: keep(ids.transactionIdentification, 0.7),
    providerTxid: keep(ids.providerTxid, 0.6),
  };
}

const amount = (chance: Chance): number | null =>
  chance.pick([amountCents, amountCents, amountCents, 1_000, null]);

const payment: Draw = (chance) => ({
  kind: 'payment',
  status: chance.pick(['COMPLETED', 'COMPLETED', 'FAILED']),
  ids: someIds(chance, full, 0.7),
  amountCents: amount(chance),
});

const refund: Draw = (chance) => ({
  kind: 'refund',
  status: 'COMPLETED',
  ids: { ...full, clientRequestId: null },
  amountCents: chance.pick([amountCents, 400, 700]),
  refund: { returnId: chance.pick(returnIds), direction: chance.pick(['in', 'out', null]) },
});

/**
 * Money that came in has its end-to-end id. Without it the payment of a charge may be told from
 * none, and is recorded beside the charge.
 */
const receipt: Draw = (chance) => ({
  kind: chance.pick(['received', 'received', 'payment']),
  status: 'COMPLETED',
  ids: someIds(chance, { ...full, clientRequestId: null, transactionIdentification: txid }, 1),
  amountCents: amount(chance),
  payee: { ...noPayee, key: chance.pick(['ana@example.com', 'ana@example.com', null]) },
});

const secondReceipt: Draw = (chance) => ({
  ...receipt(chance),
  kind: 'received',
  ids: someIds(
    chance,
    {
      endToEnd: laterEndToEnd,
      clientRequestId: null,
      transactionIdentification: txid,
      providerTxid: 'P2',
    },
    1,
  ),
});

const expiry: Draw = (chance) => ({
  kind: 'expired',
  status: 'FAILED',
  ids: { ...full, endToEnd: null, clientRequestId: null, transactionIdentification: txid },
  amountCents: amount(chance),
});

const ending: Draw = (chance) => ({
  ...refund(chance),
  status: chance.pick(['COMPLETED', 'COMPLETED', 'FAILED']),
  amountCents: chance.pick([amountCents, amountCents, 400]),
  refund: { returnId: returnIds[0], direction: chance.pick(['out', null]) },
});

const failedReceipt: Draw = (chance) => ({
  ...receipt(chance),
  kind: 'ignored',
  status: 'FAILED',
  ignoredBecause: 'not_received',
});

interface Payment {
  readonly name: string;
  readonly rows: readonly CandidateRow[];
  readonly draws: readonly [Draw, ...Draw[]];
  readonly isAnswered?: true;
}

const payments: readonly Payment[] = [
  { name: 'an accepted send', rows: [send], draws: [payment, payment, refund] },
  {
    name: 'a send that is being paid',
    rows: [{ ...send, phase: 'PAYING', outcome: null, providerTxid: null }],
    draws: [payment, payment, refund],
    isAnswered: true,
  },
  {
    name: 'a failed send',
    rows: [{ ...send, status: 'FAILED', phase: 'SETTLED', outcome: 'unknown' }],
    draws: [payment, payment, refund],
  },
  {
    name: 'a dynamic charge',
    rows: [{ ...charge, expiresAt: new Date('2026-05-25T12:00:00.000Z') }],
    draws: [receipt, receipt, expiry, refund, failedReceipt],
  },
  { name: 'a static charge', rows: [charge], draws: [receipt, receipt, secondReceipt, refund] },
  { name: 'a received Pix', rows: [], draws: [receipt, refund, failedReceipt] },
  {
    name: 'a send from one user to another',
    rows: [send, charge],
    draws: [payment, receipt, refund],
  },
  { name: 'a return', rows: [{ ...charge, ...paid() }, made], draws: [ending, ending, refund] },
];

function paid() {
  return { status: 'COMPLETED', phase: 'SETTLED', endToEnd } as const;
}

function drawReport(chance: Chance, draw: Draw, index: number): ReportedItem {
  const item: WebhookItem = {
    index: 0,
    isNamedAlone: true,
    name: 'made up',
    shape: null,
    kind: 'payment',
    status: null,
    ids: full,
    amountCents: null,
    payee: noPayee,
    reason: null,
    ignoredBecause: null,
    word: null,
    ...draw(chance),
  };
  return { source: fromEvent(`e${index}`), item, receivedAt };
}

function permutations<One>(all: readonly One[]): (readonly One[])[] {
  if (all.length < 2) return [all];
  return all.flatMap((one, index) =>
    permutations(all.toSpliced(index, 1)).map((rest) => rest.toSpliced(0, 0, one)),
  );
}

const drawn = 1_500;

for (const { name, rows, draws, isAnswered } of payments) {
  test(`the reports of ${name} end it alike in any order, or an operator is shown why not`, () => {
    const chance = new Chance(7);
    let quiet = 0;
    for (let round = 0; round < drawn; round += 1) {
      const count = chance.between(2, isAnswered ? 3 : 4);
      const reports: Happening[] = Array.from({ length: count }, (_, index) =>
        drawReport(chance, chance.pick([...draws]), index),
      );
      if (isAnswered) reports.push('accepted');
      const ends = permutations(reports).map((order) => {
        const ledger = new MemoryLedger(rows, [owner]);
        for (const one of order) ledger.add(one);
        return ledger.end();
      });
      const silent = ends.filter(({ shown }) => shown.length === 0);
      if (silent.length > 0) quiet += 1;
      const different = new Set(silent.map(({ transactions }) => transactions.join(', ')));
      assert.ok(different.size < 2, JSON.stringify({ reports, different: [...different] }));
    }
    assert.ok(quiet > drawn / 100, `${quiet} rounds of ${drawn} show an operator nothing`);
  });
}
