import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ProviderLane } from '../../../src/provider/resilience/call-policy.ts';
import { RetryBudget } from '../../../src/provider/resilience/retry-budget.ts';
import { manualClock } from '../../support/clock.ts';
import { setUp } from './resilient-set-up.ts';
import { fails, session } from './scripted-provider.ts';

/** @returns how many retries a lane gets before the budget is empty for it. */
function takeAll(budget: RetryBudget, lane: ProviderLane): number {
  let taken = 0;
  while (taken < 1_000 && budget.take(lane)) taken += 1;
  return taken;
}

describe('the retry budget', () => {
  it('keeps half for payments and logins, and a quarter from anonymous look-ups', () => {
    const budget = new RetryBudget(manualClock());
    assert.equal(takeAll(budget, 'cep'), 50);
    assert.equal(takeAll(budget, 'onboarding'), 50);
    assert.equal(takeAll(budget, 'money'), 100);
    assert.equal(takeAll(budget, 'money'), 0);
  });

  it('grows by a fifth of a retry with each call, and by ten with each second', async () => {
    const clock = manualClock();
    const budget = new RetryBudget(clock);
    takeAll(budget, 'money');
    for (let calls = 0; calls < 11; calls += 1) budget.called();
    assert.equal(takeAll(budget, 'money'), 2);
    await clock.advance(3_000);
    assert.equal(takeAll(budget, 'money'), 30);
    await clock.advance(3_600_000);
    assert.equal(takeAll(budget, 'money'), 200);
  });

  it('ends a call after its first attempt when it is empty', async () => {
    const made = setUp([fails()], { breaker: { failures: 1_000_000, openMs: 1 } });
    const calls = Array.from({ length: 60 }, () => made.provider.balance({ session }));
    const settled = Promise.allSettled(calls);
    await made.clock.advance(0);
    await settled;
    // 60 first attempts, and the 100 retries that reads may take, with what the calls have added.
    assert.equal(made.calls.length, 60 + 100);
    await assert.rejects(made.provider.balance({ session }));
    assert.equal(made.calls.length, 60 + 100 + 1);
  });
});
