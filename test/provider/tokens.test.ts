import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ProviderError } from '../../src/provider/outcome.ts';
import type { ProviderSession } from '../../src/provider/provider.ts';
import { withResilience } from '../../src/provider/resilience.ts';
import { withTokens } from '../../src/provider/tokens.ts';
import { manualClock } from '../support/clock.ts';
import {
  answers,
  failure,
  fails,
  order,
  receipt,
  refused,
  scriptedProvider,
  session,
  type Step,
  tokenRefused,
} from './scripted-provider.ts';

/** A session that remembers what it was asked. */
function sessionWith(renewedToken: (refused: string) => Promise<string | null>, userId = 7) {
  const asked: string[] = [];
  const expired: string[] = [];
  const made: ProviderSession = {
    userId,
    token: 'token-1',
    renewedToken(refusedToken) {
      asked.push(refusedToken);
      return renewedToken(refusedToken);
    },
    expire(refusedToken) {
      expired.push(refusedToken);
      return Promise.resolve();
    },
  };
  return { session: made, asked, expired };
}

/** A provider that refuses `token-1` and takes every other token. */
const refusesTheOldToken: Step = ({ args }) => {
  if ((args[0] as ProviderSession).token === 'token-1') throw failure(tokenRefused);
  return 5;
};

async function errorOf(call: Promise<unknown>): Promise<ProviderError> {
  const error = await call.catch((thrown: unknown) => thrown);
  assert.ok(error instanceof ProviderError);
  return error;
}

describe('a refused token', () => {
  it('is followed by one call with the newer token', async () => {
    const scripted = scriptedProvider(refusesTheOldToken);
    const holder = sessionWith(() => Promise.resolve('token-2'));
    assert.equal(await withTokens(scripted.provider).balance(holder.session), 5);
    assert.deepEqual(
      scripted.calls.map(({ args }) => (args[0] as ProviderSession).token),
      ['token-1', 'token-2'],
    );
    assert.deepEqual([holder.asked, holder.expired], [['token-1'], []]);
  });

  it('ends the session when there is no newer one', async () => {
    const scripted = scriptedProvider(fails(tokenRefused));
    const holder = sessionWith(() => Promise.resolve(null));
    const error = await errorOf(withTokens(scripted.provider).balance(holder.session));
    assert.equal(error.code, 'TOKEN_REFUSED');
    assert.deepEqual(holder.expired, ['token-1']);
    assert.equal(scripted.calls.length, 1);
  });

  it('ends the session when the newer one is refused too, naming that one', async () => {
    const scripted = scriptedProvider(fails(tokenRefused));
    const holder = sessionWith(() => Promise.resolve('token-2'));
    const error = await errorOf(withTokens(scripted.provider).balance(holder.session));
    assert.equal(error.code, 'TOKEN_REFUSED');
    assert.deepEqual(holder.expired, ['token-2']);
    assert.equal(scripted.calls.length, 2);
  });

  it('is not tried again as its own successor', async () => {
    const scripted = scriptedProvider(fails(tokenRefused));
    const holder = sessionWith((same) => Promise.resolve(same));
    await errorOf(withTokens(scripted.provider).balance(holder.session));
    assert.deepEqual([scripted.calls.length, holder.expired], [1, ['token-1']]);
  });

  it('leaves the session alone when the second call fails for another reason', async () => {
    const scripted = scriptedProvider(fails(tokenRefused), fails());
    const holder = sessionWith(() => Promise.resolve('token-2'));
    const error = await errorOf(withTokens(scripted.provider).pay(holder.session, order));
    assert.deepEqual([error.outcome, holder.expired], ['unknown', []]);
  });

  it('goes on, with the cause, when the session cannot be read or marked', async () => {
    const away = new Error('the database is away');
    const unreadable = sessionWith(() => Promise.reject(away));
    const scripted = scriptedProvider(fails(tokenRefused));
    const unread = await errorOf(withTokens(scripted.provider).balance(unreadable.session));
    assert.deepEqual([unread.code, unread.cause], ['TOKEN_REFUSED', away]);
    const unmarked = await errorOf(
      withTokens(scripted.provider).balance({ ...session, expire: () => Promise.reject(away) }),
    );
    assert.deepEqual([unmarked.code, unmarked.cause], ['TOKEN_REFUSED', away]);
  });

  it('is not followed by another call when the first may have been executed', async () => {
    const scripted = scriptedProvider(fails({ ...tokenRefused, outcome: 'unknown' }));
    const holder = sessionWith(() => Promise.resolve('token-2'));
    await errorOf(withTokens(scripted.provider).pay(holder.session, order));
    assert.deepEqual([scripted.calls.length, holder.asked], [1, []]);
  });

  it('passes on the other arguments as they are', async () => {
    const scripted = scriptedProvider(fails(tokenRefused), answers(receipt));
    const holder = sessionWith(() => Promise.resolve('token-2'));
    const options = { requestId: 'r-1' };
    await withTokens(scripted.provider).pay(holder.session, order, options);
    assert.deepEqual(scripted.calls[1]?.args.slice(1), [order, options]);
  });
});

