/**
 * A database that went back in time: sends that were paid are gone from it. Users send again only
 * once their statement was read, and a repeat of a lost send does not pay twice.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { inspectDatabase } from '../../../src/operator/inspect-database.ts';
import { pausePix, resumePix } from '../../../src/operator/pix-pause.ts';
import { listPix } from '../../../src/operator/pix-list.ts';
import {
  resolvePix,
  riskOfCompleting,
  riskOfFailing,
  type PixResolveInput,
} from '../../../src/operator/pix-resolve.ts';
import { showPix } from '../../../src/operator/pix-show.ts';
import { acceptOp, listDifferences } from '../../../src/operator/reconcile.ts';
import { findPause } from '../../../src/ledger/pause-repository.ts';
import { ProviderError } from '../../../src/provider/errors.ts';
import type { StatementLine } from '../../../src/provider/provider.ts';
import { sweepPixTransactions } from '../../../src/settlement/sweep.ts';
import { auditPix } from '../../../src/operator/pix-audit.ts';
import { givenCustomer, logIn, type TestUser } from '../../support/factories.ts';
import { unwatched, refused } from '../operator/asking.ts';
import { startPixApp } from './pix-app.ts';
import { forget, forgetPaying, recordLoss, resume } from './pix-app-loss.ts';

const app = await startPixApp({ environment: { JOBS: 'off' } });
const minuteMs = 60_000;
const payment = { pix_key: 'bruno@example.com', amount: 12.5 };

/** A send that the bank has executed. @returns its key and its response. */
async function givenPaid(user: TestUser, body = payment) {
  const key = randomUUID();
  const { body: sent } = await app.send(user, body, { key });
  const [endToEnd] = await app.executed(user);
  assert.equal(sent.end_to_end, endToEnd);
  return { key, id: String(sent.transaction_id), endToEnd };
}

/** @returns the id of the only transaction of a user. */
async function findOnly(user: TestUser): Promise<string> {
  const rows = await app.rows<{ id: string }>(
    'select id from pix_transactions where user_id = $1',
    [user.id],
  );
  assert.equal(rows.length, 1);
  return String(rows[0]?.id);
}

/** Does something after the bank has executed a payment and before the service has the receipt. */
function beforeReceipt(t: TestContext, work: () => Promise<void>): void {
  const { provider } = app.context;
  const pay = provider.pay.bind(provider);
  t.mock.method(provider, 'pay', async (request: never) => {
    const receipt = await pay(request);
    await work();
    return receipt;
  });
}

/** Changes the lines of the statement. */
function changeLines(t: TestContext, change: (line: StatementLine) => StatementLine): void {
  const { provider } = app.context;
  const statement = provider.statement.bind(provider);
  t.mock.method(provider, 'statement', async (request: never) => {
    const read = await statement(request);
    return { ...read, lines: read.lines.map(change) };
  });
}

const withoutClientId = (line: StatementLine): StatementLine => {
  return { ...line, ids: { ...line.ids, clientRequestId: null } };
};

const sweep = () => sweepPixTransactions(app.context, { requestId: 'test' });

async function listBlocking({ id }: TestUser) {
  const input = { user: String(id), blocking: true, limit: 10 };
  return (await listDifferences.run(app.context, input, unwatched)).differences;
}

/** Accounts for every line that blocks orders of a user. */
async function acceptAll(user: TestUser): Promise<void> {
  const ids = (await listBlocking(user)).map(({ id }) => id);
  const { accepted } = await acceptOp.run(app.context, { ids, reason: 'ticket 7' }, unwatched);
  assert.deepEqual(accepted, ids);
}

async function holdsEveryRule(): Promise<void> {
  const { invariants } = await auditPix.run(app.context, {}, unwatched);
  assert.deepEqual(
    invariants.filter(({ broken }) => broken > 0).map(({ name, rows }) => [name, rows]),
    [],
  );
}

