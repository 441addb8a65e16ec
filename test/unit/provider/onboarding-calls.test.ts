import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ProviderErrorOptions } from '../../../src/provider/errors.ts';
import type { CallOptions, Provider } from '../../../src/provider/provider.ts';
import { withTokenRefresh } from '../../../src/provider/resilience/token-refresh.ts';
import { manualClock } from '../../support/clock.ts';
import { applicant, makeDocument, parseSteps } from './applicant.ts';
import { catchFailure, readOutcome, setUp } from './resilient-set-up.ts';
import {
  responds,
  failure,
  fails,
  hangs,
  notConnected,
  scriptedProvider,
  tokenRefused,
} from './scripted-provider.ts';

const notFound: Partial<ProviderErrorOptions> = {
  outcome: 'rejected',
  code: 'PROVIDER_REJECTED',
  statusClass: '404',
  retryable: false,
};

/** Every call of an onboarding, by its name. */
function listCalls(
  provider: Provider,
  options?: CallOptions,
): Record<string, () => Promise<unknown>> {
  return {
    registration: () => provider.registerPerson({ ...applicant, ...options }),
    kyc: () => provider.kyc({ personId: 'p', ...options }),
    cep: () => provider.lookUpCep({ cep: '01310100', ...options }),
    ...parseSteps(provider, 'p', options),
  };
}

const names = Object.keys(listCalls(scriptedProvider().provider));

function called(provider: Provider, name: string, options?: CallOptions): Promise<unknown> {
  return listCalls(provider, options)[name]?.() ?? assert.fail(name);
}

describe('every call of an onboarding', () => {
  for (const name of names) {
    it(`${name}: a 404 is its response, at once`, async () => {
      const made = setUp([fails(notFound)]);
      const error = await catchFailure(made, called(made.provider, name));
      assert.equal(error.statusClass, '404');
      assert.equal(made.calls.length, 1);
    });

    it(`${name}: is made again after a 500 and where nothing was reached`, async () => {
      const made = setUp([fails(), fails(notConnected), responds('done')]);
      assert.equal(await readOutcome(made, called(made.provider, name)), 'done');
      assert.equal(made.calls.length, 3);
    });

    it(`${name}: carries no session whose token could be renewed`, async () => {
      const { provider, calls } = scriptedProvider(fails(tokenRefused));
      const clock = manualClock();
      const calling = called(withTokenRefresh(provider, { clock }), name);
      const failed = await calling.catch((error: unknown) => error);
      assert.deepEqual(failed, failure(tokenRefused));
      assert.equal(calls.length, 1);
    });
  }

  it('leaves the breaker closed, however many 404s come', async () => {
    const made = setUp([fails(notFound)], { breaker: { failures: 3, openMs: 1_000 } });
    for (let round = 0; round < 3; round += 1) {
      for (const name of names) await catchFailure(made, called(made.provider, name));
    }
    assert.equal(made.breakerState('onboarding'), 'closed');
    assert.equal(made.calls.length, 3 * names.length);
  });

  it('counts an unreadable document neither as an attempt to repeat nor for the breaker', async () => {
    const unreadable = { outcome: 'not_sent', statusClass: 'unreadable' } as const;
    const made = setUp([fails(unreadable)], { breaker: { failures: 1, openMs: 1_000 } });
    const call = made.provider.submitDocument({ personId: 'p', document: makeDocument() });
    assert.equal((await catchFailure(made, call)).statusClass, 'unreadable');
    assert.equal(made.calls.length, 1);
    assert.equal(made.breakerState('onboarding'), 'closed');
  });

  it('does not close the breaker with a document that never reached the provider', async () => {
    const unreadable = { outcome: 'not_sent', statusClass: 'unreadable' } as const;
    const steps = [fails(), fails(unreadable)];
    const made = setUp(steps, { retries: 0, breaker: { failures: 1, openMs: 0 } });
    await catchFailure(made, made.provider.kyc({ personId: 'p' }));
    await catchFailure(
      made,
      made.provider.submitDocument({ personId: 'p', document: makeDocument() }),
    );
    assert.equal(made.calls.length, 2);
    assert.equal(made.breakerState('onboarding'), 'open');
  });

  it('stays unknown when it is refused after it may have been taken', async () => {
    const made = setUp([fails(), fails({ ...notFound, statusClass: '4xx' })]);
    const error = await catchFailure(made, made.provider.registerPerson(applicant));
    assert.equal(error.outcome, 'unknown');
  });
});

describe('who has gone', () => {
  it('stops a decision and a postal code, and no step', async () => {
    for (const name of names) {
      const controller = new AbortController();
      const made = setUp([hangs], { retries: 0 });
      const call = called(made.provider, name, { signal: controller.signal });
      controller.abort(new Error('gone'));
      const { statusClass } = await catchFailure(made, call, 60_000);
      assert.equal(statusClass, 'timeout');
      const hasStopped = made.attempts[0]?.durationMs === 0;
      assert.equal(hasStopped, name === 'kyc' || name === 'cep', name);
    }
  });
});

describe('the time of an attempt with a document', () => {
  it('is longer by what its bytes take on a slow line', async () => {
    const made = setUp([hangs], { retries: 0 });
    // A time-out of 1 s, and one more for 256 000 bytes at 2 Mbit/s.
    const document = makeDocument({ sizeBytes: 256_000 });
    const error = await catchFailure(
      made,
      made.provider.submitDocument({ personId: 'p', document }),
      60_000,
    );
    assert.equal(error.code, 'PROVIDER_TIMEOUT');
    assert.equal(made.attempts[0]?.durationMs, 2_000);
  });

  it('is there for each of the attempts', async () => {
    const made = setUp([hangs, hangs, responds(undefined)]);
    const document = makeDocument({ sizeBytes: 256_000_000 });
    await readOutcome(made, made.provider.submitDocument({ personId: 'p', document }), 10_000_000);
    assert.deepEqual(
      made.attempts.map(({ outcome, durationMs }) => [outcome, durationMs]),
      [
        ['unknown', 1_001_000],
        ['unknown', 1_001_000],
        ['accepted', 0],
      ],
    );
  });
});
