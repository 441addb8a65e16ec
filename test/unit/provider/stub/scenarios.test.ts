import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customerScript, scenarios } from '../../../../src/provider/stub/scenarios.ts';
import {
  failure,
  logIn,
  openBank,
  orderFor,
  rejected,
  TOKEN_REFUSED,
  UNAVAILABLE,
} from './open-bank.ts';
import { everyCall, lookUp, OPENING_BALANCE_CENTS, today } from '../../../conformance/target.ts';
import { judgeSend } from '../../../../src/pix/statement-evidence.ts';

/** A signal that aborts once what is under way has come to rest. */
function abortedSoon(): AbortSignal {
  const controller = new AbortController();
  setImmediate(() => controller.abort());
  return controller.signal;
}

/** Pays a magic key. */
async function paid(name: string, signal?: AbortSignal) {
  const open = openBank();
  const session = await logIn(open.provider);
  const order = await orderFor(open.provider, session, { key: `${name}@ponte.test` });
  const answer = open.provider.pay({ session, order, ...(signal === undefined ? {} : { signal }) });
  return { ...open, session, order, answer };
}

test('the table names each magic value once, with what happens in words', () => {
  const names = scenarios.map(({ input, value }) => `${input} ${value}`);
  assert.equal(new Set(names).size, names.length);
  for (const { effect } of scenarios) assert.match(effect, /\w/);
});

test('notfound@: the look-up answers 404', async () => {
  const { provider } = openBank();
  const session = await logIn(provider);
  assert.deepEqual(
    await failure(provider.lookUpKey({ session, ...lookUp('notfound@ponte.test') })),
    {
      outcome: 'rejected',
      code: 'PIX_KEY_NOT_FOUND',
      statusClass: '404',
      retryable: false,
      reason: 'NotFound',
    },
  );
});

test('ratelimited@: the look-up answers 429 and how long to wait', async () => {
  const { provider } = openBank();
  const session = await logIn(provider);
  assert.deepEqual(
    await failure(provider.lookUpKey({ session, ...lookUp('ratelimited@ponte.test') })),
    {
      outcome: 'rejected',
      code: 'PROVIDER_RATE_LIMITED',
      statusClass: '429',
      retryable: false,
      retryAfterMs: 30_000,
      reason: 'RateLimited',
    },
  );
});

test('unavailable@: the look-up answers 503 every time', async () => {
  const { provider } = openBank();
  const session = await logIn(provider);
  for (let attempt = 0; attempt < 4; attempt += 1) {
    const call = provider.lookUpKey({ session, ...lookUp('unavailable@ponte.test') });
    assert.deepEqual(await failure(call), UNAVAILABLE);
  }
});

test('flaky@: the first look-up of each payer answers 503, the next ones are fine', async () => {
  const { provider } = openBank();
  for (const email of ['dev@ponte.test', 'other@ponte.test']) {
    const session = await logIn(provider, email);
    const key = lookUp('flaky@ponte.test');
    assert.deepEqual(await failure(provider.lookUpKey({ session, ...key })), UNAVAILABLE);
    await provider.lookUpKey({ session, ...key });
    await provider.lookUpKey({ session, ...key });
  }
});

test('a magic key works in capitals too', async () => {
  const { provider } = openBank();
  const session = await logIn(provider);
  const { code } = await failure(provider.lookUpKey({ session, ...lookUp('NotFound@Ponte.Test') }));
  assert.equal(code, 'PIX_KEY_NOT_FOUND');
});

test('reject@: the payment is refused with AC03 and nothing is debited', async () => {
  const { provider, session, answer, clock, notices } = await paid('reject');
  assert.deepEqual(await failure(answer), rejected('AC03'));
  await clock.advance(60_000);
  assert.deepEqual(notices(), []);
  assert.equal(await provider.balance({ session }), OPENING_BALANCE_CENTS);
});

