/** The keys that a process remembers: a bounded number of the latest ones, each of its user. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClaimedKeys } from '../../../src/pix/claimed-keys.ts';

test('a key is known after it was added, for its user alone', () => {
  const keys = new ClaimedKeys();
  assert.equal(keys.has(1, 'key'), false);
  keys.add(1, 'key');
  assert.equal(keys.has(1, 'key'), true);
  assert.equal(keys.has(2, 'key'), false);
  assert.equal(keys.has(1, 'other'), false);
});

test('at most 4096 keys are known, the latest 2048 among them', () => {
  const keys = new ClaimedKeys();
  const added = Array.from({ length: 10_000 }, (_, place) => `key-${place}`);
  for (const key of added) keys.add(1, key);
  const known = added.filter((key) => keys.has(1, key));
  assert.ok(known.length <= 4_096, `${known.length} keys are known`);
  assert.deepEqual(known.slice(-2_048), added.slice(-2_048));
});
