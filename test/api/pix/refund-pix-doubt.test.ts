/** Returns in doubt: dead processes, lost rows, unknown outcomes, and refunds of other channels. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import type { PixPhase } from '../../../src/domain/pix.ts';
import { newReturnId } from '../../../src/domain/pix.ts';
import { auditPix } from '../../../src/operator/pix-audit.ts';
import { pausePix } from '../../../src/operator/pix-pause.ts';
import { resolvePix, riskOfCompleting, riskOfFailing } from '../../../src/operator/pix-resolve.ts';
import { showPix } from '../../../src/operator/pix-show.ts';
import { listPix } from '../../../src/operator/pix-list.ts';
import { newReturnIdFor } from '../../../src/ledger/return-ids.ts';
import { sweepPixTransactions } from '../../../src/settlement/sweep.ts';
import { ProviderError } from '../../../src/provider/errors.ts';
import { givenCustomer, logIn, type TestUser } from '../../support/factories.ts';
import { results, startSettlingApp } from '../jobs/settling.ts';
import { unwatched } from '../operator/asking.ts';
import { recordLoss, resume } from './pix-app-loss.ts';
import { withReturns, type ReceivedPix } from './return-app.ts';

const settling = await startSettlingApp();
const app = withReturns(settling, async () => {
  for (const id of await settling.unsettled()) await settling.settle(id);
});
const minuteMs = 60_000;

const sweep = () => sweepPixTransactions(app.context, { requestId: 'test' });

async function settleEvents(): Promise<string[]> {
  const all: string[] = [];
  for (const id of await app.unsettled()) all.push(...results(await app.settle(id)));
  return all;
}

async function holdsEveryRule(): Promise<void> {
  const { invariants } = await auditPix.run(app.context, {}, unwatched);
  const broken = invariants.filter((one) => one.broken > 0);
  assert.deepEqual(
    broken.map(({ name, rows }) => [name, rows]),
    [],
  );
}

/** Changes rows as a restore does: no trigger runs. */
async function restore(...statements: string[]): Promise<void> {
  await app.ownerRows(`do $$ begin
    perform set_config('session_replication_role', 'replica', true);
    ${statements.join(';\n')};
  end $$`);
}

/** A return that the bank has accepted. */
async function givenAccepted(user: TestUser, received: ReceivedPix, amount: number) {
  const key = randomUUID();
  const { status, body } = await app.giveBack(user, received.id, amount, { key });
  assert.equal(status, 200, JSON.stringify(body));
  return { key, id: String(body.transaction_id), returnId: String(body.return_id) };
}

/** A return that the bank has accepted, and that an operator has called failed. */
async function givenFailed(user: TestUser, received: ReceivedPix, amount: number) {
  const made = await givenAccepted(user, received, amount);
  const failed = { id: made.id, as: 'failed', reason: 'x', confirm: riskOfFailing } as const;
  const refused = resolvePix.run(app.context, failed, unwatched);
  await assert.rejects(refused, /the statement shows this payment/);
  await callFailed(made.id);
  return made;
}

/** An operator ends a return as failed. */
async function callFailed(id: string): Promise<void> {
  const failed = { id, as: 'failed', reason: 'said so', confirm: riskOfFailing } as const;
  // The statement may show it.
  await resolvePix.run(app.context, { ...failed, despiteStatement: true }, unwatched);
}

/** A return that a process has left in a phase when it died, long ago. */
async function givenRemains(user: TestUser, received: ReceivedPix, phase: PixPhase) {
  const living = await givenAccepted(user, received, 5);
  const key = randomUUID();
  const id = randomUUID();
  const ispb = app.context.config.provider.ispb;
  const order = { userId: user.id, idempotencyKey: key, transactionId: received.id };
  const returnId = newReturnIdFor(order, ispb, app.clock.now());
  const at = new Date(app.clock.now().getTime() - 5 * minuteMs);
  await app.rows(
    `insert into pix_transactions (id, user_id, operation, idempotency_key, fingerprint, status,
                                   phase, amount, description, end_to_end, original_id,
                                   claimed_until, created_at, updated_at)
     select $1, user_id, operation, $2, fingerprint, 'PROCESSING', $3, amount, description, $4,
            original_id, null, $5, $5 from pix_transactions where id = $6`,
    [id, key, phase, returnId, at, living.id],
  );
  const phases = phase === 'RESERVED' ? ['RESERVED'] : ['RESERVED', 'PAYING'];
  for (const one of phases) {
    await app.rows(
      `insert into pix_timeline (transaction_id, phase, at, attempt) values ($1, $2, $3, 1)`,
      [id, one, at],
    );
  }
  return { key, id, returnId, living };
}

