import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logIn, openBank, orderFor } from './open-bank.ts';

/** A receiver that refuses the first webhooks, and the time at which each one came. */
function reluctant(refusals: number) {
  const tries: { readonly atMs: number; readonly payload: string }[] = [];
  const faults: unknown[] = [];
  const open = openBank({
    notify: async (payload) => {
      tries.push({ atMs: open.clock.now().getTime() - startMs, payload: payload.toString() });
      if (tries.length <= refusals) throw new Error('503');
    },
    onFault: (fault) => faults.push(fault),
  });
  const startMs = open.clock.now().getTime();
  return { ...open, tries, faults };
}

test('a webhook that is not received comes again after growing delays', async () => {
  const { provider, clock, tries, faults } = reluctant(4);
  const session = await logIn(provider);
  await provider.pay({ session, order: await orderFor(provider, session) });
  await clock.advance(3_600_000);
  assert.deepEqual(
    tries.map(({ atMs }) => atMs),
    [1_500, 2_500, 4_500, 8_500, 16_500],
  );
  assert.equal(new Set(tries.map(({ payload }) => payload)).size, 1);
  assert.deepEqual(faults, []);
});

test('a webhook that is never received is given up after ten attempts, and reported', async () => {
  const { provider, clock, tries, faults } = reluctant(Infinity);
  const session = await logIn(provider);
  await provider.pay({ session, order: await orderFor(provider, session) });
  await clock.advance(3_600_000);
  assert.equal(tries.length, 10);
  assert.match(String(faults[0]), /given up after 10 attempts/);
  assert.equal(faults.length, 1);
});

test('the next webhook of a payment waits until the one before it is received', async () => {
  const { provider, clock, tries } = reluctant(2);
  const session = await logIn(provider);
  await provider.pay({
    session,
    order: await orderFor(provider, session, { key: 'twice@ponte.test' }),
  });
  await clock.advance(60_000);
  const statuses = tries.map(({ payload }) => (JSON.parse(payload) as { status: string }).status);
  assert.deepEqual(statuses, ['CONFIRMED', 'CONFIRMED', 'CONFIRMED', 'CONFIRMED', 'ERROR']);
});

test('a webhook that is not received does not hold up those of other payments', async () => {
  const received: unknown[] = [];
  const { provider, clock } = openBank({
    notify: async (payload) => {
      const { clientRequestId } = JSON.parse(payload.toString()) as { clientRequestId: string };
      if (clientRequestId === 'request-1') throw new Error('503');
      received.push(clientRequestId);
    },
  });
  const session = await logIn(provider);
  for (const clientRequestId of ['request-1', 'request-2']) {
    await provider.pay({ session, order: await orderFor(provider, session, { clientRequestId }) });
  }
  await clock.advance(1_500);
  assert.deepEqual(received, ['request-2']);
});

test('settling by hand waits for its webhook, and so does being idle', async () => {
  const received = Promise.withResolvers<void>();
  const { provider, bank } = openBank({ settleMs: 0, notify: () => received.promise });
  const session = await logIn(provider);
  const order = await orderFor(provider, session);
  await provider.pay({ session, order });
  await bank.idle();
  const events: string[] = [];
  const settled = bank.settle(order.endToEnd).then(() => events.push('settled'));
  await new Promise((resolve) => setImmediate(resolve));
  const idle = bank.idle().then(() => events.push('idle'));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(events, []);
  received.resolve();
  await Promise.all([settled, idle]);
});

test('a closed bank posts nothing more', async () => {
  const { provider, bank, clock, tries, faults } = reluctant(1);
  const session = await logIn(provider);
  await provider.pay({ session, order: await orderFor(provider, session) });
  await clock.advance(1_500);
  await bank.close();
  await clock.advance(60_000);
  assert.equal(tries.length, 1);
  assert.deepEqual(faults, []);
});
