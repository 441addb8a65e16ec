import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newEndToEndId } from '../../../src/domain/pix.ts';
import { isEndToEndId } from '../../support/end-to-end-id.ts';

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