test('a repeat resumes a return that died RESERVED, and returns once', async () => {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user);
  const { key, id, returnId, living } = await givenRemains(user, received, 'RESERVED');
  const again = await app.giveBack(user, received.id, 5, { key });
  assert.deepEqual(
    [again.status, again.body.transaction_id, again.body.return_id],
    [200, id, returnId],
  );
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  assert.deepEqual(app.returned(received.endToEnd), [
    [living.returnId, 5],
    [returnId, 5],
  ]);
  assert.deepEqual(await app.timeline(id), ['RESERVED 1', 'PAYING 1', 'ACCEPTED 1 2xx']);
  await app.giveBack(user, received.id, 5, { key });
  assert.equal(app.returned(received.endToEnd).length, 2);
});

test('a repeat of a return in PAYING does not return, and the sweep calls it UNKNOWN', async () => {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user);
  const { key, id } = await givenRemains(user, received, 'PAYING');
  const again = await app.giveBack(user, received.id, 5, { key });
  assert.deepEqual(
    [again.status, again.body.status, again.headers.get('pix-outcome')],
    [200, 'PROCESSING', 'unknown'],
  );
  assert.equal(app.returned(received.endToEnd).length, 1);
  await sweep();
  assert.equal((await app.stored(id)).phase, 'UNKNOWN');
  assert.deepEqual(await app.sums(received.id), { refunded: null, refunding: '10.00' });
  const { transactions } = await listPix.run(app.context, { stuck: true, limit: 50 }, unwatched);
  assert.ok(transactions.some((one) => one.id === id));
});

test('a return that stays RESERVED fails after two minutes, and its amount is left again', async () => {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user);
  const { key, id } = await givenRemains(user, received, 'RESERVED');
  await sweep();
  const { status, outcome } = await app.stored(id);
  assert.deepEqual([status, outcome], ['FAILED', 'not_sent']);
  assert.deepEqual(await app.sums(received.id), { refunded: null, refunding: '5.00' });
  const again = await app.giveBack(user, received.id, 5, { key });
  assert.deepEqual([again.status, again.body.status], [200, 'FAILED']);
});

test('the statement settles an unknown return whose event never comes', async () => {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user);
  const made = await app.throughTime(app.giveBack(user, received.id, 0.94));
  assert.equal(made.headers.get('pix-outcome'), 'unknown');
  await app.clock.advance(2 * minuteMs);
  await sweep();
  const { id } = await app.stored(made.body.transaction_id);
  assert.equal((await app.stored(id)).status, 'COMPLETED');
  assert.deepEqual(await app.sums(received.id), { refunded: '0.94', refunding: null });
  await holdsEveryRule();
});

test('after fifteen minutes in doubt every answer about a return says that it is checked', async () => {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user);
  const key = randomUUID();
  const madeAt = app.clock.now().getTime();
  await app.throughTime(app.giveBack(user, received.id, 0.92, { key }));
  const details = async () => {
    const path = `/pix/${received.id}/refund/cancel`;
    const answers = [
      await app.giveBack(user, received.id, 0.92, { key }),
      await app.call(path, { method: 'POST', token: user.token, key }),
    ];
    return answers.map(({ body }) => body.detail);
  };
  await app.clock.skip(madeAt + 15 * minuteMs - 1 - app.clock.now().getTime());
  assert.deepEqual(await details(), [undefined, undefined]);
  await app.clock.skip(1);
  assert.deepEqual(await details(), ['BEING_CHECKED', 'BEING_CHECKED']);
});

test('a line with another amount proves nothing: the return stays UNKNOWN, with an anomaly', async (t) => {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user);
  const made = await app.throughTime(app.giveBack(user, received.id, 0.94));
  const { provider } = app.context;
  const statement = provider.statement.bind(provider);
  t.mock.method(provider, 'statement', async (request: never) => {
    const read = await statement(request);
    const withOtherAmount = (line: (typeof read.lines)[number]) => ({ ...line, amountCents: 95 });
    return { ...read, lines: read.lines.map(withOtherAmount) };
  });
  await app.clock.advance(2 * minuteMs);
  await sweep();
  const { transaction_id: id } = made.body;
  assert.equal((await app.stored(id)).phase, 'UNKNOWN');
  assert.ok((await app.timeline(id)).includes('ANOMALY statement_unclear'));
});

