import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isEndToEndId, newEndToEndId } from '../../src/domain/end-to-end-id.ts';

describe('newEndToEndId', () => {
  it('writes the minute in UTC on the 24-hour clock, whatever the local zone', () => {
    const id = newEndToEndId('11165756', new Date('2026-01-31T22:05:59.999-03:00'));
    assert.match(id, /^E11165756202602010105[a-zA-Z0-9]{11}$/);
    assert.equal(
      newEndToEndId('11165756', new Date('2026-07-08T15:27:19Z')).slice(9, 21),
      '202607081527',
    );
  });

  it('is recognised and never repeated', () => {
    const at = new Date('2026-07-01T12:00:00Z');
    const ids = Array.from({ length: 2000 }, () => newEndToEndId('1A2B3C4D', at));
    assert.ok(ids.every((id) => id.length === 32 && isEndToEndId(id)));
    assert.equal(new Set(ids).size, ids.length);
  });

  it('refuses what is no ISPB', () => {
    for (const ispb of ['', '1116575', '111657560', '1a2b3c4d', '1116575é']) {
      assert.throws(() => newEndToEndId(ispb, new Date(0)), RangeError);
    }
  });

  it('refuses a date that four digits of year cannot hold', () => {
    for (const at of [new Date(Number.NaN), new Date(8.64e15), new Date(-8.64e15)]) {
      assert.throws(() => newEndToEndId('11165756', at), RangeError);
    }
  });
});

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
