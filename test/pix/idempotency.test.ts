/** A claim tells what is stored, although it does not read back what it has just stored. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import type { Context } from '../../src/context.ts';
import { pixColumns } from '../../src/db/queries/pix-row.ts';
import { newTransactionIdentification } from '../../src/domain/pix.ts';
import { claimSend, claimTransaction, type Claim } from '../../src/pix/idempotency.ts';
import type { PixTransactionRow } from '../../src/pix/transactions.ts';
import { startSettlingApp } from '../jobs/settling.ts';
import { losingOneAnswer } from '../support/lost-answer.ts';

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

function asked(idempotencyKey: string, amountCents: number) {
  const fingerprint = Buffer.from(`${amountCents}`);
  const terms = { pixKey: 'ana@example.com', description: 'Aluguel' };
  return { id: randomUUID(), idempotencyKey, fingerprint, amountCents, ...terms };
}

type Claiming = (context: Context, key: string, amountCents: number) => Promise<Claim>;

const ways: Readonly<Record<'SEND' | 'CHARGE', Claiming>> = {
  async SEND(service, key, amountCents) {
    const claim = await claimSend(service, token, asked(key, amountCents));
    if (claim.work === 'theirs') return claim;
    const { work, resumed, transaction } = claim;
    return { work, resumed, transaction };
  },
  CHARGE: (service, key, amountCents) =>
    claimTransaction(service, {
      ...asked(key, amountCents),
      ...{ userId: customer.id, operation: 'CHARGE' },
      transactionIdentification: newTransactionIdentification(),
    }),
};

async function storedUnder(key: string): Promise<PixTransactionRow> {
  const stored = await rows<PixTransactionRow>(
    `select ${pixColumns} from pix_transactions where idempotency_key = $1`,
    [key],
  );
  const [row] = stored;
  assert.ok(row && stored.length === 1, `${stored.length} transactions have the key`);
  const phases = await app.timeline(row.id);
  assert.deepEqual(phases, ['RESERVED'], 'noted once');
  return row;
}

for (const [operation, claim] of Object.entries(ways)) {
  describe(operation, () => {
    for (const amountCents of [1, 100, 1_050, 99_999_999_999]) {
      test(`a claim of ${amountCents} centavos tells what is stored`, async () => {
        const key = randomUUID();
        const { transaction, ...claimed } = await claim(context, key, amountCents);
        assert.deepEqual(claimed, { work: 'ours', resumed: false });
        assert.deepEqual(transaction, { ...(await storedUnder(key)) });
      });
    }

    test('a claim whose answer is lost is stored once, and is ours', async () => {
      const key = randomUUID();
      const { work, transaction } = await claim(losingOneAnswer(context), key, 1_050);
      assert.equal(work, 'ours');
      assert.partialDeepStrictEqual(transaction, await storedUnder(key));
    });

    test('of several at once with one key, one is ours and the others tell of it', async () => {
      const key = randomUUID();
      const claims = await Promise.all([1, 2, 3].map(() => claim(context, key, 1_050)));
      assert.deepEqual(claims.map(({ work }) => work).toSorted(), ['ours', 'theirs', 'theirs']);
      const stored = await storedUnder(key);
      for (const { transaction } of claims) assert.partialDeepStrictEqual(transaction, stored);
    });
  });
}