test('the key of a return whose row is lost is replayed from its event, and not returned again', async () => {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user);
  const { key, id, returnId } = await givenAccepted(user, received, 8);
  await restore(
    `delete from pix_timeline where transaction_id = '${id}'`,
    `delete from pix_transactions where id = '${id}'`,
    `delete from pix_open where transaction_id = '${id}'`,
    `update pix_transactions set refunding_amount = null where id = '${received.id}'`,
  );
  await app.bank.settle(returnId);
  assert.deepEqual(await settleEvents(), ['applied']);
  await app.clock.advance(3 * minuteMs);
  const again = await app.giveBack(user, received.id, 8, { key });
  assert.deepEqual(
    [again.status, again.body.status, again.body.return_id],
    [200, 'COMPLETED', returnId],
  );
  assert.equal(again.headers.get('pix-outcome'), 'accepted');
  const other = await app.giveBack(user, received.id, 7, { key });
  assert.equal(other.status, 422);
  assert.ok(other.body.errors['Idempotency-Key']);
  assert.deepEqual(app.returned(received.endToEnd), [[returnId, 8]]);
  assert.deepEqual(await app.sums(received.id), { refunded: '8.00', refunding: null });
  await holdsEveryRule();
});

/** Removes an accepted return, as a restore does that goes back to the time before it. */
async function forgetReturn(id: string, received: ReceivedPix): Promise<void> {
  await restore(
    `delete from pix_timeline where transaction_id = '${id}'`,
    `delete from pix_transactions where id = '${id}'`,
    `delete from pix_open where transaction_id = '${id}'`,
    `update pix_transactions set refunding_amount = null where id = '${received.id}'`,
  );
}

test('after a loss, a return that only the statement shows holds returns of its amount', async () => {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user);
  const { key, id, returnId } = await givenAccepted(user, received, 8);
  await forgetReturn(id, received);
  await recordLoss(app);
  const held = await app.giveBack(user, received.id, 8, { key });
  assert.equal(held.status, 422, JSON.stringify(held.body));
  assert.deepEqual(
    [Object.keys(held.body.errors), held.headers.get('pix-outcome')],
    [['amount'], 'unknown'],
  );
  // Another amount, and a send of the same, are not held.
  assert.equal((await app.giveBack(user, received.id, 1)).status, 200);
  assert.equal((await app.send(user, { pix_key: 'ana@example.com', amount: 8 })).status, 200);
  await app.bank.settle(returnId);
  await settleEvents();
  const again = await app.giveBack(user, received.id, 8, { key });
  assert.deepEqual([again.status, again.body.status], [200, 'COMPLETED']);
  assert.equal(app.returned(received.endToEnd).length, 2);
});

test('after a loss, a refund that was only reported may be the return of any key', async () => {
  const [user, other] = [await givenCustomer(app), await givenCustomer(app)];
  const received = await app.givenReceived(user);
  const { key, id, returnId } = await givenAccepted(user, received, 8);
  await forgetReturn(id, received);
  await recordLoss(app);
  await app.bank.settle(returnId);
  await settleEvents();
  /** A return of a transaction that is not stored: its row may be lost, too. */
  const outcome = async ({ email }: TestUser): Promise<unknown> => {
    const token = await logIn(app, email);
    const refused = await app.giveBack({ ...user, token }, randomUUID(), 8, { key });
    return [refused.status, refused.headers.get('pix-outcome')];
  };
  assert.deepEqual(await outcome(user), [404, 'unknown']);
  assert.deepEqual(await outcome(other), [404, 'not_sent'], 'nothing was reported for this user');
});

test('after a loss of PAYING, the statement shows the return, and it is not made again', async () => {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user);
  const { key, id, returnId } = await givenAccepted(user, received, 8);
  await restore(
    `delete from pix_timeline where transaction_id = '${id}' and phase <> 'RESERVED'`,
    `update pix_transactions set phase = 'RESERVED', outcome = null, provider_txid = null,
            claimed_until = null where id = '${id}'`,
  );
  await recordLoss(app);
  const again = await app.giveBack(user, received.id, 8, { key });
  assert.deepEqual([again.status, again.body.status], [200, 'COMPLETED']);
  assert.deepEqual(app.returned(received.endToEnd), [[returnId, 8]]);
  await holdsEveryRule();
});

