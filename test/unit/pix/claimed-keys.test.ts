/** The keys that a process remembers: a bounded number of the latest ones, each of its user. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClaimedKeys } from '../../../src/process/claimed-keys.ts';

const send = (idempotencyKey: string) => ({ operation: 'SEND', idempotencyKey }) as const;

test('a key is known after it was added, for its user and its kind of order alone', () => {
  const keys = new ClaimedKeys();
  const now = new Date('2026-11-25T12:00:00.000Z');
  assert.equal(keys.seenAt(1, send('key')), null);
  keys.add(1, send('key'), now);
  assert.equal(keys.seenAt(1, send('key')), now);
  assert.equal(keys.seenAt(2, send('key')), null);
  assert.equal(keys.seenAt(1, send('other')), null);
  assert.equal(keys.seenAt(1, { operation: 'REFUND_OUT', idempotencyKey: 'key' }), null);
});

test('at most 4096 keys are known, the latest 2048 among them', () => {
  const keys = new ClaimedKeys();
  const added = Array.from({ length: 10_000 }, (_, place) => `key-${place}`);
  for (const key of added) keys.add(1, send(key), new Date());
  const known = added.filter((key) => keys.seenAt(1, send(key)) !== null);
  assert.ok(known.length <= 4_096, `${known.length} keys are known`);
  assert.deepEqual(known.slice(-2_048), added.slice(-2_048));
});
