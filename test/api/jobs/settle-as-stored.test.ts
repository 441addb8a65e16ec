/** What is read together with an event that is stored, and how far it is relied on. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { JobDispatcher, type JobResult } from '../../../src/process/job-dispatch.ts';
import { receiveEvent } from '../../../src/settlement/receive-provider-webhook.ts';
import { confirmed, startSettlingApp } from './settling.ts';
import { reserveSend } from './transactions.ts';

const app = await startSettlingApp();
const { context, newEndToEnd, rows, stored } = app;

/**
 * Receives an event whose job begins at once.
 * @param meanwhile happens once, when a statement has ended: by default that which stores the
 *   event.
 * @returns the statements that were run, and what the job has to do yet.
 */
async function receive(
  content: Readonly<Record<string, unknown>>,
  meanwhile: () => Promise<unknown> = async () => undefined,
  after = 'webhook-store',
) {
  const statements: string[] = [];
  let happens: Promise<unknown> | undefined;
  const query: typeof context.db.query = async (statement, parameters) => {
    statements.push(statement.name);
    const answer = await context.db.query(statement, parameters);
    if (statement.name === after) await (happens ??= meanwhile());
    return answer;
  };
  let run: Promise<JobResult> | undefined;
  const jobs = new JobDispatcher();
  const lease = { worker: 'me', leasedUntil: new Date(context.clock.now().getTime() + 30_000) };
  jobs.connect({
    reserve: () => ({
      ...lease,
      release: () => undefined,
      begin: (job, work) => void (run = work({ ...job, attempt: 1, worker: lease.worker })),
    }),
  });
  const payload = Buffer.from(JSON.stringify(content));
  const db = { ...context.db, query };
  const { id } = await receiveEvent({ ...context, db, jobs }, { payload, content });
  const result = await run;
  const [event] = await rows<{ status: string; results: unknown }>(
    'select status, results from webhook_events where id = $1',
    [id],
  );
  return { statements, result, status: event?.status, results: event?.results };
}

test('a payment that was completed is moved by what was read when its event was stored', async () => {
  const { id, end_to_end: endToEnd } = await app.givenSend();
  const received = await receive(confirmed({ endToEnd, amount: 10.5 }));
  assert.deepEqual(received.statements, ['webhook-store', 'webhook-finish']);
  assert.deepEqual([received.status, (await stored(id)).status], ['processed', 'COMPLETED']);
});

test('a payment that another event settles meanwhile is found settled', async () => {
  const { id, end_to_end: endToEnd } = await app.givenSend();
  const received = await receive(confirmed({ endToEnd, amount: 10.5 }), () =>
    app.receive(confirmed({ endToEnd, amount: 10.5, again: true })),
  );
  assert.ok(received.statements.includes('pix-candidates'));
  assert.deepEqual(received.results, [{ index: 0, result: 'already', transactionId: id }]);
});

test('a payment that is stored meanwhile is found, although it was not there before', async () => {
  const endToEnd = newEndToEnd();
  let id = '';
  const received = await receive(confirmed({ endToEnd, amount: 10.5 }), async () => {
    const send = await reserveSend(app, randomUUID());
    await send.pay(endToEnd);
    ({ id } = send);
  });
  assert.deepEqual(received.results, [{ index: 0, result: 'applied', transactionId: id }]);
  assert.equal((await stored(id)).status, 'COMPLETED');
});

test('a contradiction is decided on what is stored after the event', async () => {
  const { id, end_to_end: endToEnd } = await app.givenSend();
  const received = await receive(confirmed({ endToEnd, amount: 99 }), () =>
    app.rows('update pix_transactions set amount = 99 where id = $1', [id]),
  );
  assert.deepEqual(received.results, [{ index: 0, result: 'applied', transactionId: id }]);
});

test('a failure is decided on what is stored after its event, which stops further attempts', async () => {
  const { end_to_end: endToEnd } = await app.givenSend();
  const received = await receive(confirmed({ endToEnd, amount: 10.5, status: 'ERROR' }));
  const [store, read] = received.statements;
  assert.deepEqual([store, read], ['webhook-store', 'pix-candidates']);
});

