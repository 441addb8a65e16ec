/** Events that come while a payment may still be sent: a failure waits for the end of the call. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { repeatNotes } from '../../../src/domain/pix.ts';
import { sweepPix } from '../../../src/settlement/sweep-pix.ts';
import { storeSendAgain } from '../../../src/ledger/lost-send-repository.ts';
import { moveTransaction, type Move } from '../../../src/ledger/move-repository.ts';
import { beginPause } from '../../../src/ledger/pause-repository.ts';
import {
  acceptPayment,
  beginPaying,
  recordRetry,
  type PayingSend,
} from '../../../src/ledger/payment-repository.ts';
import {
  claimUntil,
  processed,
  type ProcessedRow,
} from '../../../src/ledger/pix-transaction-repository.ts';
import { releaseAfterCrash } from '../../../src/ledger/sweep-repository.ts';
import { confirmed, results, startSettlingApp } from './settling.ts';
import { amountCents, reserveSend } from './transactions.ts';

const app = await startSettlingApp();
const { clock, context, rows, settle, stored, receive } = app;

const minuteMs = 60_000;

/** A send that this process pays, and its Idempotency-Key. */
async function givenPaying(): Promise<PayingSend & { readonly key: string }> {
  const key = randomUUID();
  const { id } = await reserveSend(app, key);
  const [reserved] = await rows<ProcessedRow>(
    `select ${processed.select()} from pix_transactions where id = $1`,
    [id],
  );
  const paying =
    reserved &&
    (await beginPaying(context, reserved, {
      endToEnd: `E${randomUUID().slice(1)}`,
      at: clock.now(),
    }));
  assert.ok(paying);
  return { ...paying, key };
}

const failed = (ids: Record<string, unknown>) =>
  confirmed({ status: 'ERROR', error: { code: 'AB03' }, ...ids });

const unknown: Move = {
  from: ['PAYING'],
  to: 'UNKNOWN',
  status: 'PROCESSING',
  outcome: 'unknown',
  timeline: [{ phase: 'UNKNOWN' }],
};

const accept = (paying: PayingSend, providerTxid: string | null = null) =>
  acceptPayment(context, paying, { providerTxid, attempt: 1 });

const ends: Readonly<Record<string, (paying: PayingSend) => Promise<unknown>>> = {
  accepted: (paying) => accept(paying, 'T-1'),
  unknown: (paying) => moveTransaction(context, paying.id, unknown),
};

const repeat = (paying: PayingSend, note: string) =>
  recordRetry(context, paying, { attempt: 2, last: { providerStatus: '5xx' }, note });

test('a failure does not settle a payment whose attempts a loss of commits has taken', async () => {
  const lost = {
    userId: app.customer.id,
    idempotencyKey: randomUUID(),
    amountCents,
    endToEnd: app.newEndToEnd(),
  };
  const id = await storeSendAgain(context, lost);
  const ids = { endToEnd: lost.endToEnd, amount: 10.5 };
  assert.deepEqual(results(await receive(failed(ids))), ['anomaly: failed_after_repeat']);
  assert.equal((await stored(id ?? '')).status, 'PROCESSING');
  assert.deepEqual(results(await receive(confirmed(ids))), ['applied']);
});

test('a failure does not settle a payment around a loss of commits, which may have been repeated', async () => {
  const paying = await givenPaying();
  await accept(paying);
  const pause = { by: 'ana', reason: 'failover', lostSince: app.clock.now() };
  await beginPause(context, pause);
  const ids = { endToEnd: paying.endToEnd, amount: 10.5 };
  assert.deepEqual(results(await receive(failed(ids))), ['anomaly: failed_after_repeat']);
  assert.equal((await stored(paying.id)).phase, 'ACCEPTED');
  await rows('delete from pix_pauses');
  await receive(confirmed(ids));
  assert.equal((await stored(paying.id)).status, 'COMPLETED');
});

for (const [minutes, result] of [
  [9, 'anomaly: failed_after_repeat'],
  [11, 'applied'],
] as const) {
  test(`${minutes} minutes after a loss of commits a failure is ${result}: a look-up from before it is fresh for five`, async () => {
    const paying = await givenPaying();
    await accept(paying);
    await rows(
      `insert into pix_pauses (began_at, began_by, reason, lost_since, ended_at, ended_by)
       select created_at - interval '1 hour', 'ana', 'failover', created_at - interval '1 hour',
              created_at - make_interval(mins => $2), 'ana' from pix_transactions where id = $1`,
      [paying.id, minutes],
    );
    const ids = { endToEnd: paying.endToEnd, amount: 10.5 };
    assert.deepEqual(results(await receive(failed(ids))), [result]);
    await rows('delete from pix_pauses');
  });
}

test('a failure does not settle a payment that was repeated after an unknown end', async () => {
  const paying = await givenPaying();
  const ids = { endToEnd: paying.endToEnd, amount: 10.5 };
  assert.ok(await repeat(paying, repeatNotes.unknown));
  const early = await receive(failed({ ...ids, nth: 1 }));
  assert.deepEqual(results(early), ['parked: still_paying']);
  await accept(paying);
  assert.deepEqual(results(await settle(early.eventId)), ['anomaly: failed_after_repeat']);
  const late = await receive(failed({ ...ids, nth: 2 }));
  assert.deepEqual(results(late), ['anomaly: failed_after_repeat']);
  assert.equal((await stored(paying.id)).phase, 'ACCEPTED');
  await receive(confirmed(ids));
  assert.equal((await stored(paying.id)).status, 'COMPLETED');
});

