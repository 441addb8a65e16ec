import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isEndToEndId } from '../../support/end-to-end-id.ts';

describe('isEndToEndId', () => {
  const valid = 'E11165756202607081527AbCdEfGhIj1';
  it('accepts a well-formed id', () => assert.equal(isEndToEndId(valid), true));

  const refused: [string, string][] = [
    ['a refund id', `D${valid.slice(1)}`],
    ['31 characters', valid.slice(0, 31)],
    ['33 characters', `${valid}x`],
    ['month 13', 'E11165756202613081527AbCdEfGhIj1'],
    ['day 00', 'E11165756202607001527AbCdEfGhIj1'],
    ['hour 24', 'E11165756202607082427AbCdEfGhIj1'],
    ['minute 60', 'E11165756202607081560AbCdEfGhIj1'],
    ['punctuation', 'E11165756202607081527AbCdEfGhI-1'],
    ['a line break', `${valid}\n`],
    ['nothing', ''],
  ];
  for (const [name, text] of refused) {
    it(`refuses ${name}`, () => assert.equal(isEndToEndId(text), false));
  }
});
