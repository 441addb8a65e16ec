/** Orders wait for their turn before they are paid: a process opens few connections a second. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { PaymentTurns } from '../../../src/process/payment-turns.ts';
import { givenCustomer } from '../../support/factories.ts';
import { eventually, startPixApp } from './pix-app.ts';

const app = await startPixApp();

const body = { pix_key: 'ana@example.com', amount: 1 };

/** The phases of the orders of a user, and whether a process works on each. */
async function phasesOf({ id }: { readonly id: number }): Promise<string[]> {
  const rows = await app.rows<{ phase: string; is_claimed: boolean }>(
    `select phase, claimed_until is not null and phase = 'RESERVED' as is_claimed
       from pix_transactions where user_id = $1 order by phase, 2`,
    [id],
  );
  return rows.map(({ phase, is_claimed: isClaimed }) => (isClaimed ? `${phase} claimed` : phase));
}

test('an order that waits for its turn is not PAYING, and is paid at its turn', async () => {
  const user = await givenCustomer(app);
  Object.assign(app.context, { paymentTurns: new PaymentTurns(app.clock, 1) });
  assert.equal((await app.send(user, body)).status, 200);
  const waiting = app.send(user, body);
  await app.waiting(1_000);
  assert.deepEqual(await phasesOf(user), ['ACCEPTED', 'RESERVED claimed']);
  assert.equal((await app.executed(user)).length, 1);
  await app.clock.advance(1_000);
  assert.equal((await waiting).status, 200);
  assert.equal((await app.executed(user)).length, 2);
});

test('an order that would wait too long is refused, and the same key pays it later', async () => {
  const user = await givenCustomer(app);
  const turns = new PaymentTurns(app.clock, 1);
  for (let nth = 0; nth < 6; nth += 1) turns.take();
  Object.assign(app.context, { paymentTurns: turns });
  const key = randomUUID();
  const refused = await app.send(user, body, { key });
  const { headers } = refused;
  const said = ['pix-outcome', 'pix-next', 'retry-after'].map((name) => headers.get(name));
  assert.deepEqual([refused.status, ...said], [503, 'unknown', 'repeat', '5']);
  assert.deepEqual(await phasesOf(user), ['RESERVED']);
  assert.equal((await app.executed(user)).length, 0);
  await app.clock.advance(6_000);
  assert.equal((await app.send(user, body, { key })).status, 200);
  assert.deepEqual(await phasesOf(user), ['ACCEPTED']);
  assert.equal((await app.executed(user)).length, 1);
});

test('a repeat within a call takes a turn without a wait', async (t) => {
  const user = await givenCustomer(app);
  const turns = new PaymentTurns(app.clock, 1);
  Object.assign(app.context, { paymentTurns: turns });
  const { pay } = app.bank;
  let calls = 0;
  t.mock.method(app.bank, 'pay', async (...call: Parameters<typeof pay>) => {
    calls += 1;
    if (calls === 1) throw new Error('the bank fails once');
    return pay.apply(app.bank, call);
  });
  const taken = t.mock.method(turns, 'take');
  assert.equal((await app.throughTime(app.send(user, body))).status, 200);
  assert.deepEqual([calls, taken.mock.callCount()], [2, 2]);
  await eventually(async () => (await phasesOf(user)).every((phase) => phase !== 'PAYING'));
});

test('a send by a fresh look-up waits in RESERVED, too, and takes one turn', async (t) => {
  const user = await givenCustomer(app);
  const { body: found } = await app.call('/pix/lookup', {
    token: user.token,
    body: { pix_key: body.pix_key },
  });
  const turns = new PaymentTurns(app.clock, 1);
  const taken = t.mock.method(turns, 'take');
  Object.assign(app.context, { paymentTurns: turns });
  assert.equal((await app.send(user, body)).status, 200);
  const waiting = app.send(user, { ...body, lookup_id: found.lookup_id });
  await app.waiting(1_000);
  assert.deepEqual(await phasesOf(user), ['ACCEPTED', 'RESERVED claimed']);
  await app.clock.advance(1_000);
  assert.equal((await waiting).status, 200);
  assert.equal(taken.mock.callCount(), 2);
  await app.clock.advance(1_000);
  const { body: next } = await app.call('/pix/lookup', {
    token: user.token,
    body: { pix_key: body.pix_key },
  });
  assert.equal((await app.send(user, { ...body, lookup_id: next.lookup_id })).status, 200);
  assert.equal(taken.mock.callCount(), 3);
});