test('it settles one whose first attempt has provably not left', async () => {
  const paying = await givenPaying();
  assert.ok(await repeat(paying, repeatNotes.notSent));
  await accept(paying);
  await receive(failed({ endToEnd: paying.endToEnd, amount: 10.5 }));
  assert.equal((await stored(paying.id)).status, 'FAILED');
});

for (const [end, take] of Object.entries(ends)) {
  test(`a failure that comes during PAYING settles the send when its call has ended ${end}`, async () => {
    const paying = await givenPaying();
    const settlement = await receive(failed({ endToEnd: paying.endToEnd, amount: 10.5 }));
    assert.deepEqual(
      [settlement.status, ...results(settlement)],
      ['parked', 'parked: still_paying'],
    );
    assert.equal((await stored(paying.id)).phase, 'PAYING');
    await app.postpone(settlement.eventId);
    await take(paying);
    assert.deepEqual(
      await app.readWoken(settlement.eventId),
      clock.now(),
      'the end of the call wakes it',
    );
    assert.deepEqual(results(await settle(settlement.eventId)), ['applied']);
    const { status, failure_code: code } = await stored(paying.id);
    assert.deepEqual([status, code], ['FAILED', 'AB03']);
  });
}

test('a failure by the key alone waits, also after the end of the call', async () => {
  const paying = await givenPaying();
  const settlement = await receive(failed({ clientRequestId: paying.key, amount: 10.5 }));
  assert.deepEqual(results(settlement), ['parked: still_paying']);
  await accept(paying);
  assert.deepEqual(await app.readWoken(settlement.eventId), clock.now());
  assert.deepEqual(results(await settle(settlement.eventId)), ['parked: weak_id']);
});

test('a failure waits from the commit that stores it, before its first attempt', async () => {
  const paying = await givenPaying();
  const waits = () => rows('select from webhook_waits where id_value = $1', [paying.endToEnd]);
  const eventId = await app.deliver(failed({ endToEnd: paying.endToEnd }));
  assert.equal((await waits()).length, 1);
  await accept(paying);
  assert.deepEqual(results(await settle(eventId)), ['applied']);
  assert.equal((await waits()).length, 0);
});

test('a payment that is reported as completed during PAYING is settled', async () => {
  const paying = await givenPaying();
  await receive(confirmed({ endToEnd: paying.endToEnd, amount: 10.5 }));
  assert.equal((await stored(paying.id)).status, 'COMPLETED');
});

test('a failure reported during PAYING contradicts a payment that the response accepts', async () => {
  const paying = await givenPaying();
  const { eventId } = await receive(failed({ endToEnd: paying.endToEnd }));
  await moveTransaction(context, paying.id, {
    from: ['PAYING'],
    to: 'SETTLED',
    status: 'COMPLETED',
    outcome: 'accepted',
    timeline: [{ phase: 'ACCEPTED' }, { phase: 'SETTLED', note: 'COMPLETED' }],
  });
  assert.deepEqual(results(await settle(eventId)), ['anomaly: contradicts_final_status']);
});

const sweep = () =>
  sweepPix.run(context, { id: '0', kind: 'sweep-pix', payload: {}, attempt: 1, worker: 'test' });

for (const isRestarted of [false, true]) {
  const how = isRestarted ? ', and its successor has started' : '';
  test(`a failure of a payment whose process has died${how}: the sweep ends PAYING, and then it settles`, async () => {
    const paying = await givenPaying();
    const settlement = await receive(failed({ endToEnd: paying.endToEnd }));
    if (isRestarted) await releaseAfterCrash(context);
    await sweep();
    assert.equal((await stored(paying.id)).phase, 'PAYING', 'its death is not known yet');
    await clock.advance(2 * minuteMs);
    await app.postpone(settlement.eventId);
    await sweep();
    assert.equal((await stored(paying.id)).phase, 'UNKNOWN');
    assert.deepEqual(await app.readWoken(settlement.eventId), clock.now(), 'the sweep wakes it');
    assert.deepEqual(results(await settle(settlement.eventId)), ['applied']);
    assert.equal((await stored(paying.id)).status, 'FAILED');
  });
}

test('the sweep leaves a payment alone while its claim lasts, however long that is', async () => {
  const provider = { ...context.config.provider, timeoutMs: 30_000, retries: 2 };
  const slow = { ...context, config: { ...context.config, provider } };
  const paying = await givenPaying();
  const claimedUntil = claimUntil(slow);
  await rows('update pix_transactions set claimed_until = $2 where id = $1', [
    paying.id,
    claimedUntil,
  ]);
  const run = () =>
    sweepPix.run(slow, { id: '0', kind: 'sweep-pix', payload: {}, attempt: 1, worker: 'test' });
  // 30 s for each of three attempts, 30 s in the queue, two back-offs of a second.
  assert.equal(claimedUntil.getTime() - clock.now().getTime(), 122_000);
  await clock.advance(121_999);
  await run();
  assert.equal((await stored(paying.id)).phase, 'PAYING');
  await clock.advance(1);
  await run();
  assert.equal((await stored(paying.id)).phase, 'UNKNOWN');
});
