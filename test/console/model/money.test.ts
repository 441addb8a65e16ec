/** Amounts as they are typed and read. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { amountOf, money } from '../../../console/model/money.ts';

const readable: readonly (readonly [text: string, amount: number])[] = [
  ['25', 25],
  ['25,5', 25.5],
  ['25,50', 25.5],
  ['25.50', 25.5],
  [' 0,01 ', 0.01],
  ['1234,56', 1234.56],
  ['1.234,56', 1234.56],
  ['1.234.567,8', 1_234_567.8],
  ['999999999,99', 999_999_999.99],
];

for (const [text, amount] of readable) {
  it(`reads ${text} as ${amount}`, () => {
    assert.equal(amountOf(text), amount);
  });
}

for (const text of [
  '',
  ',5',
  '1,234',
  '1.234',
  '1.000.000',
  '1,234.56',
  '1e3',
  '0x1',
  '-5',
  'dez',
]) {
  it(`reads '${text}' in no way: it may mean two, or none`, () => {
    assert.equal(amountOf(text), null);
  });
}

it('writes reais as people in Brazil do', () => {
  assert.equal(money(1234.5), 'R$ 1.234,50');
  assert.equal(money(-0.01), '-R$ 0,01');
});
