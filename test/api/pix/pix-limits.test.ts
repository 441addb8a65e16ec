/** The customer's own limits: what is shown, what a change does, and what a send may exceed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setLimits } from '../../../src/operator/spending-limits.ts';
import { startTestApp, type TestResponse } from '../../support/app.ts';
import { givenCustomer, password, type TestUser } from '../../support/factories.ts';
import { startPixApp } from './pix-app.ts';
import { showTime } from './shown-time.ts';

const environment = { PIX_LIMIT_DAY: '1000.00', PIX_LIMIT_NIGHT: '300.00' };
const app = await startPixApp({ environment });
const unlimited = await startTestApp({ environment: { JOBS: 'off' } });
const caller = { operator: 'ana', progress: () => undefined };

type Service = Pick<typeof unlimited, 'call'>;

function read(user: TestUser, service: Service = app): Promise<TestResponse> {
  return service.call('/pix/limits', { token: user.token });
}

function change(user: TestUser, body: object, service: Service = app): Promise<TestResponse> {
  return service.call('/pix/limits', {
    method: 'PUT',
    token: user.token,
    body: { password, ...body },
  });
}

function send(user: TestUser, amount: number, service: Service = app): Promise<TestResponse> {
  const body = { pix_key: 'ana@example.com', amount };
  return service.call('/pix/send', { token: user.token, key: `send-${Math.random()}`, body });
}

const readEvents = ({ id }: TestUser) =>
  app.rows('select kind from security_events where user_id = $1 and kind = $2', [
    id,
    'limits_changed',
  ]);

const noon = '2026-05-24T12:00:00.000-03:00';
const morning = '2026-05-25T09:00:00.000Z';
const evening = '2026-05-24T23:00:00.000Z';

test('the limits are shown, what is left of them, and when they are renewed', async (t) => {
  const user = await showTime(app, t)(noon, await givenCustomer(app));
  assert.equal((await send(user, 150.5)).status, 200);
  const response = await read(user);
  assert.equal(response.status, 200);
  const limits = {
    day: { limit: 1_000, left: 849.5, own: null, maximum: 1_000, renews_at: morning },
    night: { limit: 300, left: 300, own: null, maximum: 300, renews_at: evening },
  };
  assert.deepEqual(response.body, {
    period: 'day',
    ...limits,
    companies: limits,
    own_document: limits,
    night_from: 20,
  });
});

test('at night the sends of the night count, and the day is whole', async (t) => {
  const pass = showTime(app, t);
  let user = await pass(noon, await givenCustomer(app));
  assert.equal((await send(user, 900)).status, 200);
  user = await pass('2026-05-24T23:30:00.000-03:00', user);
  assert.equal((await send(user, 20)).status, 200);
  const { body } = await read(user);
  assert.equal(body.period, 'night');
  assert.deepEqual([body.day.left, body.day.renews_at], [1_000, morning]);
  assert.deepEqual([body.night.left, body.night.renews_at], [280, '2026-05-25T23:00:00.000Z']);
});

test('less applies at once to sends, and is a security event', async (t) => {
  const user = await showTime(app, t)(noon, await givenCustomer(app));
  assert.equal((await send(user, 60)).status, 200);
  const response = await change(user, { day: 100, night: 0 });
  assert.equal(response.status, 200, JSON.stringify(response.body));
  assert.deepEqual(
    [response.body.day, response.body.night],
    [
      { limit: 100, left: 40, own: 100, maximum: 1_000, renews_at: morning },
      { limit: 0, left: 0, own: 0, maximum: 300, renews_at: evening },
    ],
  );
  const refused = await send(user, 40.01);
  assert.deepEqual(refused.body.errors, {
    amount: ['The amount exceeds your limit during the day: R$ 40.00 are left until 20:00.'],
  });
  const headers = ['pix-outcome', 'pix-next'].map((name) => refused.headers.get(name));
  assert.deepEqual(headers, ['not_sent', 'new-key']);
  assert.match(refused.body.transaction_id, /^[0-9a-f-]{36}$/);
  assert.equal((await send(user, 40)).status, 200);
  assert.equal((await readEvents(user)).length, 1);
});

test('more applies after a day, and the same request again does not delay it', async (t) => {
  const pass = showTime(app, t);
  let user = await pass('2026-05-24T09:00:00.000-03:00', await givenCustomer(app));
  await change(user, { day: 10 });
  const raised = await change(user, { day: 500, night_from: 22 });
  const pending = { amount: 500, applies_at: '2026-05-25T12:00:00.000Z' };
  assert.deepEqual(raised.body.day.pending_own, pending);
  assert.deepEqual(raised.body.pending_night_from, {
    night_from: 22,
    applies_at: '2026-05-25T12:00:00.000Z',
  });
  user = await pass('2026-05-24T10:00:00.000-03:00', user);
  const again = await change(user, { day: 500, night_from: 22 });
  assert.deepEqual(again.body, raised.body);
  assert.equal((await readEvents(user)).length, 2, 'a repeat is no event');
  user = await pass('2026-05-25T08:59:59.999-03:00', user);
  assert.equal((await send(user, 10.01)).status, 422);
  user = await pass('2026-05-25T09:00:00.000-03:00', user);
  const { body } = await read(user);
  assert.deepEqual([body.day.own, body.day.pending_own, body.night_from], [500, undefined, 22]);
  assert.equal((await send(user, 500)).status, 200);
});

test('a raise that waits is cancelled by the amount that applies', async () => {
  const user = await givenCustomer(app);
  await change(user, { day: 10 });
  assert.ok((await change(user, { day: null })).body.day.pending_own);
  const { body } = await change(user, { day: 10 });
  assert.deepEqual([body.day.own, body.day.pending_own], [10, undefined]);
});

test('removing the own limit is a raise', async () => {
  const user = await givenCustomer(app);
  await change(user, { night: 10 });
  const { body } = await change(user, { night: null });
  assert.deepEqual([body.night.limit, body.night.pending_own.amount], [10, null]);
});

test('no amount exceeds what the bank allows, which stays the ceiling', async (t) => {
  const pass = showTime(app, t);
  let user = await pass('2026-05-24T09:00:00.000-03:00', await givenCustomer(app));
  const refused = await change(user, { day: 1_000.01, night: 300.01 });
  assert.equal(refused.status, 422);
  assert.deepEqual(refused.body.errors, {
    day: ['The bank allows you at most R$ 1,000.00.'],
    night: ['The bank allows you at most R$ 300.00.'],
  });
  assert.deepEqual(await readEvents(user), []);
  await change(user, { day: 800 });
  await setLimits.run(app.context, { user: user.email, reason: 'ticket 7', day: 50_000 }, caller);
  const lowered = await read(user);
  assert.deepEqual(
    [lowered.body.day.limit, lowered.body.day.own, lowered.body.day.maximum],
    [500, 800, 500],
  );
  assert.equal((await send(user, 500.01)).status, 422);
  await setLimits.run(app.context, { user: user.email, reason: 'ticket 7', day: null }, caller);
  const waiting = await read(user);
  assert.deepEqual(waiting.body.day.pending_maximum, {
    amount: 1_000,
    applies_at: '2026-05-25T12:00:00.000Z',
  });
  user = await pass('2026-05-25T09:00:00.000-03:00', user);
  assert.equal((await read(user)).body.day.limit, 800, "the bank's raise is not the customer's");
});

test('the refusal is in Portuguese for an app that asks so', async () => {
  const { token } = await givenCustomer(app);
  const headers = { 'accept-language': 'pt-BR' };
  const body = { password, day: 1_500 };
  const response = await app.call('/pix/limits', { method: 'PUT', token, body, headers });
  assert.deepEqual(response.body.errors, { day: ['O banco permite no máximo R$ 1.000,00.'] });
});

test('every invalid field is named', async () => {
  const { token } = await givenCustomer(app);
  const body = { password, day: -1, night: 10.005, night_from: 21 };
  const response = await app.call('/pix/limits', { method: 'PUT', token, body });
  assert.equal(response.status, 422);
  assert.deepEqual(Object.keys(response.body.errors).sort(), ['day', 'night', 'night_from']);
  const query = await app.call('/pix/limits?month=1', { token });
  assert.deepEqual(Object.keys(query.body.errors), ['month']);
});

test('a change of nothing changes nothing', async () => {
  const user = await givenCustomer(app);
  const before = await read(user);
  assert.deepEqual((await change(user, {})).body, before.body);
  assert.deepEqual((await change(user, { night_from: 20, day: null })).body, before.body);
  assert.deepEqual(await readEvents(user), []);
});

test("an operator removes the customer's own limits, which is a raise", async () => {
  const user = await givenCustomer(app);
  await change(user, { day: 10, night: 300 });
  const reset = { user: user.email, reason: 'ticket 7', resetsOwn: true };
  const view = await setLimits.run(app.context, reset, caller);
  assert.deepEqual([view.day.own, view.day.nextOwn?.amount], ['10.00', null]);
  assert.deepEqual([view.night.own, view.night.nextOwn], [null, null]);
});

test("without limits of the bank, the customer's own applies to concurrent sends", async () => {
  const user = await givenCustomer(unlimited);
  const none = await read(user, unlimited);
  assert.deepEqual(
    [none.body.day.limit, none.body.day.left, none.body.day.maximum],
    [null, null, null],
  );
  assert.equal((await send(user, 5_000, unlimited)).status, 200);
  const { body } = await change(user, { day: 5_100, night: 5_100 }, unlimited);
  assert.equal(body[body.period].left, 100);
  const responses = await Promise.all(Array.from({ length: 9 }, () => send(user, 30, unlimited)));
  const statuses = responses.map(({ status }) => status).toSorted((one, other) => one - other);
  assert.deepEqual(statuses, [200, 200, 200, 422, 422, 422, 422, 422, 422]);
  assert.equal((await read(user, unlimited)).body[body.period].left, 10);
});

test('a customer who has set no limit, at a bank without limits, costs no row', async () => {
  const user = await givenCustomer(unlimited);
  const responses = await Promise.all(Array.from({ length: 5 }, () => send(user, 30, unlimited)));
  assert.ok(responses.every(({ status }) => status === 200));
  assert.deepEqual(
    await unlimited.rows('select 1 from pix_limits where user_id = $1', [user.id]),
    [],
  );
});

test('limits need a session', async () => {
  const user = await givenCustomer(app);
  assert.equal((await app.call('/auth/logout', { method: 'POST', token: user.token })).status, 200);
  assert.equal((await read(user)).status, 401);
  assert.equal((await change(user, { day: 1 })).status, 401);
});
