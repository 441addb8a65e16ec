import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kindOf, smallest } from './shrink.ts';

test('what is not needed is taken away, in as many rounds as it takes', async () => {
  const tried: string[] = [];
  // `b` can go only when `c` has gone.
  const left = await smallest(['a', 'b', 'c', 'd'], async (parts) => {
    tried.push(parts.join(''));
    return parts.includes('a') && (parts.includes('b') || !parts.includes('c'));
  });
  assert.deepEqual(left, ['a']);
  assert.ok(tried.includes('a'));
});

test('nothing is taken away where everything is needed', async () => {
  assert.deepEqual(await smallest(['a', 'b'], async (parts) => parts.length === 2), ['a', 'b']);
});

test('a violation is the same whatever its transaction, and another one is another', () => {
  assert.equal(kindOf('tx9 was PAYING twice'), kindOf('tx12 was PAYING twice'));
  assert.notEqual(kindOf('tx9 was PAYING twice'), kindOf('tx9 is FAILED and was executed'));
});
