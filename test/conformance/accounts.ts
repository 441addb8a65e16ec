import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  chargeOrder,
  failure,
  rejected,
  sessionWith,
  assertAllRefused,
} from '../unit/provider/sandbox/bank/open-bank.ts';
import {
  customer,
  debited,
  everyCall,
  type Open,
  opened,
  openingBalanceCents,
  ordered,
  timedOut,
  today,
} from './target.ts';
import { findSendEvidence } from '../../src/settlement/statement-evidence.ts';
import { readLines } from '../support/read-lines.ts';

const dayRange = (start: string, end: string) => ({ start, end });

/** Logins, balances, statements, tokens and signals. */
export function accountsConform(open: Open): void {
  describe('login', () => {
    it('gives a token that works and the complete account', async () => {
      const { provider } = await opened(open);
      const { token, expiresAt, account } = await provider.login({
        email: 'Dev@Ponte.test',
        password: 'any password',
      });
      assert.equal(expiresAt, null);
      assert.equal(account.document, '11144477735');
      assert.equal(account.agency, '0001');
      assert.match(account.accountNumber ?? '', /^\d{9}$/);
      assert.match(account.companyId ?? '', /^\d+$/);
      assert.match(account.clientToken ?? '', /^[0-9a-f-]{36}$/);
      assert.equal(
        (await provider.balance({ session: sessionWith(token) })).cents,
        openingBalanceCents,
      );
    });
  });

  describe('balance and statement', () => {
    it('shows what a payment and a paid charge have moved', async () => {
      const target = await ordered(open, 'maria');
      const { provider, session, bank, order, clock } = target;
      const receipt = await provider.pay({ session, order });
      await provider.createDynamicCharge({ session, order: chargeOrder() });
      await clock.advance(1_500);
      await bank.payCharge(chargeOrder().transactionIdentification);
      assert.equal(
        (await provider.balance({ session })).cents,
        openingBalanceCents - 1_050 + 2_599,
      );
      const { items, lines, isWhole } = await provider.statement({ session, ...today });
      assert.equal(findSendEvidence(readLines(lines), order).evidence, 'completed');
      assert.ok(isWhole);
      assert.equal(items.length, 2);
      assert.deepEqual(items[1], {
        id: receipt.providerTxid,
        type: 'PIX_PAYMENT_OUT',
        direction: 'DEBIT',
        endToEnd: order.endToEnd,
        clientRequestId: 'request-1',
        description: 'Almoço',
        amount: 10.5,
        status: 'CONFIRMED',
        createdAt: '2026-05-24T12:00:00.000Z',
      });
      assert.equal(items[0]?.['type'], 'PIX_RECEIVED');
    });

    it('gives an empty statement for days without movements', async () => {
      const { provider, session } = await customer(open);
      const statement = await provider.statement({
        session,
        ...dayRange('2026-01-01', '2026-01-31'),
      });
      assert.deepEqual(statement, { items: [], lines: [], isWhole: true, isFinal: false });
    });

    it('refuses days in the wrong order', async () => {
      const { provider, session } = await customer(open);
      const call = provider.statement({ session, ...dayRange('2026-05-24', '2026-05-23') });
      assert.deepEqual(await failure(call), rejected('InvalidRange'));
    });
  });

  describe('token', () => {
    it('of no customer is refused by every method', async () => {
      const { provider } = await opened(open);
      for (const token of ['', 'x', 'stub.Zm9v.0.']) {
        const failures = everyCall(provider, sessionWith(token)).map(failure);
        assertAllRefused(await Promise.all(failures), 2);
      }
    });
  });

  describe('signal', () => {
    it('that has aborted already: nothing is sent', async () => {
      const target = await ordered(open, 'maria');
      const signal = AbortSignal.abort(new Error('gone'));
      const call = target.provider.pay({ session: target.session, order: target.order, signal });
      assert.deepEqual(await failure(call), { ...timedOut, outcome: 'not_sent' });
      assert.equal(await debited(target), 0);
    });

    it('that never aborts changes nothing', async () => {
      const { provider, session } = await customer(open);
      const { signal } = new AbortController();
      assert.equal((await provider.balance({ session, signal })).cents, openingBalanceCents);
    });
  });
}