test('an event ends a return whose PAYING is lost', async () => {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user);
  const { id, returnId } = await givenAccepted(user, received, 8);
  await restore(
    `delete from pix_timeline where transaction_id = '${id}' and phase <> 'RESERVED'`,
    `update pix_transactions set phase = 'RESERVED', outcome = null, provider_txid = null,
            claimed_until = null where id = '${id}'`,
  );
  await app.bank.settle(returnId);
  assert.deepEqual(await settleEvents(), ['applied']);
  assert.equal((await app.stored(id)).status, 'COMPLETED');
  await holdsEveryRule();
});

test('a pause holds returns as it holds sends', async () => {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user);
  await pausePix.run(app.context, { reason: 'a test' }, unwatched);
  const held = await app.giveBack(user, received.id, 5);
  await resume(app);
  assert.deepEqual([held.status, held.headers.get('pix-outcome')], [503, 'unknown']);
  assert.deepEqual(app.returned(received.endToEnd), []);
});

/** A refund that another channel has made, as the flat format has it. */
function refundOut(endToEnd: string, amount: number) {
  const returnId = newReturnId('11165756', app.clock.now());
  const of = { endToEnd, returnId, amount, status: 'CONFIRMED', id: `provider-${returnId}` };
  return { event: 'PIX_REFUND_OUT', ...of };
}

test("another channel's refund that fits only without an open return waits for its end", async () => {
  // A failure ends nothing soon after the losses above.
  await app.clock.advance(11 * minuteMs);
  const ends = [
    ['FAILED', 'applied', '15.00'],
    ['COMPLETED', 'anomaly: refunds_exceed_amount', '20.00'],
  ] as const;
  for (const [end, result, refunded] of ends) {
    const user = await givenCustomer(app);
    const received = await app.givenReceived(user);
    const open = await givenAccepted(user, received, 15);
    const refund = await app.receive(refundOut(received.endToEnd, 10));
    assert.deepEqual(results(refund), ['parked: return_in_progress']);
    assert.deepEqual(results(await app.receive(refundOut(received.endToEnd, 5))), ['applied']);
    assert.deepEqual(await app.sums(received.id), { refunded: '5.00', refunding: '15.00' });
    await app.postpone(refund.eventId);
    await app.clock.advance(1);
    await app.bank.settle(open.returnId, end);
    await settleEvents();
    assert.equal((await app.stored(open.id)).status, end);
    assert.deepEqual(await app.readWoken(refund.eventId), app.clock.now());
    assert.deepEqual(results(await app.settle(refund.eventId)), [result]);
    assert.deepEqual(await app.sums(received.id), { refunded, refunding: null });
    await holdsEveryRule();
  }
});

test('a FAILED return that was made is corrected, with the sums', async () => {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user);
  const { id, returnId } = await givenFailed(user, received, 15);
  assert.deepEqual(await app.sums(received.id), { refunded: null, refunding: null });
  await app.bank.settle(returnId);
  assert.deepEqual(await settleEvents(), ['anomaly: corrected']);
  assert.equal((await app.stored(id)).status, 'COMPLETED');
  assert.deepEqual(await app.sums(received.id), { refunded: '15.00', refunding: null });
  await holdsEveryRule();
});

test('a correction that the Pix does not allow any more is an anomaly', async () => {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user);
  const { id, returnId } = await givenFailed(user, received, 15);
  assert.deepEqual(results(await app.receive(refundOut(received.endToEnd, 10))), ['applied']);
  await app.bank.settle(returnId);
  assert.deepEqual(await settleEvents(), ['anomaly: breaks_a_constraint']);
  assert.equal((await app.stored(id)).status, 'FAILED');
  assert.deepEqual(await app.sums(received.id), { refunded: '10.00', refunding: null });
  const completed = { id, as: 'completed', confirm: riskOfCompleting } as const;
  const corrects = { ...completed, reason: 'it was', corrects: true };
  await assert.rejects(resolvePix.run(app.context, corrects, unwatched), /no longer left/);
});

test('a correction that fits only without an open return waits for its end', async () => {
  await app.clock.advance(11 * minuteMs);
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user);
  const { id, returnId } = await givenFailed(user, received, 15);
  const open = await givenAccepted(user, received, 10);
  await app.bank.settle(returnId);
  const [eventId = ''] = await app.unsettled();
  assert.deepEqual(results(await app.settle(eventId)), ['parked: return_in_progress']);
  await sweep();
  assert.equal((await app.stored(id)).status, 'FAILED');
  const timeline = await app.timeline(id);
  assert.deepEqual(
    timeline.filter((entry) => entry.startsWith('ANOMALY')),
    [],
  );
  await app.postpone(eventId);
  await app.clock.advance(1);
  await callFailed(open.id);
  assert.deepEqual(await app.readWoken(eventId), app.clock.now());
  assert.deepEqual(results(await app.settle(eventId)), ['anomaly: corrected']);
  assert.equal((await app.stored(id)).status, 'COMPLETED');
  assert.deepEqual(await app.sums(received.id), { refunded: '15.00', refunding: null });
  await holdsEveryRule();
});

