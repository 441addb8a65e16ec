/** The details of the scenarios; the conformance suite runs each of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customerScript, scenarios } from '../../../../../src/provider/sandbox/bank/scenarios.ts';
import {
  failure,
  logIn,
  openBank,
  orderFor,
  rejected,
  tokenRefused,
  unavailable,
} from './open-bank.ts';
import { lookUp, openingBalanceCents } from '../../../../conformance/target.ts';

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
  const response = open.provider.pay({
    session,
    order,
    ...(signal === undefined ? {} : { signal }),
  });
  return { ...open, session, order, response };
}

test('the table names each magic value once, with what happens in words', () => {
  const names = scenarios.map(({ input, value }) => `${input} ${value}`);
  assert.equal(new Set(names).size, names.length);
  for (const { effect } of scenarios) assert.match(effect, /\w/);
});

test('flaky@: the first look-up of each payer answers 503, the next ones are fine', async () => {
  const { provider } = openBank();
  for (const email of ['dev@ponte.test', 'other@ponte.test']) {
    const session = await logIn(provider, email);
    const key = lookUp('flaky@ponte.test');
    assert.deepEqual(await failure(provider.lookUpKey({ session, ...key })), unavailable);
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
  const { provider, session, response, clock, notices } = await paid('reject');
  assert.deepEqual(await failure(response), rejected('AC03'));
  await clock.advance(60_000);
  assert.deepEqual(notices(), []);
  assert.equal((await provider.balance({ session })).cents, openingBalanceCents);
});

test('timeout@: every attempt hangs, and only one was executed', async () => {
  const { provider, session, order, response } = await paid('timeout', abortedSoon());
  await failure(response);
  const again = provider.pay({ session, order, signal: abortedSoon() });
  assert.equal((await failure(again)).code, 'PROVIDER_TIMEOUT');
  assert.equal(
    (await provider.balance({ session })).cents,
    openingBalanceCents - order.amountCents,
  );
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
  const response = provider
    .pay({ session, order: payment })
    .then(({ status }) => order.push(status));
  // A repeat of the payment is answered no sooner than the payment.
  const repeat = provider.pay({ session, order: payment }).then(({ status }) => order.push(status));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(order, ['posted']);
  received.resolve();
  await Promise.all([response, repeat]);
  assert.deepEqual(order, ['posted', 'received', 'PROCESSING', 'PROCESSING']);
});

test('early@: a webhook that hangs does not outlast the signal', async () => {
  const { provider } = openBank({ notify: () => new Promise(() => {}) });
  const session = await logIn(provider);
  const order = await orderFor(provider, session, { key: 'early@ponte.test' });
  const call = provider.pay({ session, order, signal: abortedSoon() });
  assert.equal((await failure(call)).code, 'PROVIDER_TIMEOUT');
});

test('early@: a webhook that is not received is posted again after the response', async () => {
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
  const { provider, session, order, response, clock, payloads, notices } = await paid('twice');
  await response;
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
  assert.equal(
    (await provider.balance({ session })).cents,
    openingBalanceCents - order.amountCents,
  );
});

test('expired@: the token is good for one call, a new login for one more', async () => {
  const { provider } = openBank();
  for (let login = 0; login < 2; login += 1) {
    const session = await logIn(provider, 'expired@ponte.test');
    assert.equal((await provider.balance({ session })).cents, openingBalanceCents);
    assert.deepEqual(await failure(provider.balance({ session })), tokenRefused);
    assert.deepEqual(
      await failure(provider.lookUpKey({ session, ...lookUp('a@b.c') })),
      tokenRefused,
    );
  }
});

test('hiccup@: the first call of every login answers 401, the others are fine', async () => {
  const { provider } = openBank();
  for (let login = 0; login < 2; login += 1) {
    const session = await logIn(provider, 'hiccup@ponte.test');
    assert.deepEqual(await failure(provider.balance({ session })), tokenRefused);
    for (let call = 0; call < 2; call += 1) {
      assert.equal((await provider.balance({ session })).cents, openingBalanceCents);
    }
  }
});

test('any other value takes the happy path', () => {
  assert.equal(customerScript('dev@ponte.test'), 'served');
});
