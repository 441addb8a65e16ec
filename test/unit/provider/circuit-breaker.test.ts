import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { providerLanes, type ProviderLane } from '../../../src/provider/resilience/call-policy.ts';
import type { Provider } from '../../../src/provider/provider.ts';
import type { ResilienceOptions } from '../../../src/provider/resilience/resilient-provider.ts';
import { catchFailure, readOutcome, pay, setUp } from './resilient-set-up.ts';
import { responds, fails, hangs, receipt, refused, session } from './scripted-provider.ts';

describe('the breaker', () => {
  const once: Partial<ResilienceOptions> = { retries: 0 };

  it('opens after failures in a row, and then proves that nothing was sent', async () => {
    const made = setUp([fails()], { ...once, breaker: { failures: 2, openMs: 60_000 } });
    await catchFailure(made, pay(made.provider));
    assert.equal(made.breakerState('money'), 'closed');
    await catchFailure(made, pay(made.provider));
    assert.equal(made.breakerState('money'), 'open');
    const error = await catchFailure(made, pay(made.provider));
    assert.deepEqual(
      [error.outcome, error.code, error.statusClass],
      ['not_sent', 'PROVIDER_UNAVAILABLE', 'breaker_open'],
    );
    assert.equal(made.calls.length, 2);
  });

  const failing = { ...once, breaker: { failures: 1, openMs: 60_000 } };
  const classes: Readonly<Record<ProviderLane, (provider: Provider) => Promise<unknown>>> = {
    money: (provider) => pay(provider),
    login: (provider) => provider.login({ email: 'ana@ponte.test', password: 'secret' }),
    reads: (provider) => provider.balance({ session }),
    onboarding: (provider) => provider.kyc({ personId: 'p' }),
    cep: (provider) => provider.lookUpCep({ cep: '01310100' }),
    background: (provider) => provider.balance({ session, isBackground: true }),
  };
  for (const lane of providerLanes) {
    it(`that opens for ${lane} refuses no call of another lane`, async () => {
      const made = setUp([fails(), responds(receipt)], failing);
      await catchFailure(made, classes[lane](made.provider));
      assert.equal(made.breakerState(lane), 'open');
      for (const other of providerLanes.filter((one) => one !== lane)) {
        await readOutcome(made, classes[other](made.provider));
        assert.equal(made.breakerState(other), 'closed');
      }
      assert.equal(made.calls.length, providerLanes.length);
      const again = await catchFailure(made, classes[lane](made.provider));
      assert.equal(again.statusClass, 'breaker_open');
    });
  }

  it('counts a response that cannot be read against its own method only', async () => {
    const made = setUp([fails({ statusClass: 'invalid' }), responds(5)], failing);
    await catchFailure(made, made.provider.kyc({ personId: 'p' }));
    assert.equal(
      (await catchFailure(made, made.provider.kyc({ personId: 'p' }))).statusClass,
      'breaker_open',
    );
    assert.equal(await readOutcome(made, made.provider.startLivenessCheck({ personId: 'p' })), 5);
    assert.equal(made.breakerState('onboarding'), 'closed');
  });

  for (const statusClass of ['401', '4xx', '404', '429'] as const) {
    it(`takes ${statusClass} for a sign of life`, async () => {
      const steps = [fails(), fails({ ...refused, statusClass }), fails()];
      const made = setUp(steps, { ...once, breaker: { failures: 2, openMs: 60_000 } });
      for (const _ of steps) await catchFailure(made, made.provider.balance({ session }));
      assert.equal(made.breakerState('reads'), 'closed');
    });
  }

  for (const statusClass of ['connect', 'timeout', 'reset'] as const) {
    it(`counts ${statusClass} as a failure`, async () => {
      const made = setUp([fails({ statusClass })], {
        ...once,
        breaker: { failures: 1, openMs: 60_000 },
      });
      await catchFailure(made, made.provider.balance({ session }));
      assert.equal(made.breakerState('reads'), 'open');
    });
  }

  it('closes when the attempt that tries the provider again succeeds', async () => {
    const made = setUp([fails(), responds(5)], { ...once, breaker: { failures: 1, openMs: 0 } });
    await catchFailure(made, made.provider.balance({ session }));
    assert.equal(await readOutcome(made, made.provider.balance({ session })), 5);
    assert.equal(made.breakerState('reads'), 'closed');
  });

  it('lets one attempt try the provider again and turns the others away meanwhile', async () => {
    const made = setUp([fails(), hangs], { ...once, breaker: { failures: 1, openMs: 0 } });
    await catchFailure(made, made.provider.balance({ session }));
    const trying = made.provider.balance({ session }).catch((error: unknown) => error);
    assert.equal(made.breakerState('reads'), 'half_open');
    assert.equal(
      (await catchFailure(made, made.provider.balance({ session }))).statusClass,
      'breaker_open',
    );
    await readOutcome(made, trying, 1000);
    assert.equal(made.breakerState('reads'), 'open');
    assert.equal(made.calls.length, 2);
  });

  it('does not close because the caller of the trying attempt has gone', async () => {
    const made = setUp([fails(), hangs], { ...once, breaker: { failures: 1, openMs: 0 } });
    await catchFailure(made, made.provider.balance({ session }));
    const caller = new AbortController();
    const trying = made.provider.balance({ session, signal: caller.signal });
    caller.abort();
    await catchFailure(made, trying);
    assert.equal(made.breakerState('reads'), 'open');
  });
});

describe('the limit on calls under way', () => {
  const bulkhead = { concurrent: 1, queue: 1 };

  it('lets one wait, and turns the next away as not sent', async () => {
    const made = setUp([hangs, responds(receipt)], { bulkhead, retries: 0 });
    const first = catchFailure(made, pay(made.provider));
    const second = pay(made.provider);
    const third = await catchFailure(made, pay(made.provider));
    assert.deepEqual([third.outcome, third.statusClass], ['not_sent', 'bulkhead_full']);
    await made.clock.advance(1000);
    assert.equal((await first).outcome, 'unknown');
    assert.deepEqual(await second, receipt);
    assert.equal(made.calls.length, 2);
  });

  it('sends nothing that has waited longer than its call may take', async () => {
    const made = setUp([hangs], { bulkhead, retries: 0, totalMs: 1500 });
    const first = catchFailure(made, pay(made.provider));
    const second = catchFailure(made, pay(made.provider));
    await made.clock.advance(1000);
    await first;
    assert.deepEqual([(await second).outcome, made.calls.length], ['not_sent', 1]);
  });

  it('is not held during a back-off', async () => {
    const backoff = { baseMs: 500, maxMs: 500 };
    const made = setUp([fails(), responds(1), responds(2)], { bulkhead, backoff });
    const first = made.provider.balance({ session });
    assert.equal(await readOutcome(made, made.provider.balance({ session })), 1);
    assert.equal(await readOutcome(made, first, 500), 2);
  });
});