describe('after a loss of commits', () => {
  it('the repeat of a lost send finds it in the statement and does not pay twice', async () => {
    const user = await givenCustomer(app);
    const { key, id, endToEnd } = await givenPaid(user);
    await forget(app, id);
    await recordLoss(app);
    const repeat = await app.send(user, payment, { key });
    assert.equal(repeat.status, 200, JSON.stringify(repeat.body));
    assert.equal(repeat.body.end_to_end, endToEnd, 'the payment that was made');
    assert.equal(repeat.headers.get('idempotency-replayed'), 'true');
    assert.deepEqual(await app.executed(user), [endToEnd], 'paid once');
    const restored = String(repeat.body.transaction_id);
    assert.equal((await app.stored(restored)).status, 'COMPLETED', 'the statement proves it');
    await holdsEveryRule();
  });

  it('the same key with another amount is refused, with the outcome of the lost send', async () => {
    const user = await givenCustomer(app);
    const { key, id } = await givenPaid(user);
    await forget(app, id);
    await recordLoss(app);
    const other = await app.send(user, { ...payment, amount: 99 }, { key });
    assert.equal(other.status, 422);
    assert.ok(other.body.errors['Idempotency-Key']);
    assert.equal((await app.executed(user)).length, 1);
  });

  it('a send whose PAYING was lost is not paid again, and the sweep leaves it open', async () => {
    const user = await givenCustomer(app);
    const { key, id, endToEnd } = await givenPaid(user);
    await forgetPaying(app, id);
    await recordLoss(app);
    await app.clock.advance(10 * minuteMs);
    await sweep();
    assert.equal((await app.stored(id)).phase, 'RESERVED', 'not failed as abandoned');
    const token = await logIn(app, user.email);
    const repeat = await app.send({ ...user, token }, payment, { key });
    assert.equal(repeat.status, 200);
    assert.equal(repeat.body.end_to_end, endToEnd);
    assert.deepEqual(await app.timeline(id), [
      'RESERVED',
      'PAYING found_after_loss',
      'UNKNOWN found_after_loss',
      'SETTLED found_in_statement',
    ]);
    assert.deepEqual(await app.executed(user), [endToEnd]);
  });

  it('a login reads the statement, and the next send does not', async (t) => {
    const user = await givenCustomer(app);
    const { id } = await givenPaid(user);
    await forget(app, id);
    await recordLoss(app);
    const read = t.mock.method(app.context.provider, 'statement');
    const token = await logIn(app, user.email);
    assert.equal(read.mock.callCount(), 1);
    assert.equal(await app.countRows(user), 1, 'the lost send is stored again');
    assert.equal((await app.send({ ...user, token }, payment)).status, 200);
    assert.equal(read.mock.callCount(), 1);
  });

  it('a user whose statement cannot be read sends nothing, and logs in', async (t) => {
    const user = await givenCustomer(app);
    await recordLoss(app);
    const failure = {
      outcome: 'unknown',
      code: 'PROVIDER_UNAVAILABLE',
      statusClass: '5xx',
    } as const;
    const away = t.mock.method(app.context.provider, 'statement', () =>
      Promise.reject(new ProviderError(failure)),
    );
    const token = await logIn(app, user.email);
    const caller = { ...user, token };
    const response = await app.send(caller, payment);
    assert.equal(response.status, 503);
    assert.equal(response.headers.get('pix-outcome'), 'unknown');
    assert.equal(response.headers.get('retry-after'), '30');
    const invalid = await app.send(caller, { ...payment, amount: -1 });
    assert.equal(invalid.headers.get('pix-outcome'), 'unknown', 'a send may be lost');
    assert.equal(await app.countRows(user), 0);
    away.mock.restore();
    assert.equal((await app.send(caller, payment)).status, 200);
  });

  it('a line whose ids have another form stores no send, and blocks its amount', async (t) => {
    const user = await givenCustomer(app);
    const { id } = await givenPaid(user);
    await forget(app, id);
    await recordLoss(app);
    const clientRequestId = 'foreign-1';
    const endToEnd = `${clientRequestId}-${randomUUID()}`;
    changeLines(t, (line) => ({ ...line, ids: { ...line.ids, clientRequestId, endToEnd } }));
    assert.equal((await app.send(user, payment)).status, 422);
    assert.equal(await app.countRows(user), 0);
    await acceptAll(user);
  });

  it('lines of two amounts that share an id block every amount', async (t) => {
    const user = await givenCustomer(app);
    for (const amount of [payment.amount, 13]) {
      const { body } = await app.send(user, { ...payment, amount });
      await forget(app, String(body.transaction_id));
    }
    await recordLoss(app);
    const endToEnd = `foreign-${randomUUID()}`;
    const ids = { endToEnd, clientRequestId: endToEnd };
    changeLines(t, (line) => ({ ...line, ids: { ...line.ids, ...ids } }));
    for (const amount of [payment.amount, 13]) {
      assert.equal((await app.send(user, { ...payment, amount })).status, 422);
    }
    assert.equal((await app.send(user, { ...payment, amount: 14 })).status, 422, 'any amount');
    await acceptAll(user);
    assert.equal((await app.send(user, { ...payment, amount: 14 })).status, 200);
  });

  it('a line without a client id blocks its amount until it is accounted for', async (t) => {
    const user = await givenCustomer(app);
    const { id, endToEnd } = await givenPaid(user);
    await forget(app, id);
    await recordLoss(app);
    changeLines(t, withoutClientId);
    const blocked = await app.send(user, payment);
    assert.equal(blocked.status, 422);
    assert.equal(blocked.headers.get('pix-outcome'), 'unknown');
    assert.ok(blocked.body.errors.amount);
    const invalid = await app.send(user, { ...payment, amount: -1 });
    assert.equal(invalid.headers.get('pix-outcome'), 'unknown', 'the line may be of its key');
    assert.equal((await app.send(user, { ...payment, amount: 13 })).status, 200, 'another amount');
    const other = await givenCustomer(app);
    assert.equal((await app.send(other, payment)).status, 200, 'another user');
    const blocking = await listBlocking(user);
    assert.deepEqual(
      blocking.map((line) => [line.endToEnd, line.userId, line.amount]),
      [[endToEnd, user.id, '12.50']],
    );
    await acceptAll(user);
    assert.deepEqual(await listBlocking(user), []);
    assert.equal((await app.send(user, payment)).status, 200);
  });

  it('a line whose amount cannot be read blocks every amount', async (t) => {
    const user = await givenCustomer(app);
    const { id } = await givenPaid(user);
    await forget(app, id);
    await recordLoss(app);
    changeLines(t, (line) => ({ ...line, amountCents: null }));
    assert.equal((await app.send(user, { ...payment, amount: 3 })).status, 422);
    assert.deepEqual(
      (await listBlocking(user)).map(({ amount, says }) => [amount, says.includes('any amount')]),
      [[null, true]],
    );
    await acceptAll(user);
    assert.equal((await app.send(user, { ...payment, amount: 3 })).status, 200);
  });

  it('a line without a direction may be a payment: it blocks its amount, and completes nothing', async (t) => {
    const user = await givenCustomer(app);
    const [named, unnamed] = [
      await givenPaid(user),
      await givenPaid(user, { ...payment, amount: 9 }),
    ];
    for (const { id } of [named, unnamed]) await forget(app, id);
    await recordLoss(app);
    changeLines(t, (line) => {
      const undirected = { ...line, direction: null };
      return line.amountCents === 900 ? withoutClientId(undirected) : undirected;
    });
    const repeat = await app.send(user, payment, { key: named.key });
    assert.equal(repeat.status, 200);
    const { phase, status } = await app.stored(String(repeat.body.transaction_id));
    assert.deepEqual([phase, status], ['UNKNOWN', 'PROCESSING'], 'a webhook ends it');
    assert.equal((await app.send(user, { ...payment, amount: 9 })).status, 422);
    assert.equal((await app.send(user, { ...payment, amount: 8 })).status, 200, 'another amount');
  });

  it('a failed send whose PAYING was lost is corrected, and breaks no rule of the audit', async () => {
    const user = await givenCustomer(app);
    const { key, id, endToEnd } = await givenPaid(user);
    await forgetPaying(app, id);
    await app.clock.advance(10 * minuteMs);
    await sweep();
    assert.equal((await app.stored(id)).status, 'FAILED', 'no loss is known yet');
    await recordLoss(app, new Date(app.clock.now().getTime() - 20 * minuteMs));
    const token = await logIn(app, user.email);
    assert.deepEqual(await app.timeline(id), [
      'RESERVED',
      'SETTLED abandoned',
      'SETTLED corrected found_after_loss',
    ]);
    const repeat = await app.send({ ...user, token }, payment, { key });
    assert.deepEqual([repeat.body.status, repeat.body.end_to_end], ['COMPLETED', endToEnd]);
    await holdsEveryRule();
  });

  it('a user whose statement was read sends without another reading', async (t) => {
    const user = await givenCustomer(app);
    const read = t.mock.method(app.context.provider, 'statement');
    assert.equal((await app.send(user, payment)).status, 200);
    assert.equal(read.mock.callCount(), 0);
  });
});

