/** Refunds: events about money that went back, and what they make of the payment. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newReturnId } from '../../../src/domain/pix.ts';
import { givenCustomer, logIn } from '../../support/factories.ts';
import { auditPix } from '../../../src/operator/pix-audit.ts';
import { eventually } from '../../support/eventually.ts';
import { onlyOnServer } from '../../support/open-database.ts';
import { previewReplay } from '../../../src/settlement/replay.ts';
import { confirmed, results, startSettlingApp } from './settling.ts';

const app = await startSettlingApp();
const { customer } = app;

const returnId = () => newReturnId('99999999', app.clock.now());

interface RefundRow {
  readonly id: string;
  readonly operation: string;
  readonly status: string;
  readonly amount: string;
  readonly end_to_end: string;
  readonly user_id: number;
}

function readRefunds(originalId: string): Promise<RefundRow[]> {
  return app.rows<RefundRow>(
    `select id, operation, status, amount, end_to_end, user_id from pix_transactions
      where original_id = $1 order by id`,
    [originalId],
  );
}

async function refundedAmount(id: string): Promise<string | null> {
  const [row] = await app.rows<{ refunded_amount: string | null }>(
    'select refunded_amount from pix_transactions where id = $1',
    [id],
  );
  return row?.refunded_amount ?? null;
}

/** A refund that comes back to the payer, as the flat format has it. */
async function unreadEvents(): Promise<number> {
  const { values } = await app.context.metrics.pixUnreadEvents.get();
  return values[0]?.value ?? 0;
}

function refundIn(endToEnd: string, amount: number, id = returnId()) {
  return {
    event: 'PIX_REFUND_IN',
    endToEnd,
    returnId: id,
    amount,
    status: 'CONFIRMED',
    id: `provider-${id}`,
  };
}

async function givenPaid(amount = 10.5) {
  const send = await app.givenSend(undefined, amount);
  const paid = confirmed({ endToEnd: send.end_to_end, amount });
  assert.deepEqual(results(await app.receive(paid)), ['applied']);
  return send;
}

/** A PIX that the customer has received without a charge. */
async function givenReceived(valor: string) {
  const endToEndId = app.newEndToEnd();
  const pix = app.pix({ endToEndId, chave: customer.email, valor });
  const { items } = await app.receive(pix);
  assert.equal(items[0]?.result, 'applied');
  return { id: items[0]?.transactionId ?? '', endToEnd: endToEndId };
}

test('a refund of a send is a transaction of its own, and the send stays COMPLETED', async () => {
  const send = await givenPaid();
  const refund = refundIn(send.end_to_end, 10.5);
  const settled = await app.receive(refund);
  assert.deepEqual(results(settled), ['applied']);
  const [row, ...others] = await readRefunds(send.id);
  assert.ok(row && others.length === 0);
  assert.equal(settled.items[0]?.transactionId, row.id);
  assert.deepEqual(
    { ...row, id: '' },
    {
      id: '',
      operation: 'REFUND_IN',
      status: 'COMPLETED',
      amount: '10.50',
      end_to_end: refund.returnId,
      user_id: customer.id,
    },
  );
  assert.equal((await app.stored(send.id)).status, 'COMPLETED');
  assert.equal(await refundedAmount(send.id), '10.50');
  assert.equal((await app.timeline(send.id)).at(-1), `SETTLED REFUNDED ${row.id} event`);
  assert.deepEqual(await app.timeline(row.id), ['SETTLED event']);
});

test('a refund is recorded once for its return id, whatever event tells it again', async () => {
  const send = await givenPaid();
  const refund = refundIn(send.end_to_end, 4);
  await app.receive(refund);
  const again = await app.receive({ ...refund, createdAt: '2026-05-24T12:00:00.000Z' });
  assert.deepEqual(results(again), ['already']);
  const other = await app.receive({ ...refund, amount: 5 });
  assert.deepEqual(results(other), ['anomaly: amount_mismatch']);
  assert.equal((await readRefunds(send.id)).length, 1);
  assert.equal(await refundedAmount(send.id), '4.00');
});

test('refunds in part add up to the amount at most; more is an anomaly of the send', async () => {
  const send = await givenPaid();
  assert.deepEqual(results(await app.receive(refundIn(send.end_to_end, 4))), ['applied']);
  assert.deepEqual(results(await app.receive(refundIn(send.end_to_end, 6.5))), ['applied']);
  const beyond = await app.receive(refundIn(send.end_to_end, 0.01));
  assert.deepEqual(results(beyond), ['anomaly: refunds_exceed_amount']);
  const larger = await app.receive(refundIn(send.end_to_end, 10.51));
  assert.deepEqual(results(larger), ['anomaly: refunds_exceed_amount']);
  assert.equal(larger.items[0]?.transactionId, send.id);
  assert.equal((await readRefunds(send.id)).length, 2);
  assert.equal(await refundedAmount(send.id), '10.50');
});

