/** A payment that the provider holds for analysis: what the app sees of it, and when it is over. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { givenCustomer } from '../../support/factories.ts';
import { startPixApp } from './pix-app.ts';

const app = await startPixApp();
const off = await startPixApp({ environment: { PROVIDER_FEATURES: 'none' } });

const body = { pix_key: 'analysis@ponte.test', amount: 10 };

test('a held payment says so to the first request, a repeat, a poll and a list', async () => {
  const user = await givenCustomer(app);
  const sent = await app.send(user, body, { key: 'held' });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  assert.equal(sent.headers.get('pix-outcome'), 'accepted');
  const { transaction_id: id, end_to_end: endToEnd } = sent.body;
  const held = { status: 'PROCESSING', detail: 'UNDER_ANALYSIS' };
  assert.deepEqual(sent.body, { transaction_id: id, ...held, end_to_end: endToEnd });
  const repeated = await app.send(user, body, { key: 'held' });
  assert.deepEqual(repeated.body, sent.body);
  const { token } = user;
  assert.deepEqual((await app.call(`/pix/${id}`, { token })).body, { transaction_id: id, ...held });
  const list = await app.call('/pix', { token });
  assert.equal(list.body.items[0].detail, 'UNDER_ANALYSIS');

  await app.bank.settle(endToEnd);
  await app.settled(id);
  const ended = { transaction_id: id, status: 'COMPLETED' };
  assert.deepEqual((await app.call(`/pix/${id}`, { token })).body, ended);
});

test('a payment whose outcome is unknown for 15 minutes is said to be checked', async (t) => {
  const user = await givenCustomer(app);
  t.mock.method(app.context.provider, 'statement', () => Promise.reject(new Error('away')));
  const unknown = { pix_key: 'silent@ponte.test', amount: 10 };
  const sent = await app.send(user, unknown, { key: 'doubtful' });
  const { transaction_id: id } = sent.body;
  await app.rows(
    `update pix_transactions set phase = 'UNKNOWN', outcome = 'unknown' where id = $1`,
    [id],
  );
  const { token } = user;
  const seen = async (): Promise<unknown[]> => {
    const view = await app.call(`/pix/${id}`, { token });
    const list = await app.call('/pix', { token });
    const repeated = await app.send(user, unknown, { key: 'doubtful' });
    return [view, repeated].map(({ body: { detail } }) => detail).concat(list.body.items[0].detail);
  };
  const at = 'select created_at from pix_transactions where id = $1';
  const [row] = await app.rows<{ created_at: Date }>(at, [id]);
  const createdAt = row?.created_at.getTime() ?? NaN;
  await app.clock.skip(createdAt + 15 * 60_000 - 1 - app.clock.now().getTime());
  assert.deepEqual(await seen(), [undefined, undefined, undefined]);
  await app.clock.advance(1);
  const checked = ['BEING_CHECKED', 'BEING_CHECKED', 'BEING_CHECKED'];
  assert.deepEqual(await seen(), checked);
  t.mock.method(app.context.claimedKeys, 'seenAt', () => null);
  assert.deepEqual(await seen(), checked);
});

test('a process that has not seen the key repeats the detail', async (t) => {
  const user = await givenCustomer(app);
  const sent = await app.send(user, body, { key: 'held' });
  t.mock.method(app.context.claimedKeys, 'seenAt', () => null);
  assert.deepEqual((await app.send(user, body, { key: 'held' })).body, sent.body);
});

test('an event says it, too, once, and moves no money', async () => {
  const user = await givenCustomer(app);
  const sent = await app.send(user, { pix_key: 'silent@ponte.test', amount: 10 });
  const { transaction_id: id, end_to_end: endToEnd } = sent.body;
  for (const count of [1, 2]) {
    const event = {
      event: 'PIX_PAYMENT_OUT',
      id: `event-${count}`,
      endToEnd,
      status: 'UNDER_ANALYSIS',
      amount: 10,
    };
    await app.call('/webhooks/provider', { body: event });
    const results = await app.resultsFor(id, count);
    assert.equal(results.at(-1), count === 1 ? 'applied' : 'already');
  }
  assert.equal((await app.view(user, id)).body.detail, 'UNDER_ANALYSIS');
  const { phase, status } = await app.stored(id);
  assert.deepEqual([phase, status], ['ACCEPTED', 'PROCESSING']);
});

test('without the feature no analysis is shown', async () => {
  const user = await givenCustomer(off);
  const { status, body: response } = await off.send(user, body);
  assert.deepEqual([status, response.status, response.detail], [200, 'PROCESSING', undefined]);
  const { transaction_id: id } = response;
  const stored = await off.rows('select held_at from pix_transactions where id = $1', [id]);
  assert.deepEqual(stored, [{ held_at: null }]);
});