describe('a send whose PAYING was lost, of a user who does not come back', () => {
  /** @returns the send in RESERVED, as it stays. */
  async function givenHeld(user: TestUser) {
    const sent = await givenPaid(user);
    await forgetPaying(app, sent.id);
    await recordLoss(app);
    await app.clock.advance(10 * minuteMs);
    await sweep();
    assert.equal((await app.stored(sent.id)).phase, 'RESERVED');
    return sent;
  }

  const resolve = (input: Pick<PixResolveInput, 'id' | 'as' | 'endToEnd' | 'despiteStatement'>) =>
    resolvePix.run(
      app.context,
      {
        ...input,
        reason: 'ticket 7',
        confirm: input.as === 'completed' ? riskOfCompleting : riskOfFailing,
      },
      unwatched,
    );

  it('is seen by the operator, with what to ask the provider', async () => {
    const user = await givenCustomer(app);
    const { key, id } = await givenHeld(user);
    const listed = await listPix.run(
      app.context,
      { stuck: true, userId: user.id, limit: 9 },
      unwatched,
    );
    assert.deepEqual(
      listed.transactions.map((one) => one.id),
      [id],
    );
    const { backlog } = await inspectDatabase.run(app.context, {}, unwatched);
    assert.ok(backlog && backlog.heldSends > 0);
    const { waitsFor, operator } = await showPix.run(app.context, { id }, unwatched);
    assert.match(waitsFor, /next login or send: commits may be lost/);
    assert.ok(operator.includes(`client request id ${key}`), operator);
  });

  it('is failed when the provider has executed nothing, and corrected when that was wrong', async () => {
    const user = await givenCustomer(app);
    const { id, endToEnd } = await givenHeld(user);
    const under = `a payment with its request id under ${endToEnd}`;
    const next = `ponte pix resolve ${id} --as completed --end-to-end ${endToEnd}`;
    await refused(resolve({ id, as: 'failed' }), new RegExp(`${under}: \`${next}\``));
    const failed = { id, as: 'failed', despiteStatement: true } as const;
    const { transaction } = await resolve(failed);
    assert.equal(transaction.status, 'FAILED');
    await holdsEveryRule();
    await logIn(app, user.email);
    assert.equal((await app.stored(id)).status, 'COMPLETED', 'the statement proves the payment');
    await holdsEveryRule();
  });

  it('is completed under the end-to-end id of its payment, once', async () => {
    const user = await givenCustomer(app);
    const { key, id, endToEnd } = await givenHeld(user);
    await refused(resolve({ id, as: 'completed' }), /give the end-to-end id/);
    await refused(resolve({ id, as: 'completed', endToEnd: 'E-other' }), /give the end-to-end id/);
    const { transaction } = await resolve({ id, as: 'completed', endToEnd: String(endToEnd) });
    assert.deepEqual([transaction.status, transaction.endToEnd], ['COMPLETED', endToEnd]);
    const token = await logIn(app, user.email);
    const repeat = await app.send({ ...user, token }, payment, { key });
    assert.equal(repeat.body.status, 'COMPLETED');
    assert.deepEqual(await app.executed(user), [endToEnd]);
    await holdsEveryRule();
  });

  it('is not completed under the end-to-end id of another send, and not in a pause', async () => {
    const user = await givenCustomer(app);
    const { id } = await givenHeld(user);
    const other = await givenPaid(await givenCustomer(app));
    const foreign = { id, as: 'completed', endToEnd: String(other.endToEnd) } as const;
    await refused(resolve(foreign), /another send has this end-to-end id/);
    await pausePix.run(app.context, { reason: 'failover' }, unwatched);
    await refused(resolve({ id, as: 'failed' }), /sends are paused/);
    await resume(app);
    const open = await givenPaid(await givenCustomer(app));
    const needless = { id: open.id, as: 'completed', endToEnd: String(other.endToEnd) } as const;
    await refused(resolve(needless), /only a send that lacks it/);
  });
});