test('a preview of refunds that exceed the amount together finds them as the replay does', async () => {
  const send = await givenPaid();
  const parts = [4, 6.5, 0.01].map((amount) => refundIn(send.end_to_end, amount));
  const eventId = await app.deliver(parts);
  const previewed = await previewReplay(app.context, eventId);
  assert.ok(previewed.kind === 'preview');
  const shown = previewed.items.map(({ result, reason, from, to }) => [result, reason, from, to]);
  assert.deepEqual(shown, [
    ['applied', undefined, null, 'COMPLETED'],
    ['applied', undefined, null, 'COMPLETED'],
    ['anomaly', 'refunds_exceed_amount', 'COMPLETED', 'COMPLETED'],
  ]);
  assert.deepEqual([await readRefunds(send.id), await refundedAmount(send.id)], [[], null]);
  assert.deepEqual(results(await app.settle(eventId)), [
    'applied',
    'applied',
    'anomaly: refunds_exceed_amount',
  ]);
});

test('concurrent refunds of one payment are counted one after the other', async () => {
  const send = await givenPaid(10);
  const events = await Promise.all(
    Array.from({ length: 8 }, () => app.deliver(refundIn(send.end_to_end, 3))),
  );
  const settled = await Promise.all(events.map((id) => app.settle(id)));
  const words = settled.flatMap(results).toSorted();
  const expected = ['applied', 'applied', 'applied'];
  assert.deepEqual(words.slice(-3), expected);
  assert.equal(new Set(words.slice(0, 5)).size, 1);
  assert.equal(words[0], 'anomaly: refunds_exceed_amount');
  assert.equal(await refundedAmount(send.id), '9.00');
});

for (const [says, others, expected] of [
  ['that leave no room for it', '8.00', 'anomaly: refunds_exceed_amount'],
  ['that leave room for it', '7.00', 'applied'],
] as const) {
  test(`a refund waits for those of another process ${says}`, onlyOnServer, async () => {
    const send = await givenPaid(10);
    const other = await app.context.db.em();
    await other.begin();
    const count = 'update pix_transactions set refunded_amount = ? where id = ?';
    await other.execute(count, [others, send.id]);
    const waiting = app.receive(refundIn(send.end_to_end, 3));
    // The statement has its snapshot, and waits for the row.
    await eventually(async () => {
      const waits = await app.rows(
        `select from pg_stat_activity
          where wait_event_type = 'Lock' and query like '%refunded_amount%'
            and datname = current_database()`,
      );
      return waits.length > 0;
    }, 'the wait for the row');
    await other.commit();
    assert.deepEqual(results(await waiting), [expected]);
    const sum = expected === 'applied' ? '10.00' : others;
    assert.equal(await refundedAmount(send.id), sum);
    // What the other process has counted has no refund here. No writer lowers a sum.
    await app.ownerRows(
      `do $$ begin
         set local session_replication_role = 'replica';
         update pix_transactions t
            set refunded_amount = (select sum(amount) from pix_transactions
                                    where original_id = t.id) where id = '${send.id}';
       end $$`,
    );
  });
}

test('a refund proves the payment of an open send, which it completes', async () => {
  for (const phase of ['ACCEPTED', 'UNKNOWN', 'PAYING']) {
    const send = await app.givenSend();
    await app.rows('update pix_transactions set phase = $2 where id = $1', [send.id, phase]);
    const early = await app.receive(refundIn(send.end_to_end, 2));
    assert.deepEqual(results(early), ['applied']);
    const { status } = await app.stored(send.id);
    assert.deepEqual([status, await refundedAmount(send.id)], ['COMPLETED', '2.00']);
    assert.ok((await app.timeline(send.id)).includes('SETTLED returned event'));
    const end = await app.receive(confirmed({ endToEnd: send.end_to_end, amount: 10.5 }));
    assert.deepEqual(results(end), ['already']);
  }
});

test('a refund of a send that has not left waits for it', async () => {
  const send = await app.givenSend();
  await app.rows(`update pix_transactions set phase = 'RESOLVED' where id = $1`, [send.id]);
  const early = await app.receive(refundIn(send.end_to_end, 2));
  assert.deepEqual(results(early), ['parked: not_completed_yet']);
  await app.clock.advance(5 * 24 * 60 * 60_000);
  assert.deepEqual(results(await app.settle(early.eventId)), ['parked: not_completed_yet']);
  await app.rows(`update pix_transactions set phase = 'ACCEPTED' where id = $1`, [send.id]);
  assert.deepEqual(results(await app.settle(early.eventId)), ['applied']);
});

