import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUploadSlots } from '../../../src/process/upload-slots.ts';

test('a hundred uploads have a slot, one more is refused: the service is busy', async () => {
  const places = createUploadSlots(1);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const held = Array.from({ length: 100 }, (_, count) =>
    places.hold(`198.51.100.${count % 5}`, () => ended),
  );
  const isBusy = { code: 'BUSY', headers: { 'Retry-After': '5' } };
  await assert.rejects(
    places.hold('198.51.100.5', () => Promise.resolve()),
    isBusy,
  );
  end();
  await Promise.all(held);
  assert.equal(await places.hold('198.51.100.0', () => Promise.resolve('taken')), 'taken');
});

test('one address has twenty places, and leaves the others to others', async () => {
  const places = createUploadSlots(1);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const held = Array.from({ length: 20 }, () => places.hold('198.51.100.0', () => ended));
  await assert.rejects(
    places.hold('198.51.100.0', () => Promise.resolve()),
    { code: 'THROTTLED', headers: { 'Retry-After': '5' } },
  );
  assert.equal(await places.hold('198.51.100.1', () => Promise.resolve('taken')), 'taken');
  end();
  await Promise.all(held);
  assert.equal(await places.hold('198.51.100.0', () => Promise.resolve('taken')), 'taken');
});

test('an upload that fails gives its place back', async () => {
  const places = createUploadSlots(1);
  for (let count = 0; count < 101; count += 1) {
    await assert.rejects(
      places.hold('198.51.100.0', () => Promise.reject(new Error('broken off'))),
      { message: 'broken off' },
    );
  }
});

test('chunks are written a few at a time, in their order', async () => {
  const places = createUploadSlots(2);
  const begun: number[] = [];
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const written = gates.map(({ promise }, index) =>
    places.write(() => {
      begun.push(index);
      return promise;
    }),
  );
  await Promise.resolve();
  assert.deepEqual(begun, [0, 1]);
  gates[1]?.resolve();
  await written[1];
  assert.deepEqual(begun, [0, 1, 2]);
  for (const gate of gates) gate.resolve();
  await Promise.all(written);
  assert.deepEqual(begun, [0, 1, 2, 3]);
});
