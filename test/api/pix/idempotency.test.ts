/** A claim returns what is stored, although it does not read a new transaction back. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import type { Context } from '../../../src/context/context.ts';
import { newTransactionIdentification } from '../../../src/domain/pix.ts';
import {
  claimOrder,
  claimTransaction,
  type Claim,
  type OrderClaim,
} from '../../../src/pix/idempotency.ts';
import {
  processed,
  type PixTransaction,
  type ProcessedRow,
} from '../../../src/ledger/pix-transaction-repository.ts';
import { claimOfSend } from '../../../src/pix/reserve-send.ts';
import { startSettlingApp } from '../jobs/settling.ts';
import { losingOneResponse } from '../../support/lost-response.ts';

const app = await startSettlingApp();
const { context, rows, customer } = app;
const [session] = await rows<{ id: string }>(
  `select id from banking_sessions where user_id = $1 and status = 'ACTIVE'`,
  [customer.id],
);
assert.ok(session);
const token = {
  userId: customer.id,
  sessionId: session.id,
  tokenId: randomUUID(),
  expiresAt: new Date(8.64e15),
};

function reservation(idempotencyKey: string, amountCents: number) {
  const fingerprint = Buffer.from(`${amountCents}`);
  const claims = new Set<number | null>();
  const terms = { pixKey: 'ana@example.com', description: 'Aluguel', claims };
  return { id: randomUUID(), idempotencyKey, fingerprint, amountCents, ...terms };
}

type Claimed = Claim | Extract<OrderClaim, { result: 'replay' }>;
type Claiming = (context: Context, key: string, amountCents: number) => Promise<Claimed>;

const ways: Readonly<Record<'SEND' | 'CHARGE', Claiming>> = {
  async SEND(service, key, amountCents) {
    const order = claimOfSend(service, token, reservation(key, amountCents));
    const claim = await claimOrder(service, token, order);
    if (claim.result === 'replay') return claim;
    assert.ok(claim.result === 'claimed');
    const { result, resumed, transaction } = claim;
    return { result, resumed, transaction };
  },
  CHARGE: (service, key, amountCents) =>
    claimTransaction(service, {
      ...reservation(key, amountCents),
      userId: customer.id,
      operation: 'CHARGE',
      transactionIdentification: newTransactionIdentification(),
    }),
};

async function storedUnder(key: string): Promise<PixTransaction> {
  const stored = await rows<ProcessedRow>(
    `select ${processed.select()} from pix_transactions where idempotency_key = $1`,
    [key],
  );
  const [row] = stored;
  assert.ok(row && stored.length === 1, `${stored.length} transactions have the key`);
  const phases = await app.timeline(row.id);
  assert.deepEqual(phases, ['RESERVED'], 'noted once');
  const { amount: _, ...transaction } = row;
  return transaction;
}

for (const [operation, claim] of Object.entries(ways)) {
  describe(operation, () => {
    for (const amountCents of [1, 100, 1_050, 99_999_999_999]) {
      test(`a claim of ${amountCents} centavos returns what is stored`, async () => {
        const key = randomUUID();
        const { transaction, ...claimed } = await claim(context, key, amountCents);
        assert.deepEqual(claimed, { result: 'claimed', resumed: false });
        assert.deepEqual(transaction, await storedUnder(key));
      });
    }

    test('a claim whose result is lost is stored once, and claims the key', async () => {
      const key = randomUUID();
      const { result, transaction } = await claim(losingOneResponse(context), key, 1_050);
      assert.equal(result, 'claimed');
      assert.partialDeepStrictEqual(transaction, await storedUnder(key));
    });

    test('of several at once with one key, one claims it and the others are replays', async () => {
      const key = randomUUID();
      const claims = await Promise.all([1, 2, 3].map(() => claim(context, key, 1_050)));
      assert.deepEqual(claims.map(({ result }) => result).toSorted(), [
        'claimed',
        'replay',
        'replay',
      ]);
      const stored = await storedUnder(key);
      for (const { transaction } of claims) assert.partialDeepStrictEqual(transaction, stored);
    });
  });
}
