import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUploadSlots } from '../../../src/process/upload-slots.ts';

/** An address in an IPv4 /24 of its own. */
const from = (nth: number) => ({ address: `198.51.${nth}.7`, network: `198.51.${nth}.0/24` });

test('a hundred uploads have a slot, one more is refused: the service is busy', async () => {
  const places = createUploadSlots(1);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const held = Array.from({ length: 100 }, (_, count) =>
    places.hold(from(count % 20), () => ended),
  );
  const isBusy = { code: 'BUSY', headers: { 'Retry-After': '5' } };
  await assert.rejects(
    places.hold(from(20), () => Promise.resolve()),
    isBusy,
  );
  end();
  await Promise.all(held);
  assert.equal(await places.hold(from(0), () => Promise.resolve('taken')), 'taken');
});

test('one address has twenty places, and leaves the others to others', async () => {
  const places = createUploadSlots(1);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const held = Array.from({ length: 20 }, () => places.hold(from(0), () => ended));
  await assert.rejects(
    places.hold(from(0), () => Promise.resolve()),
    { code: 'THROTTLED', headers: { 'Retry-After': '5' } },
  );
  assert.equal(await places.hold(from(1), () => Promise.resolve('taken')), 'taken');
  end();
  await Promise.all(held);
  assert.equal(await places.hold(from(0), () => Promise.resolve('taken')), 'taken');
});

test('an upload that fails gives its place back', async () => {
  const places = createUploadSlots(1);
  for (let count = 0; count < 101; count += 1) {
    await assert.rejects(
      places.hold(from(0), () => Promise.reject(new Error('broken off'))),
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

test('a network with many addresses leaves as many places as it holds', async () => {
  const places = createUploadSlots(1);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const isRefused = { code: 'THROTTLED', headers: { 'Retry-After': '5' } };
  const hold = (network: string, count: number) =>
    Array.from({ length: count }, (_, nth) =>
      places.hold({ address: `${network} ${nth}`, network }, () => ended),
    );
  const tryOne = (network: string) =>
    places.hold({ address: `${network} one more`, network }, () => Promise.resolve());
  const held = hold('2001:db8::/32', 50);
  await assert.rejects(tryOne('2001:db8::/32'), isRefused);
  held.push(...hold('198.51.100.0/24', 25));
  await assert.rejects(tryOne('198.51.100.0/24'), isRefused);
  for (let nth = 0; nth < 5; nth += 1) held.push(...hold(`network ${nth}`, 5));
  await assert.rejects(tryOne('another'), { code: 'BUSY' });
  end();
  await Promise.all(held);
  assert.equal(await places.hold(from(0), () => Promise.resolve('taken')), 'taken');
});
