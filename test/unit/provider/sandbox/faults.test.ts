import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ProviderError, ProviderErrorOptions } from '../../../../src/provider/errors.ts';
import type { Provider, ProviderSession } from '../../../../src/provider/provider.ts';
import { withResilience } from '../../../../src/provider/resilience/resilient-provider.ts';
import { withTokenRefresh } from '../../../../src/provider/resilience/token-refresh.ts';
import { eventually } from '../../../support/eventually.ts';
import { notUnderstood, reset, timedOut } from '../http/over-http.ts';
import {
  chargeOrder,
  failure,
  logIn,
  orderFor,
  tokenRefused,
  unavailable,
} from './bank/open-bank.ts';
import { type TestSandbox, testSandbox } from './sandbox.ts';

const openingBalanceCents = 1_000_000;

/** A sandbox with a customer and an order, for which nothing has gone wrong yet. */
async function ready(faults?: string) {
  const sandbox = await testSandbox(faults === undefined ? {} : { faults });
  const session = await logIn(sandbox.provider);
  const order = await orderFor(sandbox.provider, session);
  return { ...sandbox, session, order };
}

/** The same provider as the service wraps it, without waits between the attempts. */
function wrapped({ provider, clock }: TestSandbox): Provider {
  const { provider: resilient } = withResilience(provider, {
    clock,
    timeoutMs: 5_000,
    retries: 2,
    backoff: { baseMs: 0, maxMs: 0 },
    breaker: { failures: 1_000_000, openMs: 1 },
  });
  return withTokenRefresh(resilient, { clock });
}

/** Moves the clock on for as long as a call takes. */
async function driven<T>({ clock }: TestSandbox, call: Promise<T>, stepMs = 0): Promise<T> {
  let isOver = false;
  const watched = call.finally(() => (isOver = true));
  watched.catch(() => undefined);
  await eventually(async () => {
    await clock.advance(stepMs);
    return isOver;
  }, 'the call to end');
  return watched;
}

const unknownRefusal = {
  outcome: 'unknown',
  code: 'PROVIDER_REJECTED',
  statusClass: '4xx',
  retryable: false,
} as const;

type Expected = Partial<ProviderErrorOptions>;