describe('a process that misses a commit it has seen', () => {
  it('pauses all sends when a known key has no send, and does not pay', async () => {
    const user = await givenCustomer(app);
    const { key, id } = await givenPaid(user);
    // After the losses that are recorded.
    await app.clock.advance(60_000);
    assert.equal((await app.send(user, payment, { key })).status, 200);
    await forget(app, id);
    const repeat = await app.send(user, payment, { key });
    assert.equal(repeat.status, 503);
    assert.equal(repeat.headers.get('pix-outcome'), 'unknown');
    assert.equal((await app.executed(user)).length, 1);
    const pause = await findPause(app.context);
    assert.equal(pause?.beganBy, 'ponte');
    assert.ok(pause.lostSince && pause.lostSince < app.clock.now());
    await refused(resumePix.run(app.context, { reason: 'at once' }, unwatched), /resume after/);
    await resume(app);
    const after = await app.send(user, payment, { key });
    assert.equal(after.status, 200);
    assert.equal((await app.executed(user)).length, 1, 'the statement has shown it');
  });

  it('pauses all sends when the transaction that it pays is gone', async (t) => {
    const user = await givenCustomer(app);
    // After the losses that are recorded.
    await app.clock.advance(60_000);
    beforeReceipt(t, async () => forget(app, await findOnly(user)));
    const response = await app.send(user, payment);
    assert.equal(response.status, 200, 'the payment has left');
    assert.equal((await findPause(app.context))?.beganBy, 'ponte');
    await resume(app);
  });

  it('notes that the payment of a failed send has left', async (t) => {
    const user = await givenCustomer(app);
    // After the losses that are recorded.
    await app.clock.advance(60_000);
    beforeReceipt(t, async () => {
      await forgetPaying(app, await findOnly(user));
      await app.clock.advance(10 * minuteMs);
      await sweep();
    });
    await app.send(user, payment);
    assert.deepEqual(await app.timeline(await findOnly(user)), [
      'RESERVED',
      'SETTLED abandoned',
      'ANOMALY left_after_loss',
    ]);
    await resume(app);
  });

  it('pauses nothing again for a loss that is recorded', async () => {
    const user = await givenCustomer(app);
    const { key, id } = await givenPaid(user);
    await forget(app, id);
    await recordLoss(app);
    assert.equal((await app.send(user, payment, { key })).status, 200);
    assert.equal(await findPause(app.context), null);
  });
});
