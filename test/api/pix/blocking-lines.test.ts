/**
 * Lines of statements that may be the payments of lost orders: the fact that blocks the orders of
 * their users, and what clears it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { calendarDay } from '../../../src/domain/calendar.ts';
import { newEndToEndId } from '../../../src/domain/pix.ts';
import { inTransaction } from '../../../src/db/unit-of-work.ts';
import { blockByLine } from '../../../src/ledger/lost-send-repository.ts';
import { inspectDatabase } from '../../../src/operator/inspect-database.ts';
import { acceptDifferences } from '../../../src/operator/reconcile-repository.ts';
import { storeReadDays } from '../../../src/settlement/reconciliation-repository.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { unwatched } from '../operator/asking.ts';
import { startPixApp } from './pix-app.ts';
import { blockByPayment } from './pix-app-loss.ts';

const app = await startPixApp({ environment: { JOBS: 'off' } });

const newEndToEnd = () => newEndToEndId('11165756', app.clock.now());

interface Line {
  readonly id: string;
  readonly amount: string | null;
  readonly blocks: string | null;
  readonly closed: string | null;
}

const readLines = ({ id }: TestUser): Promise<Line[]> =>
  app.rows<Line>(
    `select id::text as id, amount::text as amount, blocks, closed_as as closed
       from reconciliation_differences where user_id = $1 order by id`,
    [id],
  );

async function readFact({ id }: TestUser): Promise<string | null> {
  const [account] = await app.rows<{ fact: string | null }>(
    'select blocked_by::text as fact from accounts where user_id = $1',
    [id],
  );
  return account?.fact ?? null;
}

const accept = (ids: readonly string[]) =>
  inTransaction(app.context, (transaction) => acceptDifferences(transaction, ids));

/** @returns the status of a send of 12.50. */
async function send(user: TestUser): Promise<number> {
  return (await app.send(user, { pix_key: 'bruno@example.com', amount: 12.5 })).status;
}

/** Stores that the present day was reconciled, and that it has no differences. */
function explainAll({ id: userId }: TestUser): Promise<number> {
  const day = calendarDay(app.clock.now());
  const found = { differences: [], lines: 0, settled: 0 };
  return storeReadDays(app.context, { userId, first: day, last: day, ...found });
}

async function givenBlocked() {
  const user = await givenCustomer(app);
  const endToEnd = newEndToEnd();
  await blockByPayment(app.context, { userId: user.id, endToEnd });
  const [line] = await readLines(user);
  assert.ok(line);
  return { user, endToEnd, line };
}