describe('a storm of refusals', () => {
  it('reads the session once for twenty calls of one user', async () => {
    const scripted = scriptedProvider(refusesTheOldToken);
    const reading = Promise.withResolvers<string | null>();
    const holder = sessionWith(() => reading.promise);
    const provider = withTokens(scripted.provider);
    const calls = Array.from({ length: 20 }, () => provider.balance(holder.session));
    setImmediate(() => reading.resolve('token-2'));
    assert.deepEqual(await Promise.all(calls), Array<number>(20).fill(5));
    assert.deepEqual(holder.asked, ['token-1']);
    assert.equal(scripted.calls.length, 40);
  });

  it('marks the session once when there is no newer token', async () => {
    const scripted = scriptedProvider(fails(tokenRefused));
    const holder = sessionWith(() => Promise.resolve(null));
    const provider = withTokens(scripted.provider);
    const calls = Array.from({ length: 20 }, () => errorOf(provider.balance(holder.session)));
    const errors = await Promise.all(calls);
    assert.ok(errors.every((error) => error.code === 'TOKEN_REFUSED'));
    assert.deepEqual([holder.asked, holder.expired], [['token-1'], ['token-1']]);
  });

  it('keeps users apart, though their tokens be the same', async () => {
    const scripted = scriptedProvider(refusesTheOldToken);
    const provider = withTokens(scripted.provider);
    const ana = sessionWith(() => Promise.resolve('token-2'), 1);
    const rui = sessionWith(() => Promise.resolve(null), 2);
    const [first, second] = await Promise.all([
      provider.balance(ana.session),
      errorOf(provider.balance(rui.session)),
    ]);
    assert.deepEqual([first, second.code], [5, 'TOKEN_REFUSED']);
  });

  it('asks anew for a later refusal', async () => {
    const scripted = scriptedProvider(fails(tokenRefused));
    const holder = sessionWith(() => Promise.resolve(null));
    const provider = withTokens(scripted.provider);
    await errorOf(provider.balance(holder.session));
    await errorOf(provider.balance(holder.session));
    assert.equal(holder.asked.length, 2);
  });
});

describe('tokens around resilience', () => {
  function composed(...steps: Step[]) {
    const scripted = scriptedProvider(...steps);
    const clock = manualClock();
    const { provider } = withResilience(scripted.provider, {
      clock,
      timeoutMs: 1000,
      retries: 2,
      backoff: { baseMs: 0, maxMs: 0 },
    });
    const holder = sessionWith(() => Promise.resolve('token-2'));
    const pay = async (): Promise<unknown> => {
      const end = withTokens(provider)
        .pay(holder.session, order)
        .catch((error: unknown) => error);
      await clock.advance(0);
      return end;
    };
    return { ...scripted, ...holder, pay };
  }

  it('pays with the newer token when the refused one proves that nothing was done', async () => {
    const made = composed(fails(tokenRefused), answers(receipt));
    assert.deepEqual(await made.pay(), receipt);
  });

  it('keeps a payment unknown when the token is refused after an unknown attempt', async () => {
    const made = composed(fails(), fails(tokenRefused), answers(receipt));
    const error = await made.pay();
    assert.ok(error instanceof ProviderError);
    assert.equal(error.outcome, 'unknown');
    assert.deepEqual([made.calls.length, made.asked], [2, []]);
  });

  it('keeps a payment unknown when it was unknown with the newer token', async () => {
    const made = composed(fails(tokenRefused), fails(), fails(refused));
    const error = await made.pay();
    assert.ok(error instanceof ProviderError);
    assert.equal(error.outcome, 'unknown');
  });
});

describe('a login', () => {
  it('has no token to renew', async () => {
    const scripted = scriptedProvider(fails(tokenRefused));
    const provider = withTokens(scripted.provider);
    const credentials = { email: 'ana@ponte.test', password: 'secret' };
    assert.equal((await errorOf(provider.login(credentials))).code, 'TOKEN_REFUSED');
    assert.equal(scripted.calls.length, 1);
  });
});
