import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isTxid, newTransactionIdentification } from '../../src/domain/txid.ts';

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

describe('isTxid', () => {
  it('knows a dynamic one by 26 to 35 alphanumerics, a static one by 1 to 25', () => {
    for (const [length, dynamic, fixed] of [
      [0, false, false],
      [1, false, true],
      [25, false, true],
      [26, true, false],
      [35, true, false],
      [36, false, false],
    ] as const) {
      assert.equal(isTxid('a'.repeat(length), 'dynamic'), dynamic, `${length} dynamic`);
      assert.equal(isTxid('a'.repeat(length), 'static'), fixed, `${length} static`);
    }
  });

  it('refuses anything but ASCII letters and digits', () => {
    for (const text of ['***', 'a-b', 'ção', 'a\n', 'a b']) {
      assert.equal(isTxid(text, 'static'), false);
      assert.equal(isTxid(text.padEnd(26, 'x'), 'dynamic'), false);
    }
  });
});
