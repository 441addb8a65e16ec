/**
 * That the ledger judges as it decided when the decisions were frozen (`yardstick/frozen`), in
 * random worlds. A difference is a mistake, or a change of a rule: then it is named here, with its
 * reason.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../../../src/ledger/judge.ts';
import { toFacts, toReport } from '../../../src/ledger/report.ts';
import { decide as decideAsFrozen } from './yardstick/frozen/decide.ts';
import { frozenInWords, inWords } from './yardstick/words.ts';
import { Worlds } from './yardstick/worlds.ts';

const worldsOfSeed = 10_000;

for (const seed of [1, 2, 3]) {
  test(`${worldsOfSeed} worlds of seed ${seed} are judged as they were decided`, () => {
    const worlds = new Worlds(seed);
    for (let index = 0; index < worldsOfSeed; index += 1) {
      const { reported, stored } = worlds.next();
      const now = judge(toReport(reported), toFacts(stored)).map(inWords);
      const then = decideAsFrozen(reported, stored).map(frozenInWords);
      assert.deepEqual(now, then, JSON.stringify({ reported, stored }));
    }
  });
}

test('the worlds meet every kind of a decision about a payment', () => {
  const worlds = new Worlds(1);
  const met = new Set<string>();
  for (let index = 0; index < worldsOfSeed; index += 1) {
    const { reported, stored } = worlds.next();
    for (const { kind } of decideAsFrozen(reported, stored)) met.add(kind);
  }
  const kinds = ['correct', 'flag', 'hold', 'identify', 'move', 'record', 'refund', 'skip'];
  assert.deepEqual(
    [...met].toSorted((one, other) => one.localeCompare(other)),
    [...kinds, 'suspect', 'unread'],
  );
});
