import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FaultPlan } from '../../../../src/provider/sandbox/fault-plan.ts';
import { FaultSyntaxError, parseFaults } from '../../../../src/provider/sandbox/fault-language.ts';

describe('the language of faults', () => {
  const read: readonly [string, ReturnType<typeof parseFaults>[number]][] = [
    ['payments:401', rule('payments', [{ name: '401', value: 0 }])],
    ['*:401@0.01', { ...rule('*', [{ name: '401', value: 0 }]), chance: 0.01 }],
    ['payments:5xx-after', rule('payments', [{ name: '5xx-after', value: 500 }])],
    ['payments:5xx-after=503', rule('payments', [{ name: '5xx-after', value: 503 }])],
    ['keys : latency = 2s', rule('keys', [{ name: 'latency', value: 2_000 }])],
    [
      'keys/dict:latency=50ms..2s@1',
      rule('keys/dict', [{ name: 'latency', value: 50, upTo: 2_000 }]),
    ],
    ['payments:huge=2MB', rule('payments', [{ name: 'huge', value: 2_000_000 }])],
    ['payments:429=7s#3', { ...rule('payments', [{ name: '429', value: 7_000 }]), times: 3 }],
    [
      'payments/qrcode/dynamic:latency=1ms+html',
      rule('payments/qrcode/dynamic', [
        { name: 'latency', value: 1 },
        { name: 'html', value: 0 },
      ]),
    ],
  ];
  for (const [text, expected] of read) {
    it(`reads ${text}`, () => assert.deepEqual(parseFaults(text), [expected]));
  }

  function rule(path: string, effects: ReturnType<typeof parseFaults>[number]['effects']) {
    return { path, effects, chance: 1, times: null };
  }

  it('reads several rules, and none', () => {
    assert.deepEqual(
      parseFaults('payments:401@0.5, *:hang ,').map(({ path }) => path),
      ['payments', '*'],
    );
    assert.deepEqual(parseFaults(' '), []);
  });

  const wrong: readonly [string, RegExp][] = [
    ['payments', /is not path:effect/],
    ['payments:', /is not path:effect/],
    [':401', /is not path:effect/],
    ['pay:401', /"pay" is none of \*, auth\/login/],
    ['payments:explode', /"explode" is none of 401, 429, latency/],
    ['payments:toString', /is none of/],
    ['payments:401=7', /takes no value/],
    ['payments:latency=7', /takes a time such as 200ms/],
    ['payments:latency=-1ms', /takes a time/],
    ['payments:latency=1ms..2ms..3ms', /takes a time/],
    ['payments:drip=1ms..2ms', /takes a time/],
    ['payments:5xx-after=404', /takes a status from 500/],
    ['payments:huge=lots', /takes a size/],
    ['payments:401@0', /chance .* is not over 0/],
    ['payments:401@1.1', /chance/],
    ['payments:401@x', /is not path:effect|is none of/],
    ['payments:401#0', /number of calls/],
    ['payments:401#1.5', /number of calls/],
    ['payments:401=', /takes no value/],
    ['payments:latency=1=2', /is none of/],
  ];
  for (const [text, message] of wrong) {
    it(`refuses ${text}`, () => {
      assert.throws(() => parseFaults(text), { name: 'FaultSyntaxError', message });
    });
  }

  it('never throws anything else', () => {
    for (const text of [
      '::',
      '@',
      '#',
      '+',
      '=',
      'a:b:c',
      'payments:+',
      '*:*',
      '\0',
      'payments:@1',
    ]) {
      try {
        parseFaults(text);
      } catch (error) {
        assert.ok(error instanceof FaultSyntaxError, String(error));
      }
    }
  });
});

describe('the plan of faults', () => {
  const makePlan = (faults: string, seed = '1') =>
    new FaultPlan({ rules: parseFaults(faults), seed });

  const take = (plan: FaultPlan, path: string, count: number) =>
    Array.from({ length: count }, () => plan.next(path).map(({ name, value }) => [name, value]));

  it('is the same for the same seed, and another for another', () => {
    const faults = 'payments:401@0.3,payments:latency=1ms..1s@0.5';
    const first = take(makePlan(faults), 'payments', 200);
    assert.deepEqual(take(makePlan(faults), 'payments', 200), first);
    assert.notDeepEqual(take(makePlan(faults, '2'), 'payments', 200), first);
  });

  it('is the same whatever comes on other paths in between', () => {
    const faults = '*:401@0.3';
    const alone = take(makePlan(faults), 'payments', 100);
    const plan = makePlan(faults);
    const mixed = Array.from({ length: 100 }, () => {
      take(plan, 'keys/dict', 3);
      return take(plan, 'payments', 1)[0];
    });
    assert.deepEqual(mixed, alone);
  });

  it('hits as often as the chance says', () => {
    const hits = take(makePlan('payments:401@0.1'), 'payments', 10_000).filter(
      (effects) => effects.length > 0,
    );
    assert.ok(hits.length > 850 && hits.length < 1_150, String(hits.length));
  });

  it('draws a latency out of its range', () => {
    const drawn = take(makePlan('payments:latency=100ms..200ms'), 'payments', 500).map(
      ([effect]) => effect?.[1] as number,
    );
    assert.ok(Math.min(...drawn) >= 100 && Math.max(...drawn) <= 200);
    assert.ok(new Set(drawn).size > 50);
  });

  it('hits nothing on other paths', () => {
    assert.deepEqual(take(makePlan('payments:401'), 'keys/dict', 1), [[]]);
    assert.deepEqual(take(makePlan('payments:401'), 'payments/qrcode/static', 1), [[]]);
  });

  it('takes what is queued first, in order and as often as it says', () => {
    const plan = makePlan('payments:401');
    plan.enqueue(parseFaults('payments:html,keys/dict:hang,payments:hang#2'));
    assert.deepEqual(take(plan, 'payments', 4), [
      [['html', 0]],
      [['hang', 0]],
      [['hang', 0]],
      [['401', 0]],
    ]);
    assert.deepEqual(
      plan.queued().map(({ rule, left }) => [rule.path, left]),
      [['keys/dict', 1]],
    );
    plan.clearQueue();
    assert.deepEqual(take(plan, 'keys/dict', 1), [[]]);
  });

  it('does not mind how many were queued and taken before', () => {
    const plain = take(makePlan('payments:401@0.5'), 'payments', 50);
    const plan = makePlan('payments:401@0.5');
    plan.enqueue(parseFaults('payments:html'));
    assert.deepEqual(take(plan, 'payments', 50).slice(1), plain.slice(1));
  });
});
