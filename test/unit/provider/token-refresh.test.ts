import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ProviderError } from '../../../src/provider/errors.ts';
import type { ProviderSession } from '../../../src/provider/provider.ts';
import { withResilience } from '../../../src/provider/resilience/resilient-provider.ts';
import {
  type TokenRefreshOptions,
  withTokenRefresh,
} from '../../../src/provider/resilience/token-refresh.ts';
import { manualClock } from '../../support/clock.ts';
import {
  responds,
  failure,
  fails,
  notConnected,
  order,
  receipt,
  refused,
  scriptedProvider,
  session,
  type Step,
  tokenRefused,
} from './scripted-provider.ts';

/** A session that holds these tokens, one for each read, and records the reads. */
function sessionWith(currentToken: () => Promise<string | null>, userId = 7) {
  const reads: string[] = [];
  const expired: string[] = [];
  const made: ProviderSession = {
    userId,
    token: 'token-1',
    currentToken() {
      reads.push('read');
      return currentToken();
    },
    expire(refusedToken) {
      expired.push(refusedToken);
      return Promise.resolve();
    },
  };
  return { session: made, reads, expired };
}

const renewed = () => Promise.resolve('token-2');
const same = () => Promise.resolve('token-1');

/** A provider that refuses `token-1` and takes every other token. */
const refusesTheOldToken: Step = ({ request }) => {
  if (request.session?.token === 'token-1') throw failure(tokenRefused);
  return 5;
};

/** The longest back-off, and the shortest, with the jitter that each takes. */
const maxMs = 200;
const longest = () => 1 - Number.EPSILON;
const minMs = 100;
const shortest = () => 0;

function setUp(steps: readonly Step[], options: Partial<TokenRefreshOptions> = {}) {
  const scripted = scriptedProvider(...steps);
  const clock = manualClock();
  const provider = withTokenRefresh(scripted.provider, { clock, ...options });
  /** The tokens of the calls so far. */
  const tokens = () => scripted.calls.map(({ request }) => request.session?.token);
  /** Lets the longest back-off pass, and returns the results of the calls. */
  async function ended(call: Promise<unknown>): Promise<unknown> {
    const settled = call.catch((thrown: unknown) => thrown);
    await clock.advance(maxMs);
    return settled;
  }
  async function catchError(call: Promise<unknown>): Promise<ProviderError> {
    const error = await ended(call);
    assert.ok(error instanceof ProviderError, String(error));
    return error;
  }
  return { provider, clock, calls: scripted.calls, tokens, ended, catchError };
}

describe('a refused token that another login has renewed', () => {
  it('is followed by one call with the newer token, at once', async () => {
    const made = setUp([refusesTheOldToken]);
    const holder = sessionWith(renewed);
    assert.equal(await made.provider.balance({ session: holder.session }), 5);
    assert.deepEqual(made.tokens(), ['token-1', 'token-2']);
    assert.deepEqual([holder.reads.length, holder.expired], [1, []]);
  });

  it('ends the session when the newer one is refused too, naming that one', async () => {
    const made = setUp([fails(tokenRefused)]);
    const holder = sessionWith(renewed);
    const error = await made.catchError(made.provider.balance({ session: holder.session }));
    assert.deepEqual([error.code, error.attempts], ['TOKEN_REFUSED', 2]);
    assert.deepEqual([made.tokens(), holder.expired], [['token-1', 'token-2'], ['token-2']]);
  });

  it('passes on the rest of the request as it is', async () => {
    const made = setUp([fails(tokenRefused), responds(receipt)]);
    const options = { requestId: 'r-1' };
    await made.provider.pay({ session: sessionWith(renewed).session, order, ...options });
    const { order: sent, requestId } = made.calls[1]?.request ?? {};
    assert.deepEqual({ sent, requestId }, { sent: order, ...options });
  });
});