test('a refund of an unknown payment waits as long as a statement may bring that, and is orphaned', async () => {
  const refund = await app.receive(refundIn(app.newEndToEnd(), 2));
  assert.deepEqual(results(refund), ['parked: no_match']);
  await app.clock.advance(4 * 24 * 60 * 60_000 - 1_000);
  assert.deepEqual(results(await app.settle(refund.eventId)), ['parked: no_match']);
  await app.clock.advance(2_000);
  const last = await app.settle(refund.eventId);
  assert.deepEqual(results(last), ['orphaned: no_match']);
  assert.equal(last.status, 'orphaned');
});

test('a refund whose amount cannot be read is stored with a reason, and counted', async () => {
  const send = await givenPaid(9);
  const before = await unreadEvents();
  const refund = { ...refundIn(send.end_to_end, 3), amount: '30,00' };
  const settled = await app.receive(refund);
  assert.deepEqual(results(settled), ['ignored: unreadable_amount']);
  assert.equal(settled.items[0]?.transactionId, send.id);
  assert.equal(await unreadEvents(), before + 1);
});

test('a refund of a payment that has failed is an anomaly, and waits for a correction', async () => {
  const send = await app.givenSend();
  await app.receive({
    event: 'PIX_PAYMENT_OUT',
    status: 'ERROR',
    error: { code: 'AC03' },
    endToEnd: send.end_to_end,
    amount: 10.5,
  });
  const refund = await app.receive(refundIn(send.end_to_end, 10.5));
  assert.deepEqual(results(refund), ['parked: contradicts_final_status']);
  assert.equal((await app.timeline(send.id)).at(-1), 'ANOMALY contradicts_final_status event');
  assert.deepEqual(await readRefunds(send.id), []);
  const corrected = await app.receive(confirmed({ endToEnd: send.end_to_end, amount: 10.5 }));
  assert.deepEqual(results(corrected), ['anomaly: corrected']);
  assert.deepEqual(results(await app.settle(refund.eventId)), ['applied']);
  const [row] = await readRefunds(send.id);
  assert.deepEqual([row?.operation, row?.amount], ['REFUND_IN', '10.50']);
});

test('a refund of what was received goes out; one that goes in finds no payment', async () => {
  const received = await givenReceived('7.00');
  const body = { endToEndId: received.endToEnd, returnIdentification: returnId(), amount: 7 };
  const event = (entity: string) => ({ entity, status: 'CONFIRMED', body });
  const wrong = await app.receive(event('pix-reversal-in'));
  assert.deepEqual(results(wrong), ['parked: no_match']);
  assert.deepEqual(results(await app.receive(event('pix-reversal-out'))), ['applied']);
  const [row] = await readRefunds(received.id);
  assert.deepEqual([row?.operation, row?.amount], ['REFUND_OUT', '7.00']);
});

test('a refund without a direction between two customers is recorded for both', async () => {
  const payee = await givenCustomer(app, { document: '11144477735' });
  const send = await givenPaid(9);
  const account = { document: '11144477735' };
  await app.rows('update accounts set document = $2 where user_id = $1', [
    payee.id,
    account.document,
  ]);
  const incoming = await app.receive({
    event: 'PIX_RECEIVED',
    endToEnd: send.end_to_end,
    amount: 9,
    status: 'CONFIRMED',
    receiver: account,
  });
  assert.deepEqual(results(incoming), ['applied']);
  const refund = await app.receive({
    event: 'OPENPIX:TRANSACTION_REFUND_RECEIVED',
    refund: { value: 450, returnIdentification: returnId() },
    transaction: { value: 900, endToEndId: send.end_to_end },
  });
  assert.deepEqual(results(refund), ['applied']);
  const receivedId = incoming.items[0]?.transactionId ?? '';
  assert.deepEqual(
    [...(await readRefunds(send.id)), ...(await readRefunds(receivedId))].map((row) => [
      row.operation,
      row.amount,
      row.user_id,
    ]),
    [
      ['REFUND_IN', '4.50', customer.id],
      ['REFUND_OUT', '4.50', payee.id],
    ],
  );
});

