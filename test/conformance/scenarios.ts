import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scenarios } from '../../src/provider/sandbox/bank/scenarios.ts';
import { applied } from '../unit/provider/applicant.ts';
import {
  chargeOrder,
  failure,
  logIn,
  orderFor,
  assertAllRefused,
  rejected,
  tokenRefused,
  unavailable,
} from '../unit/provider/sandbox/bank/open-bank.ts';
import { decides, disputeFails, disputeLost, disputeRefused } from './disputes.ts';
import {
  customer,
  debited,
  everyCall,
  keyNotFound,
  lookUp,
  type Open,
  opened,
  openingBalanceCents,
  ordered,
  paidInVain,
  returning,
  timedOut,
  today,
} from './target.ts';
import { findSendEvidence } from '../../src/settlement/statement-evidence.ts';
import { readLines } from '../support/read-lines.ts';

/** Every scenario of the bank's table. */
export function scenariosConform(open: Open): void {
  const cases: Readonly<Record<string, () => Promise<void>>> = {
    'notfound@ponte.test': () => lookUpFails('notfound', keyNotFound),
    'ratelimited@ponte.test': () =>
      lookUpFails('ratelimited', {
        outcome: 'rejected',
        code: 'PROVIDER_RATE_LIMITED',
        statusClass: '429',
        retryable: false,
        retryAfterMs: 30_000,
        reason: 'RateLimited',
      }),
    async 'unavailable@ponte.test'() {
      const { provider, session } = await customer(open);
      for (let attempt = 0; attempt < 3; attempt += 1) {
        const call = provider.lookUpKey({ session, ...lookUp('unavailable@ponte.test') });
        assert.deepEqual(await failure(call), unavailable);
      }
    },
    async 'flaky@ponte.test'() {
      const { provider, session } = await customer(open);
      const key = lookUp('flaky@ponte.test');
      assert.deepEqual(await failure(provider.lookUpKey({ session, ...key })), unavailable);
      await provider.lookUpKey({ session, ...key });
    },
    async 'reject@ponte.test'() {
      const target = await ordered(open, 'reject');
      const call = target.provider.pay({ session: target.session, order: target.order });
      assert.deepEqual(await failure(call), rejected('AC03'));
      assert.equal(await debited(target), 0);
    },
    async 'timeout@ponte.test'() {
      const target = await ordered(open, 'timeout');
      assert.deepEqual(await paidInVain(target), timedOut);
      assert.equal(await debited(target), target.order.amountCents);
      await target.clock.advance(1_500);
      assert.equal(target.notices()[0]?.['status'], 'CONFIRMED');
    },
    'lost@ponte.test': () => executedInVain('lost', unavailable),
    'html@ponte.test': () =>
      executedInVain('html', {
        outcome: 'unknown',
        code: 'PROVIDER_INVALID_RESPONSE',
        statusClass: 'invalid',
        retryable: false,
      }),
    async 'fail@ponte.test'() {
      const target = await ordered(open, 'fail');
      await target.provider.pay({ session: target.session, order: target.order });
      await target.clock.advance(1_500);
      assert.deepEqual(target.notices()[0]?.['error'], { code: 'DS04' });
      assert.equal(await debited(target), 0);
      const { items, lines } = await target.provider.statement({
        session: target.session,
        ...today,
      });
      assert.equal(findSendEvidence(readLines(lines), target.order).evidence, 'unclear');
      assert.deepEqual(
        items.map(({ type }) => type),
        ['PIX_PAYMENT_REVERSAL', 'PIX_PAYMENT_OUT'],
      );
    },
    async 'slow@ponte.test'() {
      const { provider, session, order, clock, notices } = await ordered(open, 'slow');
      await provider.pay({ session, order });
      await clock.advance(29_999);
      assert.equal(notices().length, 0);
      await clock.advance(1);
      assert.equal(notices().length, 1);
    },
    async 'silent@ponte.test'() {
      const { provider, session, order, clock, notices } = await ordered(open, 'silent');
      assert.equal((await provider.pay({ session, order })).status, 'PROCESSING');
      await clock.advance(60_000);
      assert.equal(notices().length, 0);
      const { lines } = await provider.statement({ session, ...today });
      assert.equal(findSendEvidence(readLines(lines), order).evidence, 'completed');
    },
    async 'reversed@ponte.test'() {
      const { provider, session, order, clock, notices } = await ordered(open, 'reversed');
      await provider.pay({ session, order });
      await clock.advance(60_000);
      assert.equal(notices().length, 0);
      const { lines } = await provider.statement({ session, ...today });
      assert.deepEqual(directions(lines), ['in', 'out']);
      assert.deepEqual(new Set(lines.map(({ ids }) => ids.returnId)), new Set([null]));
    },
    async 'reversed-later@ponte.test'() {
      const { provider, session, order, clock, notices } = await ordered(open, 'reversed-later');
      await provider.pay({ session, order });
      await clock.advance(60_000);
      assert.equal(notices().length, 1);
      const { lines } = await provider.statement({ session, ...today });
      assert.deepEqual(directions(lines), ['in', 'out']);
    },
    async 'early@ponte.test'() {
      const story: string[] = [];
      const { provider } = await opened(open, async () => void story.push('webhook'));
      const session = await logIn(provider);
      const order = await orderFor(provider, session, { key: 'early@ponte.test' });
      story.push((await provider.pay({ session, order })).status);
      assert.deepEqual(story, ['webhook', 'PROCESSING']);
    },
    async 'twice@ponte.test'() {
      const { provider, session, order, clock, notices } = await ordered(open, 'twice');
      await provider.pay({ session, order });
      await clock.advance(1_500);
      assert.deepEqual(
        notices().map(({ status }) => status),
        ['CONFIRMED', 'CONFIRMED', 'ERROR'],
      );
    },
    async 'analysis@ponte.test'() {
      const { provider, session, order, clock, notices } = await ordered(open, 'analysis');
      const receipt = await provider.pay({ session, order });
      assert.deepEqual([receipt.status, receipt.isUnderAnalysis], ['PROCESSING', true]);
      await clock.advance(30_000);
      assert.equal(notices()[0]?.['status'], 'CONFIRMED');
    },
    async 'refund@ponte.test'() {
      const { provider, session, order, clock, bank, notices } = await ordered(open, 'refund');
      await provider.pay({ session, order });
      await clock.advance(1_500);
      await bank.idle();
      assert.deepEqual(
        notices().map(({ event, endToEnd }) => [event, endToEnd]),
        [
          ['PIX_PAYMENT_OUT', order.endToEnd],
          ['PIX_REFUND_IN', order.endToEnd],
        ],
      );
      const { lines } = await provider.statement({ session, ...today });
      // The payment was made, although its money came back.
      assert.equal(findSendEvidence(readLines(lines), order).evidence, 'completed');
    },
    'dispute-partial@ponte.test': () => decides(open, 'dispute-partial', ['ACCEPTED', 5.25]),
    'dispute-rejected@ponte.test': () => decides(open, 'dispute-rejected', ['REJECTED']),
    'dispute-pending@ponte.test': () => decides(open, 'dispute-pending', []),
    'dispute-refused@ponte.test': () => disputeFails(open, 'dispute-refused', disputeRefused),
    'dispute-lost@ponte.test': () => disputeFails(open, 'dispute-lost', disputeLost),
    async 'passed without a payment'() {
      const { provider, session, bank, clock, notices } = await customer(open);
      const charge = chargeOrder({ expirationSeconds: 60 });
      await provider.createDynamicCharge({ session, order: charge });
      await clock.advance(60_000);
      await bank.idle();
      assert.deepEqual(
        notices().map(({ event }) => event),
        ['CHARGE_EXPIRED'],
      );
      const paid = await bank.payCharge(charge.transactionIdentification);
      assert.equal(paid.outcome, 'refused');
    },
    async 'more than the balance'() {
      const { provider, session } = await customer(open);
      const order = await orderFor(provider, session, { amountCents: openingBalanceCents + 1 });
      assert.deepEqual(await failure(provider.pay({ session, order })), {
        outcome: 'rejected',
        code: 'INSUFFICIENT_FUNDS',
        statusClass: '4xx',
        retryable: false,
        reason: 'NOT_ENOUGH_BALANCE',
      });
    },
    async 'refused@ponte.test'() {
      const { provider } = await opened(open);
      const call = logIn(provider, 'refused@ponte.test');
      assert.deepEqual(await failure(call), rejected('InvalidCredentials'));
    },
    async 'down@ponte.test'() {
      const { provider } = await opened(open);
      assert.deepEqual(await failure(logIn(provider, 'down@ponte.test')), unavailable);
    },
    async 'offline@ponte.test'() {
      const { provider, session } = await customer(open, 'offline@ponte.test');
      for (const failed of await Promise.all(everyCall(provider, session).map(failure))) {
        assert.deepEqual(failed, unavailable);
      }
    },
    async 'expired@ponte.test'() {
      const { provider, session } = await customer(open, 'expired@ponte.test');
      assert.equal((await provider.balance({ session })).cents, openingBalanceCents);
      assert.deepEqual(await failure(provider.balance({ session })), tokenRefused);
    },
    async 'hiccup@ponte.test'() {
      const { provider, session } = await customer(open, 'hiccup@ponte.test');
      assert.deepEqual(await failure(provider.balance({ session })), tokenRefused);
      assert.equal((await provider.balance({ session })).cents, openingBalanceCents);
    },
    async 'unheard@ponte.test'() {
      const { provider, session, bank } = await customer(open, 'unheard@ponte.test');
      const { outcome } = await bank.receive('unheard@ponte.test', 4_250);
      assert.equal(outcome, 'done');
      assert.equal((await provider.balance({ session })).cents, openingBalanceCents + 4_250);
    },
    async 'blocked@ponte.test'() {
      const { provider, session } = await customer(open, 'blocked@ponte.test');
      assert.deepEqual(await provider.balance({ session }), {
        cents: openingBalanceCents,
        blockedCents: 100_000,
      });
      const order = await orderFor(provider, session, {
        amountCents: openingBalanceCents - 99_999,
      });
      assert.equal((await failure(provider.pay({ session, order }))).code, 'INSUFFICIENT_FUNDS');
    },
    async "expired through the bank's control path"() {
      const { provider, session, bank } = await customer(open);
      bank.expireCustomerTokens('dev@ponte.test');
      assertAllRefused(await Promise.all(everyCall(provider, session).map(failure)), 2);
      assert.equal(
        (await provider.balance({ session: await logIn(provider) })).cents,
        openingBalanceCents,
      );
    },
    async '0.91'() {
      const { provider, session, order, returned } = await returning(open, 91);
      assert.deepEqual(await failure(provider.refund({ session, order })), rejected('AG03'));
      assert.equal(await returned(), 0);
    },
    '0.92': () => returnedInVain(92, 1),
    async '0.93'() {
      const target = await returning(open, 93);
      await target.provider.refund(target);
      await target.clock.advance(1_500);
      assert.match(JSON.stringify(target.returnNotices()), /DS04/);
      assert.equal(await target.returned(), 0);
    },
    '0.94': () => returnedInVain(94, 0),
    'ending in 2': () => judges('2', 'REJECTED'),
    'ending in 3': () => judges('3', 'PENDING'),
  };

  async function lookUpFails(name: string, expected: object) {
    const { provider, session } = await customer(open);
    const call = provider.lookUpKey({ session, ...lookUp(`${name}@ponte.test`) });
    assert.deepEqual(await failure(call), expected);
  }

  async function executedInVain(name: string, expected: object) {
    const target = await ordered(open, name);
    const { provider, session, order } = target;
    assert.deepEqual(await failure(provider.pay({ session, order })), expected);
    assert.deepEqual(await failure(provider.pay({ session, order })), expected);
    assert.equal(await debited(target), order.amountCents);
  }

  async function returnedInVain(cents: number, notices: number) {
    const target = await returning(open, cents);
    assert.deepEqual(await failure(target.provider.refund(target)), unavailable);
    assert.deepEqual(await failure(target.provider.refund(target)), unavailable);
    await target.clock.advance(1_500);
    assert.equal(target.returnNotices().length, notices);
    assert.equal(await target.returned(), cents);
  }

  async function judges(lastDigit: string, status: string) {
    const { provider } = await opened(open);
    const id = await applied(provider, { phone: `+551198765432${lastDigit}` });
    const account = { clientToken: null, agency: null, accountNumber: null };
    assert.deepEqual(await provider.kyc({ personId: id }), { status, ...account });
  }

  describe('scenario', () => {
    for (const { value, effect } of scenarios) {
      it(`${value}: ${effect}`, async () => {
        const run = cases[value];
        assert.ok(run, 'the table has a scenario that the suite does not know');
        await run();
      });
    }
  });
}

/** Whether each line is money that came in or that went out, in alphabetical order. */
function directions(lines: readonly { direction: string | null }[]): string[] {
  return lines.map(({ direction }) => String(direction)).toSorted((a, b) => a.localeCompare(b));
}
