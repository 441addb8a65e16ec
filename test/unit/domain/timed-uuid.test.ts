import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstUuidAt, maxUuid, timedUuid } from '../../../src/domain/timed-uuid.ts';

const at = new Date('2026-05-24T12:00:00.123Z');
const before = new Date(at.getTime() - 1);
const after = new Date(at.getTime() + 1);

test('an id has its time, and is a new one each time', () => {
  const id = timedUuid(at);
  assert.match(id, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  assert.equal(Number.parseInt(id.slice(0, 13).replace('-', ''), 16), at.getTime());
  assert.notEqual(timedUuid(at), id);
});

test('ids lie between the bounds of their time', () => {
  assert.ok(firstUuidAt(at) < timedUuid(at));
  assert.ok(timedUuid(at) < firstUuidAt(after));
  assert.ok(timedUuid(before) < firstUuidAt(at));
});

test('a time that no id has is bounded by the nearest one', () => {
  assert.equal(firstUuidAt(new Date(-1)), '00000000-0000-0000-0000-000000000000');
  const latest = firstUuidAt(new Date(8.64e15));
  assert.match(latest, /^[\da-f]{8}-[\da-f]{4}-0{4}-0{4}-0{12}$/);
  assert.ok(latest < maxUuid);
});