test("the refunds in the central bank's list of a PIX are recorded", async () => {
  const endToEndId = app.newEndToEnd();
  const devolucao = (rtrId: string, valor: string, status: string) => ({
    id: 'x',
    rtrId,
    valor,
    status,
    horario: { solicitacao: '2026-05-24T12:00:00.000Z' },
  });
  const pix = app.pix({
    endToEndId,
    chave: customer.email,
    valor: '20.00',
    devolucoes: [
      devolucao(returnId(), '5.00', 'DEVOLVIDO'),
      devolucao(returnId(), '6.00', 'EM_PROCESSAMENTO'),
      devolucao(returnId(), '7.00', 'NAO_REALIZADO'),
    ],
  });
  const settled = await app.receive(pix);
  assert.deepEqual(results(settled), [
    'applied',
    'applied',
    'ignored: processing',
    'ignored: not_refunded',
  ]);
  const [row, ...others] = await readRefunds(settled.items[0]?.transactionId ?? '');
  assert.deepEqual([row?.operation, row?.amount, others.length], ['REFUND_OUT', '5.00', 0]);
});

test('a refund that names no return id changes nothing', async () => {
  const send = await givenPaid();
  const { returnId: _, ...unnamed } = refundIn(send.end_to_end, 1);
  assert.deepEqual(results(await app.receive(unnamed)), ['ignored: reversal']);
  assert.deepEqual(await readRefunds(send.id), []);
});

/** The owner of every key at the simulated bank. */
const owner = {
  name: 'Recebedor de Teste',
  document: '***.456.789-**',
  bank: { ispb: '11165756', name: 'GLOBAL SCM LTDA' },
  institution: { ispb: '11165756' },
};

test('listing, statement and receipt show a refund beside its payment', async () => {
  const send = await givenPaid(30);
  const refund = refundIn(send.end_to_end, 12.34);
  const id = (await app.receive(refund)).items[0]?.transactionId ?? '';
  const token = await logIn(app, customer.email);
  const get = async (path: string) => {
    const { status, body } = await app.call(path, { token });
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const shown = { type: 'PIX_REFUND_IN', amount: 12.34, status: 'COMPLETED' };
  const page = await get('/pix?type=PIX_REFUND_IN&limit=1');
  const { created_at: createdAt, ...item } = page.items[0];
  const about = { payer: owner, end_to_end: send.end_to_end, return_id: refund.returnId };
  assert.deepEqual(item, {
    transaction_id: id,
    ...shown,
    ...about,
    original_transaction_id: send.id,
  });
  const { items } = await get('/accounts/statement');
  const inStatement = { ...shown, original_transaction_id: send.id, return_id: refund.returnId };
  assert.deepEqual(items.refunds[0], {
    id,
    ...inStatement,
    ...about,
    provider_txid: refund.id,
    created_at: createdAt,
  });
  const types = new Set(items.local.map(({ type }: { type: string }) => type));
  assert.ok([...types].every((type) => !String(type).includes('REFUND')));
  const receipt = await get(`/pix/${id}/receipt`);
  assert.deepEqual(
    [receipt.type, receipt.return_id, receipt.end_to_end, receipt.original_transaction_id],
    ['PIX_REFUND_IN', refund.returnId, send.end_to_end, send.id],
  );
  assert.equal(receipt.payee.name, 'Maria da Silva');
  assert.deepEqual(receipt.payer, owner);
  assert.equal((await get(`/pix/${send.id}/receipt`)).refunded_amount, 12.34);
  assert.deepEqual(await get(`/pix/${id}`), { transaction_id: id, status: 'COMPLETED' });
});

test('the receipt of a charge shows a return of its payment from before it was known', async () => {
  const user = await givenCustomer(app);
  await app.listEmail(user);
  const body = { type: 'dynamic', amount: 20, key: user.email };
  const { transaction_id: id } = (await app.charge(user, body)).body;
  const { transaction_identification: txid } = await app.stored(id);
  const payment = { event: 'PIX_RECEIVED', endToEnd: app.newEndToEnd(), amount: 20 };
  await app.receive({ ...payment, key: user.email });
  const returned = {
    event: 'PIX_REFUND_OUT',
    status: 'CONFIRMED',
    returnId: returnId(),
    amount: 5,
  };
  await app.receive({ ...returned, endToEnd: payment.endToEnd });
  await app.receive({ ...payment, transactionIdentification: txid });
  const { body: receipt } = await app.call(`/pix/${id}/receipt`, { token: user.token });
  assert.deepEqual([receipt.status, receipt.refunded_amount], ['COMPLETED', 5]);
});

test('every rule of the audit holds after all of this', async () => {
  const { invariants } = await auditPix.run(
    app.context,
    {},
    { progress: () => undefined, operator: 'test' },
  );
  assert.deepEqual(
    invariants.filter(({ broken }) => broken > 0),
    [],
  );
});
