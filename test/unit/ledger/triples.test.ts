/** That what the simulation has met is decided as it was recorded. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTriples, verdictOf } from './yardstick/triples.ts';

const triples = readTriples();

test('what the simulation has met is decided as it was recorded', () => {
  const different = triples.flatMap((triple) => {
    const verdict = verdictOf(triple);
    const isSame = JSON.stringify(verdict) === JSON.stringify(triple.verdict);
    return isSame ? [] : [{ ...triple, now: verdict }];
  });
  assert.deepEqual(different.slice(0, 3), []);
});

// Its bank analyses no payment, and reports none without an end-to-end id.
test('what was recorded has every other kind of a decision about a payment', () => {
  const kinds = new Set(triples.flatMap(({ verdict }) => verdict.map((one) => one.split(' ')[0])));
  assert.deepEqual(
    [...kinds].toSorted((one, other) => (one ?? '').localeCompare(other ?? '')),
    'already conflict correct ignored move reached record refund unread waits'.split(' '),
  );
});