test('an operator sees and resolves an unknown return', async () => {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user);
  const { id, returnId } = await givenRemains(user, received, 'PAYING');
  await sweep();
  const shown = await showPix.run(app.context, { id: returnId }, unwatched);
  assert.equal(shown.transaction.id, id);
  assert.match(shown.operator, /pix resolve/);
  const completed = { id, as: 'completed', confirm: riskOfCompleting } as const;
  const paid = { ...completed, reason: 'the bank says so' };
  await resolvePix.run(app.context, paid, unwatched);
  assert.deepEqual(await app.sums(received.id), { refunded: '5.00', refunding: '5.00' });
  const original = await showPix.run(app.context, { id: received.id }, unwatched);
  assert.equal(original.refunds.length, 2);
  await holdsEveryRule();
});

/** Takes an accepted return away, as a loss of commits that no process notices. */
async function loseUnnoticed(t: TestContext, id: string, received: ReceivedPix): Promise<void> {
  await restore(
    `delete from pix_timeline where transaction_id = '${id}'`,
    `delete from pix_transactions where id = '${id}'`,
    `delete from pix_open where transaction_id = '${id}'`,
    `update pix_transactions set refunding_amount = null where id = '${received.id}'`,
  );
  t.mock.method(app.context.claimedKeys, 'seenAt', () => undefined);
}

test('the event of a lost return corrects its repeat, which was refused a minute later', async (t) => {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user);
  const { key, id, returnId } = await givenAccepted(user, received, 8);
  await loseUnnoticed(t, id, received);
  await app.clock.advance(11 * minuteMs);
  const refusal = { code: 'PROVIDER_REJECTED', outcome: 'rejected', reason: 'AM04' } as const;
  const refused = t.mock.method(app.context.provider, 'refund', () => {
    throw new ProviderError({ ...refusal, statusClass: '4xx', retryable: false } as never);
  });
  assert.equal((await app.giveBack(user, received.id, 8, { key })).status, 502);
  refused.mock.restore();
  await app.bank.settle(returnId);
  assert.deepEqual(await settleEvents(), ['anomaly: corrected']);
  assert.deepEqual(await app.sums(received.id), { refunded: '8.00', refunding: null });
  const repeat = await app.giveBack(user, received.id, 8, { key });
  assert.equal(repeat.body.status, 'COMPLETED');
});

test('an event that names the charge ends its return, whatever minute its id has', async () => {
  const user = await givenCustomer(app);
  const charged = await app.charge(user, { type: 'dynamic', amount: 10 });
  const { transaction_id: chargeId } = charged.body;
  const { transaction_identification: txid } = await app.stored(chargeId);
  await app.bank.payCharge(txid ?? '');
  await settleEvents();
  const { body: made } = await app.giveBack(user, chargeId, 5);
  const endToEndId = String(made.return_id).replace(/^(D.{8}).{12}/, '$1202605240001');
  const event = {
    event: 'OPENPIX:TRANSACTION_REFUND_RECEIVED',
    charge: { value: 1_000, status: 'COMPLETED', correlationID: txid },
    pix: { value: 500, endToEndId },
  };
  assert.deepEqual(results(await app.receive(event)), ['applied']);
  assert.equal((await app.stored(made.transaction_id)).status, 'COMPLETED');
  assert.deepEqual(await app.sums(chargeId), { refunded: '5.00', refunding: null });
});

test('the refund of another payment with the same key is no return of this one', async () => {
  const user = await givenCustomer(app);
  const [one, other] = [await app.givenReceived(user), await app.givenReceived(user)];
  const key = randomUUID();
  const order = { userId: user.id, idempotencyKey: key, transactionId: one.id };
  const returnId = newReturnIdFor(order, app.context.config.provider.ispb, app.clock.now());
  const event = { event: 'PIX_REFUND_OUT', endToEnd: one.endToEnd, returnId, amount: 1 };
  const reported = await app.receive({ ...event, status: 'CONFIRMED', id: 'p-1' });
  assert.deepEqual(results(reported), ['applied']);
  const made = await app.giveBack(user, other.id, 1, { key });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  assert.equal(app.returned(other.endToEnd).length, 1);
});