describe('a refused token that is still the one of the session', () => {
  it('is tried once more after a back-off, and nothing is marked', async () => {
    const made = setUp([fails(tokenRefused), responds(5)], { random: longest });
    const holder = sessionWith(same);
    const call = made.provider.balance({ session: holder.session });
    await made.clock.advance(maxMs - 1);
    assert.equal(made.calls.length, 1, 'it waits');
    await made.clock.advance(1);
    assert.equal(await call, 5);
    assert.deepEqual(made.tokens(), ['token-1', 'token-1']);
    assert.deepEqual([holder.reads.length, holder.expired], [1, []]);
  });

  it('waits for half the back-off at least', async () => {
    const made = setUp([fails(tokenRefused), responds(5)], { random: shortest });
    const call = made.provider.balance({ session: sessionWith(same).session });
    await made.clock.advance(minMs - 1);
    assert.equal(made.calls.length, 1);
    await made.clock.advance(1);
    assert.equal(await call, 5);
  });

  it('ends the session when it is refused a second time, and is not tried a third time', async () => {
    const made = setUp([fails(tokenRefused)]);
    const holder = sessionWith(same);
    const error = await made.catchError(made.provider.balance({ session: holder.session }));
    assert.deepEqual([error.outcome, error.code, error.attempts], ['not_sent', 'TOKEN_REFUSED', 2]);
    assert.deepEqual([made.calls.length, holder.expired], [2, ['token-1']]);
  });

  for (const [what, step, expected] of [
    ['an unknown outcome', fails(), 'unknown'],
    ['a refusal', fails(refused), 'rejected'],
  ] as const) {
    it(`gives the second call's ${what.slice(3)} as it is, and leaves the session alone`, async () => {
      const made = setUp([fails(tokenRefused), step]);
      const holder = sessionWith(same);
      const error = await made.catchError(made.provider.pay({ session: holder.session, order }));
      assert.deepEqual([error.outcome, error.attempts, holder.expired], [expected, 2, []]);
    });
  }
});

describe('a refused token whose call is not made a second time', () => {
  const nothingDone = ['not_sent', 'PROVIDER_UNAVAILABLE', '401', true] as const;

  function pickFacts({ outcome, code, statusClass, retryable }: ProviderError) {
    return [outcome, code, statusClass, retryable];
  }

  it('goes on when the session has ended meanwhile: nothing leaves any more', async () => {
    const made = setUp([fails(tokenRefused)]);
    const holder = sessionWith(() => Promise.resolve(null));
    const error = await made.catchError(made.provider.balance({ session: holder.session }));
    assert.equal(error.code, 'TOKEN_REFUSED');
    assert.deepEqual([made.calls.length, holder.expired], [1, []]);
  });

  for (const when of ['before', 'during'] as const) {
    it(`leaves the session alone when shutdown begins ${when} the back-off`, async () => {
      const shutdown = new AbortController();
      const made = setUp([fails(tokenRefused)], { shutdown: shutdown.signal });
      const holder = sessionWith(same);
      if (when === 'before') shutdown.abort();
      const call = made.provider
        .pay({ session: holder.session, order })
        .catch((thrown: unknown) => thrown);
      await made.clock.advance(0);
      shutdown.abort();
      const error = await call;
      assert.ok(error instanceof ProviderError);
      assert.deepEqual(pickFacts(error), nothingDone);
      assert.deepEqual([made.calls.length, holder.expired], [1, []]);
    });
  }

  it('leaves the session alone when the caller of a read goes during the back-off', async () => {
    const caller = new AbortController();
    const made = setUp([fails(tokenRefused)]);
    const holder = sessionWith(same);
    const { signal } = caller;
    const call = made.provider
      .balance({ session: holder.session, signal })
      .catch((thrown: unknown) => thrown);
    await made.clock.advance(0);
    caller.abort();
    const error: unknown = await call;
    assert.ok(error instanceof ProviderError);
    assert.deepEqual(pickFacts(error), nothingDone);
    assert.deepEqual([made.calls.length, holder.expired], [1, []]);
  });

  it('is a payment that the caller cannot stop: the second call is made', async () => {
    const caller = new AbortController();
    const made = setUp([fails(tokenRefused), responds(receipt)]);
    const { signal } = caller;
    const call = made.provider.pay({ session: sessionWith(same).session, order, signal });
    await made.clock.advance(0);
    caller.abort();
    assert.deepEqual(await made.ended(call), receipt);
  });

  it('leaves the session alone when it cannot be read, with the cause', async () => {
    const away = new Error('the database is away');
    const made = setUp([fails(tokenRefused)]);
    const holder = sessionWith(() => Promise.reject(away));
    const error = await made.catchError(made.provider.balance({ session: holder.session }));
    assert.deepEqual([error.code, error.outcome, error.cause], ['TOKEN_REFUSED', 'not_sent', away]);
    assert.deepEqual([made.calls.length, holder.expired], [1, []]);
  });
});

