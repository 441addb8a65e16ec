/** What is stored and no line of a statement shows, from the lines as they are read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareWithStored } from '../../../src/settlement/compare-statement.ts';
import { sortLines } from '../../../src/settlement/statement-lines.ts';
import { readGroups } from '../../../src/settlement/statement-movements.ts';
import { dialects } from '../../support/dialects.ts';

const from = new Date('2026-05-23T03:00:00Z');
const returnId = 'D11165756202605241200abcdefghijk';

const made = {
  id: '00000000-0000-4000-8000-000000000001',
  userId: 1,
  operation: 'REFUND_OUT',
  status: 'COMPLETED',
  phase: 'SETTLED',
  amount: '10.50',
  endToEnd: returnId,
  originalEndToEnd: 'E99999999202605231200abcdefghijk',
  transactionIdentification: null,
  providerTxid: null,
  isOfDays: true,
} as const;

/** @returns the reasons of the differences of one return, whose line has this id. */
function compare(idThere: string): string[] {
  const item = {
    endToEnd: made.originalEndToEnd,
    returnId: idThere,
    amount: 10.5,
    direction: 'DEBIT',
    status: 'CONFIRMED',
  };
  const { lines } = dialects.readStatement([item], false) ?? assert.fail();
  const owner = { document: null, agency: null, accountNumber: null };
  const sorted = sortLines({ groups: readGroups({ lines, from }), owner, sent: new Set<string>() });
  const found = compareWithStored({ userId: 1, lines, sorted, stored: [made as never], from });
  return found.map(({ kind, reason }) => `${kind} ${reason}`);
}

test('a return is there under its id', () => {
  assert.deepEqual(compare(returnId), []);
});

test('a return is there under its id with another minute, in which its repeat was made', () => {
  assert.deepEqual(compare('D11165756202605241203abcdefghijk'), []);
});

for (const [what, id] of [
  ['of another key', 'D11165756202605241200abcdefghijl'],
  ['of another bank', 'D99999999202605241200abcdefghijk'],
] as const) {
  test(`a return ${what} is not the one that is stored`, () => {
    assert.deepEqual(compare(id), ['MISSING_THERE not_in_statement']);
  });
}
