import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { beginTrace } from '../../../src/domain/trace-context.ts';
import { ProviderError, type ProviderErrorOptions } from '../../../src/provider/errors.ts';
import { catchFailure, readOutcome, pay, setUp } from './resilient-set-up.ts';
import {
  responds,
  fails,
  hangs,
  ignoresItsSignal,
  notConnected,
  order,
  receipt,
  refused,
  session,
  type Step,
  tokenRefused,
} from './scripted-provider.ts';

describe('the outcome of a payment with several attempts', () => {
  const later: readonly [string, Partial<ProviderErrorOptions>][] = [
    ['a refusal', refused],
    ['a refused connection', { ...notConnected, retryable: false }],
    ['a refused token', tokenRefused],
    ['a rate limit', { ...refused, statusClass: '429', code: 'PROVIDER_RATE_LIMITED' }],
  ];
  for (const [title, second] of later) {
    it(`stays unknown when ${title} follows an unknown attempt`, async () => {
      const made = setUp([fails(), fails(second)]);
      const error = await catchFailure(made, pay(made.provider));
      assert.equal(error.outcome, 'unknown');
      assert.equal(error.statusClass, '5xx');
      assert.equal(made.calls.length, 2);
    });
  }

  it('stays unknown when the breaker opens after an unknown attempt', async () => {
    const made = setUp([fails()], { breaker: { failures: 1, openMs: 60_000 } });
    const error = await catchFailure(made, pay(made.provider));
    assert.equal(error.outcome, 'unknown');
    assert.equal(made.calls.length, 1);
    assert.equal(made.attempts.at(-1)?.statusClass, 'breaker_open');
  });

  it('is accepted when an accepted attempt follows an unknown one', async () => {
    const made = setUp([fails(), responds(receipt)]);
    assert.deepEqual(await readOutcome(made, pay(made.provider)), receipt);
  });

  it('is completed when a completed receipt follows an unknown attempt', async () => {
    const completed = { ...receipt, status: 'COMPLETED' } as const;
    const made = setUp([fails(), responds(completed)]);
    assert.deepEqual(await readOutcome(made, pay(made.provider)), completed);
  });

  it('names the last attempt that was made, whatever the call ends as', async () => {
    const made = setUp([fails(), fails({ ...refused, httpStatus: 422, refusalCode: 'AC03' })]);
    const { outcome, statusClass, lastAttempt } = await catchFailure(made, pay(made.provider));
    assert.deepEqual([outcome, statusClass], ['unknown', '5xx']);
    const last = [lastAttempt?.outcome, lastAttempt?.httpStatus, lastAttempt?.refusalCode];
    assert.deepEqual(last, ['rejected', 422, 'AC03']);
  });

  it('does not name an attempt that the open breaker prevented', async () => {
    const made = setUp([fails()], { breaker: { failures: 1, openMs: 60_000 } });
    const { lastAttempt } = await catchFailure(made, pay(made.provider));
    assert.equal(lastAttempt?.statusClass, '5xx');
  });

  it('is rejected when nothing was sent before the refusal', async () => {
    const made = setUp([fails(notConnected), fails(refused)]);
    assert.equal((await catchFailure(made, pay(made.provider))).outcome, 'rejected');
  });

  it('is not sent when no attempt could connect', async () => {
    const made = setUp([fails(notConnected)]);
    assert.equal((await catchFailure(made, pay(made.provider))).outcome, 'not_sent');
    assert.equal(made.calls.length, 3);
  });

  it('asks for the same payment, unchanged, on every attempt', async () => {
    const made = setUp([fails()]);
    await catchFailure(made, pay(made.provider));
    assert.deepEqual(
      made.calls.map(({ request }) => request.order === order),
      [true, true, true],
    );
  });

  it('is never better than unknown after an unknown attempt, unless accepted', async () => {
    const step = fc.constantFrom('accepted', 'unknown', 'rejected', 'not_sent', 'breaks');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 3 }), async (words) => {
        const made = setUp(words.map(parseStep));
        const end = await readOutcome(made, pay(made.provider));
        const taken = words.slice(0, made.calls.length);
        const expected = outcomeOfAll(taken);
        assert.equal(end instanceof ProviderError ? end.outcome : 'accepted', expected);
      }),
      { numRuns: 60 },
    );
  });
});

function outcomeOfAll(taken: readonly string[]): string | undefined {
  if (taken.includes('accepted')) return 'accepted';
  const isDoubtful = taken.some((word) => word === 'unknown' || word === 'breaks');
  return isDoubtful ? 'unknown' : taken.at(-1);
}

function parseStep(word: string): Step {
  if (word === 'accepted') return responds(receipt);
  if (word === 'unknown') return fails();
  if (word === 'rejected') return fails(refused);
  if (word === 'not_sent') return fails(notConnected);
  return () => {
    throw new TypeError('a defect');
  };
}

