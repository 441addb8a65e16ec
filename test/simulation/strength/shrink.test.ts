import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getKind, smallest } from './shrink.ts';

test('parts that are not needed are removed, in as many rounds as necessary', async () => {
  const tried: string[] = [];
  // `b` can be removed only after `c`.
  const left = await smallest(['a', 'b', 'c', 'd'], async (parts) => {
    tried.push(parts.join(''));
    return parts.includes('a') && (parts.includes('b') || !parts.includes('c'));
  });
  assert.deepEqual(left, ['a']);
  assert.ok(tried.includes('a'));
});

test('no part is removed when all are needed', async () => {
  assert.deepEqual(await smallest(['a', 'b'], async (parts) => parts.length === 2), ['a', 'b']);
});

test('the kind of a violation is the same for every transaction', () => {
  assert.equal(getKind('tx9 was PAYING twice'), getKind('tx12 was PAYING twice'));
  assert.notEqual(getKind('tx9 was PAYING twice'), getKind('tx9 is FAILED and was executed'));
});