test('timeout@: the payment is executed and answers only when its signal aborts', async () => {
  const controller = new AbortController();
  const { provider, session, order, answer, clock, notices } = await paid(
    'timeout',
    controller.signal,
  );
  let isAnswered = false;
  const outcome = failure(answer).finally(() => (isAnswered = true));
  await clock.advance(60_000);
  assert.equal(isAnswered, false);
  controller.abort(new Error('time is up'));
  assert.deepEqual(await outcome, {
    outcome: 'unknown',
    code: 'PROVIDER_TIMEOUT',
    statusClass: 'timeout',
    retryable: true,
  });
  assert.equal(await provider.balance({ session }), OPENING_BALANCE_CENTS - order.amountCents);
  assert.equal(notices()[0]?.['status'], 'CONFIRMED');
});

test('timeout@: every attempt hangs, and only one was executed', async () => {
  const { provider, session, order, answer } = await paid('timeout', abortedSoon());
  await failure(answer);
  const again = provider.pay({ session, order, signal: abortedSoon() });
  assert.equal((await failure(again)).code, 'PROVIDER_TIMEOUT');
  assert.equal(await provider.balance({ session }), OPENING_BALANCE_CENTS - order.amountCents);
});

test('lost@: the payment is executed and every attempt answers 500', async () => {
  const { provider, session, order, answer, clock, notices } = await paid('lost');
  assert.deepEqual(await failure(answer), UNAVAILABLE);
  assert.deepEqual(await failure(provider.pay({ session, order })), UNAVAILABLE);
  await clock.advance(60_000);
  assert.equal(notices().length, 1);
  assert.equal(await provider.balance({ session }), OPENING_BALANCE_CENTS - order.amountCents);
});

test('html@: the payment is executed and the answer cannot be read', async () => {
  const { provider, session, order, answer } = await paid('html');
  assert.deepEqual(await failure(answer), {
    outcome: 'unknown',
    code: 'PROVIDER_INVALID_RESPONSE',
    statusClass: 'invalid',
    retryable: false,
  });
  assert.equal(await provider.balance({ session }), OPENING_BALANCE_CENTS - order.amountCents);
});

test('fail@: the payment is accepted, fails with BE17, and is credited back', async () => {
  const { provider, session, order, answer, clock, notices } = await paid('fail');
  assert.equal((await answer).status, 'PROCESSING');
  assert.equal(await provider.balance({ session }), OPENING_BALANCE_CENTS - order.amountCents);
  await clock.advance(1_500);
  assert.equal(notices()[0]?.['status'], 'ERROR');
  assert.deepEqual(notices()[0]?.['error'], { code: 'BE17' });
  assert.equal(await provider.balance({ session }), OPENING_BALANCE_CENTS);
});

test('slow@: the webhook comes after 30 seconds', async () => {
  const { answer, clock, notices } = await paid('slow');
  await answer;
  await clock.advance(29_999);
  assert.equal(notices().length, 0);
  await clock.advance(1);
  assert.equal(notices()[0]?.['status'], 'CONFIRMED');
});

test('silent@: no webhook comes, and the statement shows the payment', async () => {
  const { provider, session, order, answer, clock, notices } = await paid('silent');
  await answer;
  await clock.advance(3_600_000);
  assert.deepEqual(notices(), []);
  const { lines } = await provider.statement({ session, ...today });
  assert.equal(judgeSend(lines, order), 'completed');
});

test('early@: the webhook is received before the payment answers', async () => {
  const received = Promise.withResolvers<void>();
  const order: string[] = [];
  const { provider } = openBank({
    notify: async () => {
      order.push('posted');
      await received.promise;
      order.push('received');
    },
  });
  const session = await logIn(provider);
  const payment = await orderFor(provider, session, { key: 'early@ponte.test' });
  const answer = provider.pay({ session, order: payment }).then(({ status }) => order.push(status));
  // A repeat of the payment is answered no sooner than the payment.
  const repeat = provider.pay({ session, order: payment }).then(({ status }) => order.push(status));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(order, ['posted']);
  received.resolve();
  await Promise.all([answer, repeat]);
  assert.deepEqual(order, ['posted', 'received', 'PROCESSING', 'PROCESSING']);
});

