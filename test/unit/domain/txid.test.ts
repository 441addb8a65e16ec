import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newTransactionIdentification } from '../../../src/domain/pix.ts';

describe('newTransactionIdentification', () => {
  it('gives 26 alphanumerics, each time others', () => {
    const ids = Array.from({ length: 2000 }, () => newTransactionIdentification());
    assert.ok(ids.every((id) => /^[a-zA-Z0-9]{26}$/.test(id)));
    assert.equal(new Set(ids).size, ids.length);
  });

  it('draws every character about equally often', () => {
    const counts = new Map<string, number>();
    for (let drawn = 0; drawn < 5000; drawn += 1) {
      for (const character of newTransactionIdentification()) {
        counts.set(character, (counts.get(character) ?? 0) + 1);
      }
    }
    // 130 000 draws of 62 characters: a modulo of one byte would favour eight of them by a quarter.
    const expected = (5000 * 26) / 62;
    assert.equal(counts.size, 62);
    for (const [character, count] of counts) {
      assert.ok(Math.abs(count - expected) < expected * 0.15, `${character}: ${count}`);
    }
  });
});
