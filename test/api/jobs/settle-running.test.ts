/** Settling in the running service: the bank posts, the intake stores, the loop settles. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPixApp } from '../pix/pix-app.ts';
import { eventually } from '../../support/eventually.ts';
import { givenCustomer } from '../../support/factories.ts';
import { eventStatus } from './loops.ts';

const app = await startPixApp({ environment: { STUB_SETTLE_MS: '1500' } });

const readStatus = (eventId: string) => eventStatus(app, eventId);

test('a payment that the bank settles is completed without a poll', async () => {
  const user = await givenCustomer(app);
  const sent = await app.send(user, { pix_key: 'ana@example.com', amount: 1 });
  await app.bank.settle(sent.body.end_to_end);
  const { status } = await app.settled(sent.body.transaction_id);
  assert.equal(status, 'COMPLETED');
});

test('an event whose own id is a number of 64 bits completes the payment', async () => {
  const user = await givenCustomer(app);
  const sent = await app.send(user, { pix_key: 'silent@ponte.test', amount: 1 });
  const ids = `"id":1234567890123456789,"endToEnd":"${sent.body.end_to_end}"`;
  await app.call('/webhooks/provider', {
    body: `{"event":"PIX_PAYMENT_OUT",${ids},"status":"CONFIRMED","amount":1}`,
  });
  assert.equal((await app.settled(sent.body.transaction_id)).status, 'COMPLETED');
});

test('a webhook that comes before the response of the payment ends it all the same', async () => {
  const user = await givenCustomer(app);
  const anomalies = await app.anomalies();
  const sent = await app.send(user, { pix_key: 'early@ponte.test', amount: 1 });
  assert.equal(sent.status, 200);
  assert.equal((await app.settled(sent.body.transaction_id)).status, 'COMPLETED');
  assert.equal(await app.anomalies(), anomalies);
});

test('a webhook that comes twice and then contradicts itself ends the payment once, with an anomaly', async () => {
  const user = await givenCustomer(app);
  const anomalies = await app.anomalies();
  const sent = await app.send(user, { pix_key: 'twice@ponte.test', amount: 1 });
  await app.bank.settle(sent.body.end_to_end);
  await eventually(async () => (await app.anomalies()) > anomalies, 'the anomaly');
  const { id } = await app.settled(sent.body.transaction_id);
  // Events that arrive together are settled concurrently: either may be first.
  const ends = (await app.timeline(id)).filter((line) => line.startsWith('SETTLED'));
  assert.equal(ends.length, 1);
  assert.equal((await app.anomalies()) - anomalies, 1);
});

test('a parked event is looked at again by itself, and applied once its payment is there', async () => {
  const endToEnd = 'E-of-the-parked';
  const body = { event: 'PIX_PAYMENT_OUT', endToEnd, status: 'CONFIRMED' };
  const posted = await app.call('/webhooks/provider', { body });
  const eventId = posted.body.event_id;
  await eventually(async () => (await readStatus(eventId)) === 'parked', 'the first look');
  const user = await givenCustomer(app);
  const sent = await app.send(user, { pix_key: 'silent@ponte.test', amount: 1 });
  const id = sent.body.transaction_id;
  await app.rows('update pix_transactions set end_to_end = $2 where id = $1', [id, endToEnd]);
  await eventually(async () => {
    await app.clock.advance(500);
    return (await readStatus(eventId)) === 'processed';
  }, 'the next look');
  assert.equal((await app.stored(id)).status, 'COMPLETED');
});