it('a second refusal goes on, with the cause, when the session cannot be marked', async () => {
  const away = new Error('the database is away');
  const made = setUp([fails(tokenRefused)]);
  const unmarked = { ...session, expire: () => Promise.reject(away) };
  const error = await made.catchError(made.provider.balance({ session: unmarked }));
  assert.deepEqual([error.code, error.attempts, error.cause], ['TOKEN_REFUSED', 2, away]);
});

describe('a storm of refusals', () => {
  it('reads the session once for twenty calls of one user', async () => {
    const made = setUp([refusesTheOldToken]);
    const reading = Promise.withResolvers<string | null>();
    const holder = sessionWith(() => reading.promise);
    const calls = Array.from({ length: 20 }, () =>
      made.provider.balance({ session: holder.session }),
    );
    setImmediate(() => reading.resolve('token-2'));
    assert.deepEqual(await Promise.all(calls), Array<number>(20).fill(5));
    assert.equal(holder.reads.length, 1);
    assert.equal(made.calls.length, 40);
  });

  it('marks the session once for twenty calls of one user', async () => {
    const made = setUp([fails(tokenRefused)]);
    const holder = sessionWith(renewed);
    const calls = Array.from({ length: 20 }, () =>
      made.catchError(made.provider.balance({ session: holder.session })),
    );
    const errors = await Promise.all(calls);
    assert.ok(errors.every((error) => error.code === 'TOKEN_REFUSED'));
    assert.deepEqual([holder.reads.length, holder.expired], [1, ['token-2']]);
  });

  it('keeps users apart, though their tokens be the same', async () => {
    const made = setUp([refusesTheOldToken]);
    const ana = sessionWith(renewed, 1);
    const rui = sessionWith(() => Promise.resolve(null), 2);
    const [first, second] = await Promise.all([
      made.provider.balance({ session: ana.session }),
      made.catchError(made.provider.balance({ session: rui.session })),
    ]);
    assert.deepEqual([first, second.code], [5, 'TOKEN_REFUSED']);
  });

  it('reads the session again for a later refusal', async () => {
    const made = setUp([fails(tokenRefused)]);
    const holder = sessionWith(same);
    await made.catchError(made.provider.balance({ session: holder.session }));
    await made.catchError(made.provider.balance({ session: holder.session }));
    assert.equal(holder.reads.length, 2);
  });
});

describe('tokens around resilience', () => {
  for (const [whose, currentToken] of Object.entries({ newer: renewed, same })) {
    const composed = (...steps: Step[]) => {
      const scripted = scriptedProvider(...steps);
      const clock = manualClock();
      const { provider } = withResilience(scripted.provider, {
        clock,
        timeoutMs: 1000,
        retries: 2,
        backoff: { baseMs: 0, maxMs: 0 },
      });
      const holder = sessionWith(currentToken);
      const pay = async (): Promise<unknown> => {
        const end = withTokenRefresh(provider, { clock })
          .pay({ session: holder.session, order })
          .catch((error: unknown) => error);
        await clock.advance(maxMs);
        return end;
      };
      return { ...scripted, ...holder, pay };
    };

    it(`pays with the ${whose} token: a refused one proves that nothing was done`, async () => {
      const made = composed(fails(tokenRefused), responds(receipt));
      assert.deepEqual(await made.pay(), receipt);
    });

    it(`keeps a payment unknown, and does not try the ${whose} token, when the token is refused after an unknown attempt`, async () => {
      const made = composed(fails(), fails(tokenRefused), responds(receipt));
      const error = await made.pay();
      assert.ok(error instanceof ProviderError);
      assert.equal(error.outcome, 'unknown');
      assert.deepEqual([made.calls.length, made.reads.length, made.expired], [2, 0, []]);
    });

    it(`keeps a payment unknown when it was unknown with the ${whose} token`, async () => {
      for (const last of [fails(refused), fails(tokenRefused)]) {
        const made = composed(fails(tokenRefused), fails(), last);
        const error = await made.pay();
        assert.ok(error instanceof ProviderError);
        assert.deepEqual([error.outcome, made.expired], ['unknown', []]);
      }
    });
  }
});

