/**
 * The sweep, the expiry of charges and reconciliation read the same statement alike: what one of
 * them ends, each of them ends, on random statements.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  findChargeEvidence,
  findOrderEvidence,
} from '../../../src/settlement/statement-evidence.ts';
import type { StatementLine } from '../../../src/provider/provider.ts';
import { sortLines } from '../../../src/settlement/statement-lines.ts';
import { Chance } from '../../simulation/chance.ts';
import { readLines } from '../../support/read-lines.ts';

const rounds = 20_000;
const at = '202605241200';
const endToEnd = `E11165756${at}aaaaaaaaaaa`;
const otherEndToEnd = `E11165756${at}bbbbbbbbbbb`;
const returnId = `D11165756${at}ccccccccccc`;
const laterReturnId = `D11165756202605241201ccccccccccc`;
const txid = 'abcdefghijklmnopqrstuvwxyz';
const amountCents = 1_050;

function drawLine(chance: Chance): StatementLine {
  const isRefund = chance.happens(0.3);
  return {
    ids: {
      endToEnd: chance.pick([endToEnd, endToEnd, endToEnd, otherEndToEnd, null]),
      clientRequestId: null,
      transactionIdentification: chance.pick([txid, txid.slice(0, 25), null]),
      providerTxid: null,
      returnId: isRefund ? chance.pick([returnId, laterReturnId, 'D1']) : null,
    },
    amountCents: chance.pick([amountCents, amountCents, amountCents, 35, null]),
    direction: chance.pick(['out', 'out', 'in', 'in', 'other', null]),
    status: chance.pick(['COMPLETED', 'COMPLETED', 'PROCESSING', 'FAILED', null]),
  };
}

/** What reconciliation ends of a send, a return and a charge. */
function reconciled(lines: readonly StatementLine[]) {
  const owner = { document: null, agency: null, accountNumber: null };
  const { payments, refunds } = sortLines({
    groups: readLines(lines).groups,
    owner,
    sent: new Set([endToEnd]),
  });
  const isOfAmount = (line: StatementLine): boolean => line.amountCents === amountCents;
  const ofSend = refunds.some(({ line }) => {
    const isBack = line.direction === 'in' && line.ids.endToEnd === endToEnd;
    return isBack && line.amountCents <= amountCents;
  });
  return {
    send:
      ofSend ||
      payments.some(
        ({ line, item }) =>
          item.kind === 'payment' && line.ids.endToEnd === endToEnd && isOfAmount(line),
      ),
    return: refunds.some(
      ({ line }) =>
        line.direction === 'out' &&
        isOfAmount(line) &&
        [returnId, laterReturnId].includes(line.ids.returnId ?? ''),
    ),
    // Money under the id of an own send gives that one back.
    charge: payments.some(({ line, item }) => {
      const named = line.ids.transactionIdentification?.slice(0, 25) === txid.slice(0, 25);
      return item.kind === 'received' && named && isOfAmount(line);
    }),
  };
}

function swept(lines: readonly StatementLine[]) {
  const statement = readLines(lines);
  const send = findOrderEvidence(statement, { operation: 'SEND', endToEnd, amountCents }).evidence;
  const made = { operation: 'REFUND_OUT', endToEnd: returnId, amountCents } as const;
  const charge = findChargeEvidence(statement, { transactionIdentification: txid, amountCents });
  const isOwn = charge.evidence === 'paid' && charge.line.ids.endToEnd === endToEnd;
  return {
    send: send === 'completed' || send === 'returned',
    return: findOrderEvidence(statement, made).evidence === 'completed',
    charge: charge.evidence === 'paid' && !isOwn,
  };
}

test('all readings end the same of random statements', () => {
  const chance = new Chance(1);
  const ended = { send: 0, return: 0, charge: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const size = chance.pick([1, 1, 2, 2, 3, 4]);
    const lines = Array.from({ length: size }, () => drawLine(chance));
    const expected = swept(lines);
    const { charge, ...found } = reconciled(lines);
    const { charge: isPaid, ...ofSweep } = expected;
    assert.deepEqual(found, ofSweep, JSON.stringify(lines));
    // The expiry takes any payment of the charge, and the first may be that of an own send.
    if (isPaid) assert.ok(charge, JSON.stringify(lines));
    for (const kind of ['send', 'return', 'charge'] as const) if (expected[kind]) ended[kind] += 1;
  }
  for (const [kind, times] of Object.entries(ended)) assert.ok(times > rounds / 200, kind);
});

test('a second or an unreadable line under an own id ends nothing', () => {
  const chance = new Chance(2);
  const settled: StatementLine = {
    ids: {
      endToEnd,
      clientRequestId: null,
      transactionIdentification: null,
      providerTxid: null,
      returnId: null,
    },
    amountCents,
    direction: 'out',
    status: 'COMPLETED',
  };
  for (let round = 0; round < rounds / 10; round += 1) {
    const drawn = drawLine(chance);
    const second = { ...drawn, ids: { ...settled.ids } };
    const isPending = second.direction === 'out' && second.status === 'PROCESSING';
    const isOne = isPending && second.amountCents === amountCents;
    const lines = [settled, second];
    const ends = second.direction === 'other' || isOne;
    const sides = [swept(lines).send, reconciled(lines).send];
    assert.deepEqual(sides, [ends, ends], JSON.stringify(second));
  }
});
