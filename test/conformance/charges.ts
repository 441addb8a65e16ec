import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chargeOrder, failure, rejected } from '../unit/provider/sandbox/bank/open-bank.ts';
import { customer, type Open } from './target.ts';

/** Charges, dynamic and static. */
export function chargesConform(open: Open): void {
  describe('charge', () => {
    it('dynamic: gives a picture, the text and the bank id, the same for a repeat', async () => {
      const { provider, session } = await customer(open);
      const order = chargeOrder({
        payerName: 'José',
        payerDocument: '11144477735',
        additionalData: [{ name: 'Pedido', value: '42' }],
        categoryCode: '0000',
      });
      const code = await provider.createDynamicCharge({ session, order });
      assert.equal(Buffer.from(code.qrCode ?? '', 'base64').toString('latin1', 1, 4), 'PNG');
      assert.match(code.copyPaste ?? '', /^000201/);
      assert.match(code.providerTxid ?? '', /^[0-9a-f-]{36}$/);
      assert.deepEqual(await provider.createDynamicCharge({ session, order }), code);
    });

    it('static: gives a picture and the text', async () => {
      const { provider, session } = await customer(open);
      const code = await provider.createStaticCharge({
        session,
        order: chargeOrder({ zipcode: null }),
      });
      assert.equal(Buffer.from(code.qrCode ?? '', 'base64').toString('latin1', 1, 4), 'PNG');
      assert.match(code.copyPaste ?? '', /^000201.*dev@ponte\.test/);
    });

    it('static: is refused when a BR Code cannot carry it', async () => {
      const { provider, session } = await customer(open);
      const order = chargeOrder({ key: `${'a'.repeat(78)}@ponte.test` });
      const call = provider.createStaticCharge({ session, order });
      assert.deepEqual(await failure(call), rejected('InvalidQrCode'));
    });

    it("takes a company's document for the payer", async () => {
      const { provider, session } = await customer(open);
      await provider.createDynamicCharge({
        session,
        order: chargeOrder({ payerDocument: '12ABC34501DE35' }),
      });
    });

    it('static: is for any payer, and the document of one is not examined', async () => {
      const { provider, session } = await customer(open);
      const order = chargeOrder({ payerDocument: '1', expirationSeconds: 0 });
      await provider.createStaticCharge({ session, order });
    });

    const wrong = [
      ['another amount for the same id', { amountCents: 1 }, 'DuplicatedTransactionIdentification'],
      [
        'an id of other signs',
        { transactionIdentification: 'a-b' },
        'InvalidTransactionIdentification',
      ],
      ['no amount', { transactionIdentification: 'x1', amountCents: 0 }, 'InvalidAmount'],
      [
        'no document for a payer',
        { transactionIdentification: 'x2', payerDocument: '123' },
        'InvalidPayerDocument',
      ],
      [
        'a document of zeros for a payer',
        { transactionIdentification: 'x4', payerDocument: '00000000000' },
        'InvalidPayerDocument',
      ],
      [
        'a document with wrong check digits for a payer',
        { transactionIdentification: 'x5', payerDocument: '11144477736' },
        'InvalidPayerDocument',
      ],
      ['no time', { transactionIdentification: 'x3', expirationSeconds: 0 }, 'InvalidExpiration'],
    ] as const;
    for (const [title, change, reason] of wrong) {
      it(`is refused with ${title}`, async () => {
        const { provider, session } = await customer(open);
        await provider.createDynamicCharge({ session, order: chargeOrder() });
        const call = provider.createDynamicCharge({ session, order: chargeOrder(change) });
        assert.deepEqual(await failure(call), rejected(reason));
      });
    }
  });
}
