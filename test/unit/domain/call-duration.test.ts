import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxCallMs, staleAfterMs } from '../../../src/domain/call-duration.ts';
import { ProviderError } from '../../../src/provider/errors.ts';
import { withResilience } from '../../../src/provider/resilience/resilient-provider.ts';
import { fails, order, scriptedProvider, session } from '../provider/scripted-provider.ts';
import { manualClock } from '../../support/clock.ts';

test('a call takes its time-outs, one more in the queue, and the waits between', () => {
  assert.equal(maxCallMs({ timeoutMs: 5_000, retries: 2 }), 22_000);
  assert.equal(maxCallMs({ timeoutMs: 100, retries: 0 }), 200);
  assert.equal(maxCallMs({ timeoutMs: 100, retries: 3 }, 10), 530);
});

test('nothing is stale within two minutes, nor within the longest call', () => {
  assert.equal(staleAfterMs({ timeoutMs: 5_000, retries: 2 }), 120_000);
  assert.equal(staleAfterMs({ timeoutMs: 30_000, retries: 2 }), 122_000);
});

test('no call lasts longer, whatever the provider asks to wait', async () => {
  for (const retryAfterMs of [0, 900, 3_000, 60_000]) {
    const settings = { timeoutMs: 1_000, retries: 3 };
    const clock = manualClock();
    const begunAt = clock.now().getTime();
    const slow = async (call: Parameters<ReturnType<typeof fails>>[0]) => {
      await new Promise<void>((resolve) => clock.after(999, resolve));
      return fails({ retryAfterMs })(call);
    };
    const { provider } = scriptedProvider(slow);
    const resilient = withResilience(provider, { clock, ...settings, random: () => 0.99 });
    let endedAt = 0;
    const call = resilient.provider.pay({ session, order }).catch((error: unknown) => {
      endedAt = clock.now().getTime();
      return error;
    });
    for (let step = 0; step < 400; step += 1) await clock.advance(50);
    assert.ok((await call) instanceof ProviderError);
    const tookMs = endedAt - begunAt;
    assert.ok(tookMs > 0 && tookMs <= maxCallMs(settings), `${tookMs} ms, ${retryAfterMs}`);
  }
});