describe('a payment with a fault', () => {
  const cases: readonly [string, Expected, 'executed' | 'not executed'][] = [
    // A proxy may have repeated an executed payment.
    ['401', { ...tokenRefused, outcome: 'unknown', reason: 'INVALIDTOKEN' }, 'not executed'],
    ['429=7s', { ...unknownRefusal, statusClass: '429', reason: 'RATELIMITED' }, 'not executed'],
    ['redirect', notUnderstood, 'not executed'],
    ['5xx-before', unavailable, 'not executed'],
    ['5xx-after', unavailable, 'executed'],
    ['5xx-after=504', unavailable, 'executed'],
    ['reset-before', reset, 'not executed'],
    ['reset-after', reset, 'executed'],
    ['reset-amid', reset, 'executed'],
    ['html', notUnderstood, 'executed'],
    ['truncated', notUnderstood, 'executed'],
    ['huge=3MB', notUnderstood, 'executed'],
  ];
  for (const [fault, expected, executed] of cases) {
    it(`${fault}: ${expected.outcome}, ${executed}`, async () => {
      const { provider, session, order, queueFaults, ledger, calls } = await ready();
      queueFaults(`payments:${fault}`);
      assert.deepEqual(await failure(provider.pay({ session, order })), expected);
      assert.equal((await ledger()).payments.length, executed === 'executed' ? 1 : 0);
      assert.match(String(calls.list().at(-1)?.faults), new RegExp(`^${fault.split('=')[0]}`));
      assert.equal((await provider.pay({ session, order })).endToEnd, order.endToEnd);
      assert.equal(
        (await provider.balance({ session })).cents,
        openingBalanceCents - order.amountCents,
      );
    });
  }

  for (const [fault, executions] of [
    ['hang', 1],
    ['hang-before', 0],
    ['drip', 1],
  ] as const) {
    it(`${fault}: unknown when the signal ends it, executed ${executions} times`, async () => {
      const { provider, session, order, queueFaults, ledger, calls } = await ready();
      queueFaults(`payments:${fault}`);
      const controller = new AbortController();
      const { signal } = controller;
      const call = failure(provider.pay({ session, order, signal }));
      await eventually(() => calls.list().at(-1)?.ids['endToEnd'] === order.endToEnd, 'the call');
      await eventually(
        async () => (await ledger()).payments.length === executions,
        'the bank to do its part',
      );
      controller.abort(new Error('time is up'));
      assert.deepEqual(await call, timedOut);
    });
  }

  it('drip: whole in the end for who waits', async () => {
    const sandbox = await ready();
    sandbox.queueFaults('payments:drip=1ms');
    const call = sandbox.provider.pay({ session: sandbox.session, order: sandbox.order });
    const receipt = await driven(sandbox, call, 1);
    assert.equal(receipt.endToEnd, sandbox.order.endToEnd);
  });

  it('foreign-ids: the receipt is handed on, and unknown behind the check of receipts', async () => {
    const sandbox = await ready();
    const { session, order, queueFaults, ledger } = sandbox;
    queueFaults('payments:foreign-ids#2');
    const receipt = await sandbox.provider.pay({ session, order });
    assert.notEqual(receipt.endToEnd, order.endToEnd);
    assert.notEqual(receipt.clientRequestId, order.clientRequestId);
    assert.deepEqual(await failure(wrapped(sandbox).pay({ session, order })), notUnderstood);
    assert.equal((await ledger()).payments.length, 1);
  });

  it('latency: comes later, and is executed although the client has gone', async () => {
    const { provider, session, order, queueFaults, ledger, clock, calls } = await ready();
    queueFaults('payments:latency=2s');
    const controller = new AbortController();
    const { signal } = controller;
    const call = failure(provider.pay({ session, order, signal }));
    await eventually(() => calls.list().at(-1)?.ids['endToEnd'] === order.endToEnd, 'the call');
    controller.abort(new Error('time is up'));
    assert.deepEqual(await call, timedOut);
    await clock.advance(1_999);
    assert.equal((await ledger()).payments.length, 0);
    await clock.advance(1);
    await eventually(async () => (await ledger()).payments.length === 1, 'the late payment');
  });

  it('latency and another one: both', async () => {
    const sandbox = await ready();
    sandbox.queueFaults('payments:latency=2s+5xx-after');
    const call = failure(sandbox.provider.pay({ session: sandbox.session, order: sandbox.order }));
    assert.deepEqual(await driven(sandbox, call, 1_000), unavailable);
  });
});

it('ids of another payment: unknown, because that payment may be this one', async () => {
  const { provider, session, order } = await ready();
  await provider.pay({ session, order });
  const again = await orderFor(provider, session);
  const duplicate = { ...unknownRefusal, reason: 'DUPLICATEDCLIENTREQUESTID' };
  assert.deepEqual(await failure(provider.pay({ session, order: again })), duplicate);
  const other = { ...order, clientRequestId: 'request-2' };
  const used = { ...unknownRefusal, reason: 'DUPLICATEDENDTOENDID' };
  assert.deepEqual(await failure(provider.pay({ session, order: other })), used);
});

it('a token that another login has renewed: the call goes on with the newer one', async () => {
  const sandbox = await ready();
  sandbox.bank.expireCustomerTokens('dev@ponte.test');
  const { token } = await logIn(sandbox.provider);
  const session = { ...sandbox.session, currentToken: async () => token };
  assert.equal((await wrapped(sandbox).balance({ session })).cents, openingBalanceCents);
});

it('a foreign charge is not taken for ours', async () => {
  const { provider, session, queueFaults } = await ready();
  queueFaults('payments/qrcode/dynamic:foreign-ids');
  const call = provider.createDynamicCharge({ session, order: chargeOrder() });
  assert.deepEqual(await failure(call), notUnderstood);
});