describe('who decides before each attempt', () => {
  it('is called before each attempt, with the result of the last one', async () => {
    const lasts: (string | null)[] = [];
    let made: ReturnType<typeof setUp> | null = null;
    const beforeAttempt = (last: ProviderError | null) => {
      lasts.push(`${made?.calls.length} ${last?.statusClass ?? null}`);
      return lasts.length === 1 || Promise.resolve(true);
    };
    made = setUp([fails(), fails(notConnected), responds(receipt)]);
    assert.deepEqual(await readOutcome(made, pay(made.provider, { beforeAttempt })), receipt);
    assert.deepEqual(lasts, ['0 null', '1 5xx', '2 connect']);
  });

  const earlier: readonly [string, Partial<ProviderErrorOptions>][] = [
    ['unknown', {}],
    ['not_sent', notConnected],
  ];
  for (const [outcome, first] of earlier) {
    it(`stops a call, which ends ${outcome} as its attempts have shown`, async () => {
      const made = setUp([fails(first), responds(receipt)]);
      const beforeAttempt = (last: ProviderError | null) => Promise.resolve(last === null);
      const error = await catchFailure(made, pay(made.provider, { beforeAttempt }));
      assert.equal(error.outcome, outcome);
      assert.equal(made.calls.length, 1);
      assert.equal(made.attempts.at(-1)?.statusClass, 'stopped');
    });
  }

  it('keeps even the first attempt from leaving', async () => {
    const made = setUp([responds(receipt)]);
    const error = await catchFailure(made, pay(made.provider, { beforeAttempt: () => false }));
    assert.deepEqual([error.outcome, error.statusClass], ['not_sent', 'stopped']);
    assert.equal(made.calls.length, 0);
  });

  it('takes time that counts: an attempt that would end too late does not leave', async () => {
    const made = setUp([fails(), responds(receipt)], { totalMs: 1_500 });
    const beforeAttempt = async (last: ProviderError | null) => {
      if (last) await made.clock.advance(501);
      return true;
    };
    const error = await catchFailure(made, pay(made.provider, { beforeAttempt }));
    assert.equal(error.outcome, 'unknown');
    assert.equal(made.calls.length, 1);
  });
});

describe('responses that are not to be believed', () => {
  for (const foreign of [{ endToEnd: 'E-other' }, { clientRequestId: 'key-2' }]) {
    it(`takes a receipt with a foreign ${Object.keys(foreign)[0]} for unknown`, async () => {
      const made = setUp([responds({ ...receipt, ...foreign })]);
      const error = await catchFailure(made, pay(made.provider));
      assert.deepEqual(
        [error.outcome, error.code, error.statusClass],
        ['unknown', 'PROVIDER_INVALID_RESPONSE', 'invalid'],
      );
      assert.equal(made.calls.length, 1);
    });
  }

  it('takes a missing receipt for unknown', async () => {
    const made = setUp([responds(undefined)]);
    assert.equal((await catchFailure(made, pay(made.provider))).outcome, 'unknown');
  });

  it('turns whatever else is thrown into a ProviderError and shows it to the log', async () => {
    const defect = new TypeError('a defect');
    const made = setUp([() => Promise.reject(defect)]);
    const error = await catchFailure(made, made.provider.balance({ session }));
    assert.equal(error.code, 'PROVIDER_INVALID_RESPONSE');
    assert.equal(error.cause, defect);
    assert.equal(made.ended[0]?.defect, defect);
  });
});

describe('the time-out of an attempt', () => {
  it('aborts the attempt and makes it unknown', async () => {
    const made = setUp([hangs], { retries: 0 });
    const error = await catchFailure(made, pay(made.provider), 1000);
    assert.deepEqual([error.outcome, error.code], ['unknown', 'PROVIDER_TIMEOUT']);
    const reason: unknown = made.calls[0]?.signal?.reason;
    assert.ok(reason instanceof DOMException && reason.name === 'TimeoutError');
  });

  it("believes the client's own word on how far the attempt had come", async () => {
    const connecting: Step = ({ signal }) =>
      new Promise((_, reject) => {
        const give = (): void => reject(new ProviderError({ ...notSentOptions }));
        signal?.addEventListener('abort', give);
      });
    const made = setUp([connecting], { retries: 0 });
    assert.equal((await catchFailure(made, pay(made.provider), 1000)).outcome, 'not_sent');
  });

  it('leaves behind an attempt that does not stop', async () => {
    const made = setUp([ignoresItsSignal], { retries: 0 });
    const error = await catchFailure(made, pay(made.provider), 1100);
    assert.equal(error.statusClass, 'timeout');
  });

  it('gives every attempt its own', async () => {
    const made = setUp([hangs, hangs, responds(receipt)]);
    assert.deepEqual(await readOutcome(made, pay(made.provider), 2000), receipt);
    assert.equal(made.ended[0]?.durationMs, 2000);
  });
});

const notSentOptions: ProviderErrorOptions = {
  outcome: 'not_sent',
  code: 'PROVIDER_UNAVAILABLE',
  statusClass: 'connect',
};