describe('a login', () => {
  it('has no token to try again: its 401 says that the password is wrong', async () => {
    const made = setUp([fails(tokenRefused)]);
    const credentials = { email: 'ana@ponte.test', password: 'secret' };
    assert.equal((await made.catchError(made.provider.login(credentials))).code, 'TOKEN_REFUSED');
    assert.equal(made.calls.length, 1);
  });
});

describe('a refused token of a payment, which may have been executed', () => {
  const doubted = { ...tokenRefused, outcome: 'unknown', httpStatus: 401 } as const;

  it('is tried once more, as a repeat after an unknown attempt', async () => {
    const lasts: (string | null)[] = [];
    const beforeAttempt = (last: ProviderError | null): boolean => {
      lasts.push(last && `${last.outcome} ${last.httpStatus}`);
      return true;
    };
    const clock = manualClock();
    const scripted = scriptedProvider(fails(doubted), responds(receipt));
    const resilient = withResilience(scripted.provider, { clock, timeoutMs: 1_000, retries: 2 });
    const provider = withTokenRefresh(resilient.provider, { clock });
    const { session: holder } = sessionWith(renewed);
    assert.deepEqual(await provider.pay({ session: holder, order, beforeAttempt }), receipt);
    assert.deepEqual(lasts, [null, 'unknown 401']);
  });

  it('stays unknown when it is refused again, and ends the session', async () => {
    const made = setUp([fails(doubted)]);
    const holder = sessionWith(renewed);
    const error = await made.catchError(made.provider.pay({ session: holder.session, order }));
    const { code, outcome, attempts } = error;
    assert.deepEqual([code, outcome, attempts], ['TOKEN_REFUSED', 'unknown', 2]);
    assert.deepEqual(holder.expired, ['token-2']);
  });

  for (const [what, second] of [
    ['a refusal', { ...refused, httpStatus: 422, refusalCode: 'AC03' }],
    ['an attempt that was not sent', notConnected],
  ] as const) {
    it(`stays unknown after ${what}, and the session remains`, async () => {
      const made = setUp([fails(doubted), fails(second)]);
      const holder = sessionWith(renewed);
      const error = await made.catchError(made.provider.pay({ session: holder.session, order }));
      assert.deepEqual([error.outcome, error.statusClass], ['unknown', second.statusClass]);
      assert.deepEqual([error.attempts, holder.expired], [2, []]);
    });
  }

  it('names the 401 as the last attempt when the second one was not made', async () => {
    const clock = manualClock();
    const { provider: wire } = scriptedProvider(fails(doubted));
    const { provider } = withResilience(wire, { clock, timeoutMs: 1_000, retries: 2 });
    const { session: holder } = sessionWith(renewed);
    const call = withTokenRefresh(provider, { clock }).pay({
      session: holder,
      order,
      beforeAttempt: (last) => last === null,
    });
    const error = await call.catch((thrown: unknown) => thrown);
    assert.ok(error instanceof ProviderError);
    assert.deepEqual([error.outcome, error.lastAttempt?.httpStatus], ['unknown', 401]);
  });

  it('has no second call at a bank that may execute it again, and the session remains', async () => {
    const made = setUp([fails(doubted)], { repeatsPayments: false });
    const holder = sessionWith(renewed);
    const error = await made.catchError(made.provider.pay({ session: holder.session, order }));
    assert.deepEqual([error.code, error.outcome], ['TOKEN_REFUSED', 'unknown']);
    assert.deepEqual([made.calls.length, holder.reads, holder.expired], [1, [], []]);
    await made.ended(made.provider.balance({ session: holder.session }));
    assert.equal(made.calls.length, 3);
  });

  it('is not repeated in a session that has ended meanwhile: unknown, and 401', async () => {
    const made = setUp([fails(doubted)]);
    const holder = sessionWith(() => Promise.resolve(null));
    const error = await made.catchError(made.provider.pay({ session: holder.session, order }));
    assert.deepEqual([error.code, error.outcome], ['TOKEN_REFUSED', 'unknown']);
    assert.equal(made.calls.length, 1);
  });
});
