import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { catchFailure, readOutcome, pay, setUp } from './resilient-set-up.ts';
import {
  responds,
  fails,
  hangs,
  notConnected,
  order,
  receipt,
  refused,
  session,
} from './scripted-provider.ts';

describe('retries', () => {
  for (const statusClass of ['5xx', 'connect', 'timeout', 'reset'] as const) {
    it(`tries again after ${statusClass}, a bounded number of times`, async () => {
      const made = setUp([fails({ statusClass })]);
      await catchFailure(made, made.provider.lookUpKey({ session, payerId: '1', key: 'k' }));
      assert.equal(made.calls.length, 3);
    });
  }

  for (const statusClass of ['401', '4xx', '404', '429', 'invalid', 'no_token'] as const) {
    it(`does not try again after ${statusClass}, even if the error asks for it`, async () => {
      const made = setUp([fails({ ...refused, statusClass, retryable: true })]);
      await catchFailure(made, made.provider.lookUpKey({ session, payerId: '1', key: 'k' }));
      assert.equal(made.calls.length, 1);
    });
  }

  it('does not try again when the error says that it is of no use', async () => {
    const made = setUp([fails({ retryable: false })]);
    await catchFailure(made, made.provider.balance({ session }));
    assert.equal(made.calls.length, 1);
  });

  it('asks for a new key once only when the first attempt may have made it', async () => {
    const key = {
      keyType: 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO',
      key: null,
      account: order.payer,
    } as const;
    const doubtful = setUp([fails()]);
    await catchFailure(doubtful, doubtful.provider.createKey({ session, ...key }));
    assert.equal(doubtful.calls.length, 1);
    const unsent = setUp([fails(notConnected)]);
    await catchFailure(unsent, unsent.provider.createKey({ session, ...key }));
    assert.equal(unsent.calls.length, 3);
  });

  it('lets the last response stand for what only asks', async () => {
    const made = setUp([fails(), fails({ ...refused, statusClass: '404' })]);
    const look = made.provider.lookUpKey({ session, payerId: '1', key: 'k' });
    assert.equal((await catchFailure(made, look)).statusClass, '404');
  });

  it('waits longer each time, between half and all of the doubled time', async () => {
    const backoff = { baseMs: 200, maxMs: 300 };
    const made = setUp([fails()], { backoff, random: () => 0.5 });
    await catchFailure(made, made.provider.balance({ session }), 1000);
    assert.equal(made.ended[0]?.durationMs, 150 + 225);
  });

  it('waits as long as the provider asks', async () => {
    const made = setUp([fails({ retryAfterMs: 700 }), responds(5)]);
    const call = made.provider.balance({ session }).catch((error: unknown) => error);
    await made.clock.advance(699);
    assert.equal(made.calls.length, 1);
    assert.equal(await readOutcome(made, call, 1), 5);
  });

  it('gives up at once when the provider asks for more than the call may take', async () => {
    const made = setUp([fails({ retryAfterMs: 60_000 })]);
    const error = await catchFailure(made, made.provider.balance({ session }));
    assert.equal(error.retryAfterMs, 60_000);
    assert.equal(made.calls.length, 1);
  });

  it('starts no attempt that could end after the total time', async () => {
    const made = setUp([hangs], { totalMs: 2500, retries: 9 });
    await catchFailure(made, pay(made.provider), 10_000);
    assert.equal(made.calls.length, 2);
    assert.equal(made.ended[0]?.durationMs, 2000);
  });

  it('makes the first attempt even if the total time is shorter than its time-out', async () => {
    const made = setUp([responds(receipt)], { totalMs: 1 });
    assert.deepEqual(await readOutcome(made, pay(made.provider)), receipt);
  });
});

describe('a bank that may execute a repeat as a second payment', () => {
  for (const statusClass of ['5xx', 'connect', 'timeout', 'reset'] as const) {
    it(`gets a payment and a return once, whatever ends the attempt: ${statusClass}`, async () => {
      for (const method of ['pay', 'refund'] as const) {
        const made = setUp([fails({ statusClass })], { paymentRetries: 0 });
        const call = made.provider[method]({
          session,
          order: { ...order, returnId: 'D1' } as never,
        });
        await catchFailure(made, call);
        assert.deepEqual([method, made.calls.length], [method, 1]);
      }
    });
  }

  it('gets the reads as often as others, and more payments where that is set', async () => {
    const reads = setUp([fails({ statusClass: '5xx' })], { paymentRetries: 0 });
    await catchFailure(reads, reads.provider.balance({ session }));
    assert.equal(reads.calls.length, 3);
    const payments = setUp([fails({ statusClass: '5xx' })], { paymentRetries: 3 });
    await catchFailure(payments, payments.provider.pay({ session, order }));
    assert.equal(payments.calls.length, 4);
  });
});
