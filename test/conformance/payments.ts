import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PaymentOrder } from '../../src/provider/provider.ts';
import { doubted, failure, orderFor, rejected } from '../unit/provider/sandbox/bank/open-bank.ts';
import { customer, debited, lookUp, type Open, ordered, returning, today } from './target.ts';

/** Look-ups and payments. */
export function paymentsConform(open: Open): void {
  describe('look-up', () => {
    it('gives a new end-to-end id each time', async () => {
      const { provider, session } = await customer(open);
      const first = await provider.lookUpKey({ session, ...lookUp('maria@example.com') });
      const second = await provider.lookUpKey({ session, ...lookUp('maria@example.com') });
      const { endToEnd: id, ...owner } = first;
      assert.deepEqual(owner, {
        name: 'Recebedor de Teste',
        document: '12345678909',
        ispb: '11165756',
      });
      assert.match(id, /^E11165756202605241200\w{11}$/);
      assert.notEqual(first.endToEnd, second.endToEnd);
    });
  });

  describe('payment', () => {
    it('is accepted with its ids and reported once', async () => {
      const target = await ordered(open, 'maria');
      const receipt = await target.provider.pay({ session: target.session, order: target.order });
      const { endToEnd, clientRequestId } = target.order;
      const { providerTxid, ...rest } = receipt;
      assert.deepEqual(rest, { endToEnd, clientRequestId, status: 'PROCESSING' });
      assert.match(providerTxid ?? '', /^[0-9a-f-]{36}$/);
      await target.clock.advance(1_500);
      assert.deepEqual(
        target.notices().map(({ id, status }) => ({ id, status })),
        [{ id: providerTxid, status: 'CONFIRMED' }],
      );
    });

    it('is executed once, however often it is requested', async () => {
      const target = await ordered(open, 'maria');
      const { provider, session, order } = target;
      const receipts = await Promise.all(
        Array.from({ length: 10 }, () => provider.pay({ session, order })),
      );
      assert.equal(new Set(receipts.map(({ providerTxid }) => providerTxid)).size, 1);
      assert.deepEqual(await provider.pay({ session, order }), receipts[0]);
      assert.equal(await debited(target), 1_050);
    });

    it('carries amounts to the centavo and a description in any script', async () => {
      const { provider, session } = await customer(open);
      for (const [nth, amountCents] of [1, 10, 99, 435, 100_001].entries()) {
        const clientRequestId = `request-${nth}`;
        const order = await orderFor(provider, session, { amountCents, clientRequestId });
        await provider.pay({ session, order: { ...order, description: 'Café ☕ "à vista"\n' } });
      }
      const { items } = await provider.statement({ session, ...today });
      assert.deepEqual(
        items.map(({ amount }) => amount),
        [1000.01, 4.35, 0.99, 0.1, 0.01],
      );
      assert.equal(items[0]?.['description'], 'Café ☕ "à vista"\n');
    });

    it('goes without a description', async () => {
      const target = await ordered(open, 'maria');
      await target.provider.pay({
        session: target.session,
        order: { ...target.order, description: null },
      });
      const { items } = await target.provider.statement({ session: target.session, ...today });
      assert.equal('description' in (items[0] ?? {}), false);
    });

    const wrong: readonly [string, Partial<PaymentOrder>, object][] = [
      ['an id that was not issued', { endToEnd: 'E1' }, doubted('ENDTOENDIDNOTISSUED')],
      [
        'a key that was not looked up',
        { key: 'other@example.com' },
        doubted('ENDTOENDIDNOTISSUED'),
      ],
      ['no amount', { amountCents: 0 }, rejected('AM12')],
      ['too large an amount', { amountCents: 100_000_000_000 }, rejected('AM12')],
    ];
    for (const [title, change, expected] of wrong) {
      it(`is refused with ${title}, by a listed code only`, async () => {
        const { provider, session, order } = await ordered(open, 'maria');
        assert.deepEqual(
          await failure(provider.pay({ session, order: { ...order, ...change } })),
          expected,
        );
      });
    }
  });

  describe('return', () => {
    it('is accepted with its ids and reported once', async () => {
      const target = await returning(open, 500);
      const { returnId, clientRequestId } = target.order;
      const { providerTxid, ...receipt } = await target.provider.refund(target);
      assert.deepEqual(receipt, { endToEnd: returnId, clientRequestId, status: 'PROCESSING' });
      assert.ok(providerTxid);
      await target.clock.advance(1_500);
      assert.equal(target.returnNotices().length, 1);
      assert.equal(await target.returned(), 500);
    });

    it('is made once, however often it is requested', async () => {
      const target = await returning(open, 500);
      const calls = Array.from({ length: 10 }, () => target.provider.refund(target));
      const receipts = await Promise.all(calls);
      assert.equal(new Set(receipts.map(({ providerTxid }) => providerTxid)).size, 1);
      assert.equal(await target.returned(), 500);
    });

    it('of more than is left proves nothing', async () => {
      const target = await returning(open, 2_001);
      assert.deepEqual(await failure(target.provider.refund(target)), doubted('AM09'));
      assert.equal(await target.returned(), 0);
    });
  });
}
