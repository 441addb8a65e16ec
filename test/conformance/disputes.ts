import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ReportedDisputeStatus } from '../../src/domain/dispute.ts';
import { failure, rejected, unavailable } from '../unit/provider/sandbox/bank/open-bank.ts';
import { customer, type Open, ordered } from './target.ts';

const disputeId = '0197020c-7d2f-7c4a-9c1d-2f5f0f6b7a10';

/** A payment that is completed, and its dispute. */
async function disputed(open: Open, name = 'maria') {
  const target = await ordered(open, name);
  const { provider, session, order, clock, bank } = target;
  await provider.pay({ session, order });
  await clock.advance(1_500);
  await bank.idle();
  const { endToEnd } = order;
  const dispute = { disputeId, endToEnd };
  const content = { ...dispute, situation: 'SCAM', details: 'Não existe ☕' } as const;
  return {
    ...target,
    dispute,
    begin: () => provider.openDispute({ session, order: content }),
    withdraw: () => provider.withdrawDispute({ session, dispute }),
    read: () => provider.readDispute({ session, dispute }),
    /** The statuses that were reported, and the amounts that came back, in reais. */
    reports: () =>
      target
        .notices()
        .filter(({ event }) => event === 'PIX_DISPUTE' || event === 'PIX_REFUND_IN')
        .map((notice) => (notice['event'] === 'PIX_DISPUTE' ? notice['status'] : notice['amount'])),
  };
}

/** The dispute of a payment to a key, a second after the bank has decided. */
export async function decides(open: Open, name: string, expected: readonly unknown[]) {
  const { begin, clock, bank, reports } = await disputed(open, name);
  assert.equal(await begin(), 'OPEN');
  await clock.advance(2_500);
  await bank.idle();
  assert.deepEqual(reports(), ['OPEN', ...expected]);
}

/** The request to dispute a payment to a key fails, whatever the bank has done. */
export async function disputeFails(
  open: Open,
  name: string,
  expected: { readonly error: object; readonly status: ReportedDisputeStatus | undefined },
) {
  const { begin, bank, dispute } = await disputed(open, name);
  for (const _ of [1, 2]) assert.deepEqual(await failure(begin()), expected.error);
  assert.equal(bank.state.disputes.get(dispute.endToEnd)?.status, expected.status);
}

export const disputeRefused = { error: rejected('DisputeRefused'), status: undefined } as const;

export const disputeLost = { error: unavailable, status: 'OPEN' } as const;

/** Disputes of payments. */
export function disputesConform(open: Open): void {
  describe('dispute', () => {
    it('is opened once, and a repeat gets it as it is', async () => {
      const { begin, withdraw, read, bank } = await disputed(open, 'dispute-pending');
      assert.equal(await read(), null);
      assert.equal(await begin(), 'OPEN');
      assert.equal(await begin(), 'OPEN');
      assert.equal(await read(), 'OPEN');
      assert.equal(await withdraw(), 'WITHDRAWN');
      assert.equal(await read(), 'WITHDRAWN');
      assert.equal(await withdraw(), 'WITHDRAWN');
      assert.equal(await begin(), 'WITHDRAWN');
      assert.equal(bank.state.disputes.size, 1);
    });

    it('that is accepted brings the money back, in a refund', async () => {
      await decides(open, 'maria', ['ACCEPTED', 10.5]);
    });

    it('of no payment of the customer is refused', async () => {
      const { provider, session } = await customer(open);
      const dispute = { disputeId, endToEnd: 'E11165756202605241200aaaaaaaaaaa' };
      const order = { ...dispute, situation: 'OTHER', details: null } as const;
      const calls = [
        provider.openDispute({ session, order }),
        provider.withdrawDispute({ session, dispute }),
      ];
      for (const { outcome, statusClass } of await Promise.all(calls.map(failure))) {
        assert.deepEqual([outcome, statusClass], ['rejected', '404']);
      }
    });
  });
}