describe('shutdown', () => {
  const backoff = { baseMs: 500, maxMs: 500 };

  it('ends a back-off at once, and the call with what is known', async () => {
    const stop = new AbortController();
    const made = setUp([fails()], { backoff, shutdown: stop.signal });
    const call = catchFailure(made, pay(made.provider));
    await made.clock.advance(1);
    stop.abort();
    assert.equal((await call).outcome, 'unknown');
    assert.equal(made.calls.length, 1);
    assert.equal(made.ended[0]?.durationMs, 1);
  });

  it('leaves a read with its last response, and tries nothing again', async () => {
    const stop = new AbortController();
    const made = setUp([fails()], { backoff, shutdown: stop.signal });
    const call = catchFailure(made, made.provider.balance({ session }));
    await made.clock.advance(1);
    stop.abort();
    assert.equal((await call).statusClass, '5xx');
    assert.equal(made.attempts.length, 1);
  });

  it('sends no further attempt that was still waiting for its place', async () => {
    const stop = new AbortController();
    const bulkhead = { concurrent: 1, queue: 1 };
    const made = setUp([fails(notConnected), hangs], { bulkhead, shutdown: stop.signal });
    const waiting = catchFailure(made, pay(made.provider));
    const holding = catchFailure(made, pay(made.provider));
    await made.clock.advance(1);
    stop.abort();
    await made.clock.advance(1000);
    assert.equal((await waiting).outcome, 'not_sent');
    await holding;
    assert.equal(made.calls.length, 2);
  });

  it('lets what is under way finish, and first attempts leave', async () => {
    const stop = new AbortController();
    const response = Promise.withResolvers<unknown>();
    const made = setUp([() => response.promise, responds(5)], { shutdown: stop.signal });
    const payment = pay(made.provider);
    stop.abort();
    assert.equal(await readOutcome(made, made.provider.balance({ session })), 5);
    assert.equal(made.calls[0]?.signal?.aborted, false);
    response.resolve(receipt);
    assert.deepEqual(await payment, receipt);
  });
});

describe('a caller that has gone', () => {
  it('stops a read that is under way, at once', async () => {
    const caller = new AbortController();
    const made = setUp([hangs]);
    const call = made.provider.balance({ session, signal: caller.signal });
    caller.abort();
    await catchFailure(made, call);
    assert.equal(made.calls.length, 1);
    assert.equal(made.breakerState('reads'), 'closed');
  });

  it('does not count against the provider', async () => {
    const made = setUp([hangs], { breaker: { failures: 1, openMs: 60_000 } });
    const caller = new AbortController();
    const call = made.provider.balance({ session, signal: caller.signal });
    caller.abort();
    await catchFailure(made, call);
    assert.equal(made.breakerState('reads'), 'closed');
  });

  it('sends no read at all when it went before', async () => {
    const made = setUp([responds(5)]);
    const call = made.provider.balance({ session, signal: AbortSignal.abort() });
    assert.equal((await catchFailure(made, call)).outcome, 'not_sent');
    assert.equal(made.calls.length, 0);
  });

  it('stops neither a payment nor its retries', async () => {
    const made = setUp([fails(), responds(receipt)]);
    const call = pay(made.provider, { signal: AbortSignal.abort(), requestId: 'r-1' });
    assert.deepEqual(await readOutcome(made, call), receipt);
    assert.equal(made.calls[1]?.signal?.aborted, false);
  });
});

describe('observations', () => {
  it('count every attempt and the call, without personal data', async () => {
    const made = setUp([fails(), fails(refused)]);
    await catchFailure(made, made.provider.lookUpKey({ session, payerId: '1', key: 'k' }));
    const common = {
      method: 'lookUpKey',
      lane: 'money',
      durationMs: 0,
      requestId: null,
      traceId: null,
      defect: null,
      httpStatus: null,
      refusalCode: null,
    };
    const last = { ...common, attempt: 2, outcome: 'rejected', statusClass: '4xx', reason: 'AC03' };
    assert.deepEqual(made.attempts, [
      { ...common, attempt: 1, outcome: 'unknown', statusClass: '5xx', reason: null },
      last,
    ]);
    assert.deepEqual(made.ended, [last]);
  });

  it('carry the request id and the trace, which go on to the provider', async () => {
    const made = setUp([responds(5)]);
    const trace = beginTrace();
    await readOutcome(made, made.provider.balance({ session, requestId: 'r-1', trace }));
    assert.equal(made.ended[0]?.requestId, 'r-1');
    assert.equal(made.ended[0].traceId, trace.traceId);
    const passedOn = made.calls[0]?.request;
    assert.equal(passedOn?.requestId, 'r-1');
    assert.equal(passedOn.trace, trace);
  });

  it('cannot turn an accepted payment into a failure', async () => {
    const broken = (): never => {
      throw new Error('no metrics');
    };
    const made = setUp([responds(receipt)], { onAttempt: broken, onCall: broken });
    assert.deepEqual(await readOutcome(made, pay(made.provider)), receipt);
  });
});
