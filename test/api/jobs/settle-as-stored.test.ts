/** What is read together with an event that is stored, and how far it is relied on. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { receiveEvent } from '../../../src/settlement/receive-provider-webhook.ts';
import { storingFor } from './loops.ts';
import { confirmed, startSettlingApp } from './settling.ts';
import { reserveSend } from './transactions.ts';

const app = await startSettlingApp();
const { context, newEndToEnd, rows, stored } = app;

/**
 * Receives an event whose attempt begins at once.
 * @param meanwhile happens once, when the event is stored.
 * @returns the statements that were run, and whether the event is in the queue still.
 */
async function receive(
  content: Readonly<Record<string, unknown>>,
  meanwhile: () => Promise<unknown> = async () => undefined,
) {
  const statements: string[] = [];
  let happens: Promise<unknown> | undefined;
  const query: typeof context.db.query = async (statement, parameters) => {
    statements.push(statement.name);
    const response = await context.db.query(statement, parameters);
    if (statement.name === 'webhook-store') await (happens ??= meanwhile());
    return response;
  };
  let attempt: Promise<boolean> | undefined;
  const db = { ...context.db, query };
  const storing = storingFor(
    { ...context, db },
    {
      reserve: () => ({
        dueAt: new Date(context.clock.now().getTime() + 10_000),
        release: () => undefined,
        begin: (_, settle) => void (attempt = settle()),
      }),
    },
  );
  const payload = Buffer.from(JSON.stringify(content));
  const { id } = await receiveEvent(storing, { payload, content });
  const isQueued = await attempt;
  const [event] = await rows<{ status: string; results: unknown }>(
    'select status, results from webhook_events where id = $1',
    [id],
  );
  return { statements, isQueued, status: event?.status, results: event?.results };
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

test('an event whose row a failover has lost meanwhile settles its payment all the same', async () => {
  const { id, end_to_end: endToEnd } = await app.givenSend();
  const lose = () => app.ownerRows('delete from webhook_events');
  const sent = await receive(confirmed({ endToEnd, amount: 10.5 }), lose);
  assert.deepEqual([sent.isQueued, sent.status], [true, undefined]);
  assert.equal((await stored(id)).status, 'COMPLETED');
});
