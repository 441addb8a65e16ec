import assert from 'node:assert/strict';
import { ProviderError } from '../../../src/provider/errors.ts';
import type { CallOptions, Provider } from '../../../src/provider/provider.ts';
import {
  type ProviderObservation,
  type ResilienceOptions,
  withResilience,
} from '../../../src/provider/resilience/resilient-provider.ts';
import { manualClock } from '../../support/clock.ts';
import { order, scriptedProvider, session, type Step } from './scripted-provider.ts';

/** Two retries, no wait between attempts by default, and a clock that does not move. */
export function setUp(steps: readonly Step[], changes: Partial<ResilienceOptions> = {}) {
  const clock = manualClock();
  const scripted = scriptedProvider(...steps);
  const attempts: ProviderObservation[] = [];
  const ended: ProviderObservation[] = [];
  const resilient = withResilience(scripted.provider, {
    clock,
    timeoutMs: 1000,
    retries: 2,
    backoff: { baseMs: 0, maxMs: 0 },
    random: () => 0,
    onAttempt: (observation) => attempts.push(observation),
    onCall: (observation) => ended.push(observation),
    ...changes,
  });
  return { ...resilient, clock, calls: scripted.calls, attempts, ended };
}

/** Lets everything that is due now happen, and returns the result of the call. */
export async function readOutcome(
  { clock }: Pick<ReturnType<typeof setUp>, 'clock'>,
  call: Promise<unknown>,
  advanceMs = 0,
): Promise<unknown> {
  const settled = call.catch((error: unknown) => error);
  // Each back-off of 0 ms is a timer of its own, set when the one before it has fired.
  await clock.advance(advanceMs);
  return settled;
}

export async function catchFailure(
  made: Pick<ReturnType<typeof setUp>, 'clock'>,
  call: Promise<unknown>,
  advanceMs = 0,
): Promise<ProviderError> {
  const error = await readOutcome(made, call, advanceMs);
  assert.ok(error instanceof ProviderError, `expected a ProviderError, got ${String(error)}`);
  return error;
}

export function pay(provider: Provider, options?: CallOptions): Promise<unknown> {
  return provider.pay({ session, order, ...options });
}