test('an event that a failover has lost meanwhile moves nothing, and records nothing', async () => {
  const { id, end_to_end: endToEnd } = await app.givenSend();
  const lose = () => app.ownerRows('delete from webhook_events');
  const sent = await receive(confirmed({ endToEnd, amount: 10.5 }), lose);
  assert.deepEqual([sent.result, sent.status], [undefined, undefined]);
  assert.equal((await stored(id)).status, 'PROCESSING');
  const { receivedBy, customer } = app;
  const pix = { endToEndId: newEndToEnd(), chave: customer.email, valor: '3.00' };
  const payment = await receive({ pix: [pix] }, lose);
  assert.deepEqual([payment.result, payment.status], [undefined, undefined]);
  assert.deepEqual(await receivedBy(customer), []);
});

test('a Pix recorded beside a charge is recorded again if a failover loses it meanwhile', async () => {
  const { customer } = app;
  const charged = await app.charge(customer, { type: 'static', amount: 20 });
  const { transaction_identification: txid } = await stored(charged.body.transaction_id);
  const endToEndId = newEndToEnd();
  const lose = async () => {
    assert.equal((await recorded(endToEndId)).length, 1);
    await loseReceived(endToEndId);
    assert.deepEqual(await recorded(endToEndId), []);
  };
  const pix = [{ endToEndId, txid, valor: '19.00', horario: '2026-05-24T12:00:00.000Z' }];
  const received = await receive({ pix }, lose, 'pix-anomaly');
  assert.equal(received.status, 'anomaly');
  assert.equal((await recorded(endToEndId)).length, 1);
});

function recorded(endToEndId: string) {
  return rows<{ id: string }>(
    "select id from pix_transactions where end_to_end = $1 and operation = 'RECEIVED'",
    [endToEndId],
  );
}

/** A failover keeps none of the rows that only grow: their triggers do not hold it. */
async function loseReceived(endToEndId: string): Promise<void> {
  const lost = await recorded(endToEndId);
  await app.ownerRows('alter table pix_timeline disable trigger user');
  await app.ownerRows('alter table pix_transactions disable trigger user');
  for (const { id } of lost) {
    await app.ownerRows('delete from pix_timeline where transaction_id = $1', [id]);
    await app.ownerRows('delete from pix_transactions where id = $1', [id]);
  }
  await app.ownerRows('alter table pix_timeline enable trigger user');
  await app.ownerRows('alter table pix_transactions enable trigger user');
}

test('of an event with more items than one set a lost one changes no transaction either', async () => {
  const charges: string[] = [];
  for (let number = 0; number < 3; number += 1) {
    const charged = await app.charge(app.customer, { type: 'static', amount: 20, reusable: true });
    charges.push(charged.body.transaction_id);
  }
  const [paid, contradicted, completed] = await Promise.all(charges.map((id) => stored(id)));
  await app.receive({ event: 'CHARGE_COMPLETED', txid: completed?.transaction_identification });
  const before = await written(charges);
  const item = (txid: string | null | undefined, valor: string) => {
    return { endToEndId: newEndToEnd(), txid, valor, horario: '2026-05-24T12:00:00.000Z' };
  };
  const pix = [
    item(paid?.transaction_identification, '20.00'),
    item(contradicted?.transaction_identification, '19.00'),
    item(completed?.transaction_identification, '20.00'),
    ...Array.from({ length: 254 }, () => item(null, '1.00')),
  ];
  await receive({ pix }, () => app.ownerRows('delete from webhook_events'), 'pix-candidates');
  assert.deepEqual(await written(charges), before);
});

/** What is stored of transactions. */
async function written(ids: readonly string[]) {
  const transactions = await Promise.all(ids.map((id) => stored(id)));
  return [transactions, await Promise.all(ids.map((id) => app.timeline(id)))];
}
