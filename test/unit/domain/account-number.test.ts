import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountCheckDigit, newAccountNumber } from '../../../src/domain/account.ts';

const digits: readonly (readonly [base: string, digit: string, why: string])[] = [
  // 7*2 + 6*3 + 5*4 + 4*5 + 3*6 + 2*7 + 1*8 = 112, remainder 2.
  ['1234567', '9', 'eleven less the remainder'],
  // 2*6 = 12, remainder 1, so 10.
  ['0020000', '0', 'ten is written as 0'],
  ['0000000', '0', 'eleven is written as 0'],
  // The ninth digit from the right has the weight 2 again: 2, and 11 - 2.
  ['100000000', '9', 'the weights begin again'],
];

for (const [base, digit, why] of digits) {
  test(`the check digit of ${base} is ${digit}: ${why}`, () => {
    assert.equal(accountCheckDigit(base), digit);
  });
}

test('a new number has seven digits, of which the first is no zero, and its check digit', () => {
  const drawn = Array.from({ length: 200 }, newAccountNumber);
  for (const number of drawn) {
    assert.match(number, /^[1-9]\d{7}$/);
    assert.equal(number.at(-1), accountCheckDigit(number.slice(0, -1)));
  }
  assert.ok(new Set(drawn).size > 190, 'they differ');
});