describe('a payment behind retries', () => {
  for (const fault of ['5xx-after', '5xx-before', 'reset-after', 'reset-before', 'reset-amid']) {
    it(`${fault} once: accepted, and executed once`, async () => {
      const sandbox = await ready();
      const { session, order, queueFaults, ledger } = sandbox;
      queueFaults(`payments:${fault}`);
      const receipt = await driven(sandbox, wrapped(sandbox).pay({ session, order }));
      assert.equal(receipt.endToEnd, order.endToEnd);
      assert.equal((await ledger()).payments.length, 1);
    });

    it(`${fault} always: unknown, and executed once at most`, async () => {
      const sandbox = await ready();
      const { session, order, queueFaults, ledger, calls } = sandbox;
      queueFaults(`payments:${fault}#3`);
      const failed = await driven(sandbox, failure(wrapped(sandbox).pay({ session, order })));
      assert.equal(failed.outcome, 'unknown');
      assert.equal((await ledger()).payments.length, fault.endsWith('before') ? 0 : 1);
      assert.equal(calls.list().filter(({ path }) => path === 'payments').length, 3);
    });
  }

  for (const [times, end, executed] of [
    [1, 'accepted', 1],
    [2, 'TOKEN_REFUSED', 0],
  ] as const) {
    it(`401, ${times} of 2: ${end}, and executed ${executed} times`, async () => {
      const sandbox = await ready();
      const { session, order, queueFaults, ledger } = sandbox;
      queueFaults(`payments:401#${times}`);
      const call = wrapped(sandbox).pay({ session, order });
      const ended = call.then(
        () => 'accepted',
        (error: unknown) => (error as ProviderError).code,
      );
      assert.equal(await driven(sandbox, ended, 1), end);
      assert.equal((await ledger()).payments.length, executed);
    });
  }

  it('a refused token after an unknown attempt leaves it unknown', async () => {
    const sandbox = await ready();
    const { session, order, queueFaults, ledger } = sandbox;
    queueFaults('payments:reset-after,payments:401#2');
    const failed = await driven(sandbox, failure(wrapped(sandbox).pay({ session, order })), 1);
    assert.equal(failed.outcome, 'unknown');
    assert.equal((await ledger()).payments.length, 1);
  });

  it('a listed code after an unknown attempt leaves it unknown', async () => {
    const sandbox = await ready();
    const { provider, session, queueFaults } = sandbox;
    const order = await orderFor(provider, session, { key: 'reject@ponte.test' });
    assert.equal((await failure(provider.pay({ session, order }))).outcome, 'rejected');
    queueFaults('payments:reset-before');
    const failed = await driven(sandbox, failure(wrapped(sandbox).pay({ session, order })));
    assert.equal(failed.outcome, 'unknown');
  });

  for (const seed of ['1', '2', '3']) {
    it(`classifies each of sixty calls correctly, with seed ${seed}`, async () => {
      const sandbox = await testSandbox({
        seed,
        faults:
          'payments:5xx-after@0.1,payments:5xx-before@0.1,payments:reset-after@0.1,' +
          'payments:reset-before@0.1,payments:reset-amid@0.1,payments:html@0.05,' +
          'payments:truncated@0.05,payments:foreign-ids@0.05,payments:401@0.1,payments:429@0.05',
      });
      const provider = wrapped(sandbox);
      const session: ProviderSession = await logIn(sandbox.provider);
      const ends = new Map<string, string>();
      for (let nth = 0; nth < 60; nth += 1) {
        const clientRequestId = `request-${nth}`;
        // No fault proves that nothing was executed: only the bank's own refusal does.
        const key = nth % 4 === 0 ? 'reject@ponte.test' : 'maria@example.com';
        const order = await orderFor(sandbox.provider, session, { clientRequestId, key });
        const call = provider.pay({ session, order }).then(
          () => 'accepted',
          (error: unknown) => (error as ProviderError).outcome,
        );
        // A refused token is tried again after a back-off.
        ends.set(clientRequestId, await driven(sandbox, call, 1));
      }
      const { payments } = await sandbox.ledger();
      const executed = Map.groupBy(payments, ({ clientRequestId }) => clientRequestId);
      for (const [id, end] of ends) {
        const times = executed.get(id)?.length ?? 0;
        const allowed = { accepted: [1], unknown: [0, 1], rejected: [0], not_sent: [0] }[end];
        assert.ok(allowed?.includes(times), `${id} ended ${end} and was executed ${times} times`);
      }
      // The schedule is rough enough for every end to come about.
      const allEnds = ['accepted', 'rejected', 'unknown'];
      assert.deepEqual([...new Set(ends.values())].toSorted(), allEnds);
    });
  }
});
