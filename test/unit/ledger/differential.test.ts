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

/** The rules that have changed since: what was decided, and what is judged now. */
const changes: readonly (readonly [rule: string, then: RegExp, now: RegExp])[] = [
  [
    'another end-to-end id with the request id of an open send tells an operator nothing',
    /^(waits other_end_to_end .*|(unread|ignored) other_payee_key.*)$/,
    /^(waits no_match|ignored \S+) -$/,
  ],
  [
    'an id that other payments may have never fails a send',
    /^(move \S+ SETTLED FAILED .*|conflict \S+ failed_after_repeat)$/,
    /^waits weak_id (\S+) beside \1 weak_id$/,
  ],
  [
    'a charge that is paid once more without an end-to-end id is for an operator',
    /^record \d+ \d+ \S+ - .*$/,
    /^conflict \S+ paid_again_without_id$/,
  ],
  [
    'money that is recorded for another user than its payee is for an operator',
    /^already (\S+)$/,
    /^conflict \S+ payee_disagrees$/,
  ],
  [
    'a payment that fails on one side and was received on the other is for an operator',
    /^(move|record|identify|already|correct) \S+.*$/,
    /^(reached \S+ and .*|conflict \S+ received_by_payee)$/,
  ],
  [
    'a refund that names another return proves nothing about the one that has its request id',
    /^(move|already|correct|waits|conflict) \S+.*$/,
    /^(.* and )?conflict \S+ ids_disagree$/,
  ],
];

/** @returns the rule that explains a difference. */
function explain(then: readonly string[], now: readonly string[]): string | undefined {
  const [before, after] = [then.join(' and '), now.join(' and ')];
  return changes.find(([, was, is]) => was.test(before) && is.test(after))?.[0];
}

/** The decisions and the changed rules that the worlds have met. */
const met = { kinds: new Set<string>(), rules: new Set<string>() };

for (const seed of [1, 2, 3]) {
  test(`${worldsOfSeed} worlds of seed ${seed} are judged as they were decided`, () => {
    const worlds = new Worlds(seed);
    for (let index = 0; index < worldsOfSeed; index += 1) {
      const { reported, stored } = worlds.next();
      const now = judge(toReport(reported), toFacts(stored)).map(inWords);
      const decided = decideAsFrozen(reported, stored);
      for (const { kind } of decided) met.kinds.add(kind);
      const then = decided.map(frozenInWords);
      const rule = explain(then, now);
      if (rule === undefined) assert.deepEqual(now, then, JSON.stringify({ reported, stored }));
      else met.rules.add(rule);
    }
  });
}

test('the worlds meet every kind of a decision about a payment', () => {
  const kinds = ['correct', 'flag', 'hold', 'identify', 'move', 'record', 'refund', 'skip'];
  assert.deepEqual(
    [...met.kinds].toSorted((one, other) => one.localeCompare(other)),
    [...kinds, 'suspect', 'unread'],
  );
});

test('the worlds meet each rule that has changed', () => {
  const unmet = changes.filter(([rule]) => !met.rules.has(rule));
  assert.deepEqual(unmet, []);
});