describe('a line that nothing accounts for', () => {
  it('is named by the account, and blocks until the operator accepts it', async () => {
    const { user, line } = await givenBlocked();
    assert.equal(await readFact(user), line.id);
    assert.equal(await send(user), 422);
    assert.deepEqual(await accept([line.id]), [line.id]);
    assert.equal(await readFact(user), null);
    assert.equal(await send(user), 200);
  });

  it('blocks on when the operator accepts another one', async () => {
    const { user, line } = await givenBlocked();
    await blockByPayment(app.context, {
      userId: user.id,
      endToEnd: newEndToEnd(),
      amountCents: 700,
    });
    const [, other] = await readLines(user);
    assert.ok(other);
    await accept([other.id]);
    assert.equal(await readFact(user), line.id, 'a line still blocks');
    assert.equal(await send(user), 422);
    await accept([line.id]);
    assert.equal(await readFact(user), null);
  });

  it('blocks on when a later statement does not show it', async () => {
    const { user, line } = await givenBlocked();
    assert.equal(await explainAll(user), 0);
    assert.equal(await readFact(user), line.id);
    assert.equal(await send(user), 422);
  });

  it('is explained by the order that accounts for it, which ends the block at once', async () => {
    const { user, endToEnd } = await givenBlocked();
    await app.rows(
      `insert into pix_transactions (id, user_id, operation, idempotency_key, fingerprint, status,
              phase, outcome, amount, end_to_end, created_at, updated_at)
       values (gen_random_uuid(), $1, 'SEND', 'found', '\\x00', 'PROCESSING', 'UNKNOWN', 'unknown',
               12.5, $2, $3, $3)`,
      [user.id, endToEnd, app.clock.now()],
    );
    assert.equal(await send(user), 200);
    assert.equal(await explainAll(user), 1);
    assert.equal(await readFact(user), null);
    const [line] = await readLines(user);
    assert.deepEqual([line?.blocks, line?.closed], [null, 'EXPLAINED']);
  });

  it('that was accepted blocks again only with another amount', async () => {
    const { user, endToEnd, line } = await givenBlocked();
    await accept([line.id]);
    await blockByPayment(app.context, { userId: user.id, endToEnd });
    assert.equal(await readFact(user), null, 'the operator has accounted for it');
    await blockByPayment(app.context, { userId: user.id, endToEnd, amountCents: 900 });
    assert.equal(await readFact(user), line.id);
    assert.deepEqual(await readLines(user), [{ ...line, amount: '9.00' }]);
    assert.equal(await send(user), 200, 'another amount');
  });

  it('is found by a run before: it blocks from then on', async () => {
    const user = await givenCustomer(app);
    const endToEnd = newEndToEnd();
    const day = calendarDay(app.clock.now());
    const difference = {
      day,
      kind: 'MISSING_HERE',
      reason: 'payment_out',
      subject: endToEnd,
      transactionId: null,
      endToEnd,
      amountCents: 1_250,
      storedAmount: null,
    } as const;
    const found = { differences: [difference], lines: 1, settled: 0 };
    const run = () =>
      storeReadDays(app.context, { userId: user.id, first: day, last: day, ...found });
    await run();
    assert.equal(await send(user), 200, 'no commit was lost');
    await blockByPayment(app.context, { userId: user.id, endToEnd });
    assert.equal(await send(user), 422);
    await run();
    assert.equal(await send(user), 422);
    assert.equal((await readLines(user)).length, 1, 'one difference');
  });

  it('is logged with the orders that began while the statement was read', async () => {
    const user = await givenCustomer(app);
    const began = app.clock.now();
    const { body } = await app.throughTime(
      app.send(user, { pix_key: 'timeout@ponte.test', amount: 12.5 }),
    );
    const id = String(body.transaction_id);
    assert.equal((await app.stored(id)).phase, 'UNKNOWN');
    const now = app.clock.now();
    const line = { userId: user.id, blocks: 'SEND', day: calendarDay(now) } as const;
    const block = (readingSince: Date) => {
      const ids = { subject: newEndToEnd(), endToEnd: null };
      return blockByLine(app.context, { ...line, ...ids, amountCents: 1, readingSince });
    };
    assert.deepEqual(await block(began), [id]);
    assert.deepEqual(await block(new Date(now.getTime() + 1)), []);
  });

  it('is compared with the fact by `ponte doctor`', async () => {
    const { user, line } = await givenBlocked();
    const count = async () => {
      const { backlog } = await inspectDatabase.run(app.context, {}, unwatched);
      return backlog?.unstoredBlocks;
    };
    assert.equal(await count(), 0);
    await app.ownerRows('update accounts set blocked_by = null where user_id = $1', [user.id]);
    assert.equal(await count(), 1);
    await accept([line.id]);
    assert.equal(await count(), 0);
  });
});

describe('a line of a return', () => {
  it('blocks returns and no sends, whatever the form of its id', async () => {
    const user = await givenCustomer(app);
    const now = app.clock.now();
    const line = { subject: 'RTR-1', endToEnd: null, amountCents: 1_250, readingSince: now };
    const of = { userId: user.id, day: calendarDay(now), blocks: 'REFUND_OUT' } as const;
    assert.ok(await blockByLine(app.context, { ...line, ...of }));
    assert.equal(await send(user), 200);
    assert.ok(await blockByLine(app.context, { ...line, ...of, blocks: 'SEND' }));
    assert.equal(await send(user), 422, 'by now it may be either');
    const [stored] = await readLines(user);
    assert.deepEqual([stored?.blocks, stored?.amount], ['ANY', null]);
  });
});

describe('a fact that is missing', () => {
  it('is stored again by the next reading', async () => {
    const { user, endToEnd, line } = await givenBlocked();
    await app.ownerRows('update accounts set blocked_by = null where user_id = $1', [user.id]);
    await blockByPayment(app.context, { userId: user.id, endToEnd });
    assert.equal(await readFact(user), line.id);
  });
});

describe('two lines at once', () => {
  it('one that is stored while others are accepted or explained blocks on', async () => {
    const { user, endToEnd } = await givenBlocked();
    for (let round = 0; round < 20; round += 1) {
      const open = (await readLines(user)).filter(({ closed }) => closed === null);
      await Promise.all([
        blockByPayment(app.context, { userId: user.id, endToEnd: newEndToEnd() }),
        accept(open.slice(1).map(({ id }) => id)),
        explainAll(user),
        blockByPayment(app.context, { userId: user.id, endToEnd, amountCents: 1_300 + round }),
        accept(open.slice(0, 1).map(({ id }) => id)),
      ]);
      assert.notEqual(await readFact(user), null, `round ${round}`);
      assert.equal(await send(user), 422);
    }
    await accept((await readLines(user)).map(({ id }) => id));
    assert.equal(await readFact(user), null);
  });
});