test('early@: a webhook that hangs does not outlast the signal', async () => {
  const { provider } = openBank({ notify: () => new Promise(() => {}) });
  const session = await logIn(provider);
  const order = await orderFor(provider, session, { key: 'early@ponte.test' });
  const call = provider.pay({ session, order, signal: abortedSoon() });
  assert.equal((await failure(call)).code, 'PROVIDER_TIMEOUT');
});

test('early@: a webhook that is not received is posted again after the answer', async () => {
  let tries = 0;
  const { provider, clock } = openBank({
    notify: async () => {
      tries += 1;
      if (tries === 1) throw new Error('not yet');
    },
  });
  const session = await logIn(provider);
  const order = await orderFor(provider, session, { key: 'early@ponte.test' });
  assert.equal((await provider.pay({ session, order })).status, 'PROCESSING');
  await clock.advance(1_000);
  assert.equal(tries, 2);
});

test('twice@: the same bytes come twice, then a contradiction that moves no money', async () => {
  const { provider, session, order, answer, clock, payloads, notices } = await paid('twice');
  await answer;
  await clock.advance(1_500);
  assert.deepEqual(
    notices().map(({ status, error }) => ({ status, error })),
    [
      { status: 'CONFIRMED', error: undefined },
      { status: 'CONFIRMED', error: undefined },
      { status: 'ERROR', error: { code: 'AB03' } },
    ],
  );
  assert.ok(payloads[0]?.equals(payloads[1] ?? Buffer.alloc(0)));
  assert.equal(await provider.balance({ session }), OPENING_BALANCE_CENTS - order.amountCents);
});

test('refused@: the login is refused', async () => {
  const { provider } = openBank();
  const call = logIn(provider, 'refused@ponte.test');
  assert.deepEqual(await failure(call), rejected('InvalidCredentials'));
});

test('down@: the login answers 503 every time', async () => {
  const { provider } = openBank();
  for (let attempt = 0; attempt < 4; attempt += 1) {
    assert.deepEqual(await failure(logIn(provider, 'down@ponte.test')), UNAVAILABLE);
  }
});

test('offline@: the login works and everything after it answers 503', async () => {
  const { provider } = openBank();
  const session = await logIn(provider, 'offline@ponte.test');
  for (const failed of await Promise.all(everyCall(provider, session).map(failure))) {
    assert.deepEqual(failed, UNAVAILABLE);
  }
});

test('expired@: the token is good for one call, a new login for one more', async () => {
  const { provider } = openBank();
  for (let login = 0; login < 2; login += 1) {
    const session = await logIn(provider, 'expired@ponte.test');
    assert.equal(await provider.balance({ session }), OPENING_BALANCE_CENTS);
    assert.deepEqual(await failure(provider.balance({ session })), TOKEN_REFUSED);
    assert.deepEqual(
      await failure(provider.lookUpKey({ session, ...lookUp('a@b.c') })),
      TOKEN_REFUSED,
    );
  }
});

test('hiccup@: the first call of every login answers 401, the others are fine', async () => {
  const { provider } = openBank();
  for (let login = 0; login < 2; login += 1) {
    const session = await logIn(provider, 'hiccup@ponte.test');
    assert.deepEqual(await failure(provider.balance({ session })), TOKEN_REFUSED);
    for (let call = 0; call < 2; call += 1) {
      assert.equal(await provider.balance({ session }), OPENING_BALANCE_CENTS);
    }
  }
});

test('any other value takes the happy path', () => {
  assert.equal(customerScript('dev@ponte.test'), 'served');
});
