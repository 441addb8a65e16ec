/** The look-ups of a user: they stop who reads the directory, and never who pays. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestResponse } from '../../support/app.ts';
import { givenCustomer, logIn, type TestUser } from '../../support/factories.ts';
import { eventually } from '../../support/eventually.ts';
import { leaveLookUps, startPixApp } from './pix-app.ts';

const app = await startPixApp({ environment: { JOBS: 'off' } });

let named = 0;

/** A key that nobody has looked up. */
function newKey(): string {
  named += 1;
  return `payee${named}@example.com`;
}

function lookUp({ token }: TestUser, key = newKey()): Promise<TestResponse> {
  return app.call('/pix/lookup', { token, body: { pix_key: key } });
}

/** More than the account has: the bank refuses the payment, and the payee is known. */
const tooMuch = 900_000;

function send(user: TestUser, key = newKey(), amount = tooMuch): Promise<TestResponse> {
  return app.send(user, { pix_key: key, amount });
}

async function statuses(calls: number, call: () => Promise<TestResponse>): Promise<number[]> {
  const all: number[] = [];
  for (let nth = 0; nth < calls; nth += 1) all.push((await call()).status);
  return all;
}

const count = (all: readonly number[], status: number): number =>
  all.filter((one) => one === status).length;

const leave = (lookUps: number, user: TestUser) => leaveLookUps(app, lookUps, user);

test('looking up, confirming and paying is never refused, with one look-up that is left', async () => {
  const user = await givenCustomer(app);
  await leave(1, user);
  for (let nth = 0; nth < 5; nth += 1) {
    const key = newKey();
    const { status, body } = await lookUp(user, key);
    assert.equal(status, 200, `look-up ${nth}`);
    const paid = await app.send(user, { pix_key: key, amount: 1, lookup_id: body.lookup_id });
    assert.equal(paid.status, 200, `payment ${nth}`);
  }
});

test('sends to payees who are looked up alone are given back as well', async () => {
  const user = await givenCustomer(app);
  await leave(1, user);
  assert.equal(count(await statuses(5, () => send(user, newKey(), 1)), 200), 5);
});

test('so are sends that the bank completes at once', async (t) => {
  const user = await givenCustomer(app);
  const { provider } = app.context;
  const pay = provider.pay.bind(provider);
  t.mock.method(provider, 'pay', async (request: never) => ({
    ...(await pay(request)),
    status: 'COMPLETED',
  }));
  await leave(1, user);
  assert.equal(count(await statuses(5, () => send(user, newKey(), 1)), 200), 5);
});

test('sends find no more payees than look-ups do', async (t) => {
  const user = await givenCustomer(app);
  await leave(3, user);
  const lookUps = t.mock.method(app.bank, 'lookUpKey');
  assert.deepEqual(await statuses(5, () => send(user)), [502, 502, 502, 429, 429]);
  assert.equal(lookUps.mock.callCount(), 3);
});

test('after the look-ups are used up, sends find nobody, and nothing of them is stored', async (t) => {
  const user = await givenCustomer(app);
  await leave(0, user);
  const lookUps = t.mock.method(app.bank, 'lookUpKey');
  const key = 'same-order';
  const body = { pix_key: newKey(), amount: 1 };
  const refused = await app.send(user, body, { key });
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get('pix-outcome'), 'unknown');
  assert.equal(refused.headers.get('pix-next'), 'repeat');
  assert.equal(refused.headers.get('retry-after'), '30');
  assert.equal(lookUps.mock.callCount(), 0);
  assert.equal(await app.countRows(user), 0);
  await app.clock.advance(30_000);
  assert.equal((await app.send(user, body, { key })).status, 200);
});

test('a send with a fresh look-up, or to a payee paid before, is never refused', async () => {
  const user = await givenCustomer(app);
  const known = newKey();
  assert.equal((await send(user, known, 1)).status, 200);
  const key = newKey();
  const { body } = await lookUp(user, key);
  await leave(0, user);
  const paid = await app.send(user, { pix_key: key, amount: 1, lookup_id: body.lookup_id });
  assert.equal(paid.status, 200);
  assert.equal(count(await statuses(3, () => send(user, known, 1)), 200), 3);
  // What was not counted is not given back: the payments above have opened no look-ups.
  assert.deepEqual(await statuses(3, () => lookUp(user)), [200, 429, 429]);
});

test('an order that is stored is answered, however many look-ups are left', async () => {
  const user = await givenCustomer(app);
  const body = { pix_key: newKey(), amount: 1 };
  const first = await app.send(user, body, { key: 'stored' });
  await leave(0, user);
  const again = await app.send(user, body, { key: 'stored' });
  assert.deepEqual([again.status, again.body], [200, first.body]);
});

test('there are ninety look-ups, and two come back each minute', async () => {
  const user = await givenCustomer(app);
  const all = await statuses(91, () => lookUp(user));
  assert.deepEqual([count(all, 200), all.at(-1)], [90, 429]);
  await app.clock.advance(60_000);
  assert.deepEqual(await statuses(3, () => lookUp(user)), [200, 200, 429]);
});

test('keys that are missed at once cost as much as one by one', async (t) => {
  const user = await givenCustomer(app);
  const known = newKey();
  assert.equal((await send(user, known, 1)).status, 200);
  const missing = { outcome: 'refused', refusal: { kind: 'not_found', reason: 'x' } } as const;
  const { promise, resolve } = Promise.withResolvers<typeof missing>();
  const mocked = t.mock.method(app.bank, 'lookUpKey', () => promise);
  const lookedUp = Array.from({ length: 30 }, () => lookUp(user));
  await eventually(() => mocked.mock.callCount() === 30, 'thirty look-ups at once');
  resolve(missing);
  const missed = await Promise.all(lookedUp);
  assert.equal(
    count(
      missed.map(({ status }) => status),
      502,
    ),
    30,
  );
  mocked.mock.restore();
  assert.equal((await send(user, known, 1)).status, 200, 'a payee who was paid before');
  // Thirty misses took 600 look-ups, and two a minute come back: until ten are left and one more.
  await app.clock.advance((511 / 2 - 1) * 60_000);
  const token = await logIn(app, user.email);
  assert.equal((await lookUp({ ...user, token })).status, 429);
  await app.clock.advance(60_000);
  assert.equal((await lookUp({ ...user, token })).status, 200);
});

test('a missing key costs as much at a payee who was paid before', async (t) => {
  const user = await givenCustomer(app);
  const key = newKey();
  assert.equal((await send(user, key, 1)).status, 200);
  await leave(21, user);
  const missing = { outcome: 'refused', refusal: { kind: 'not_found', reason: 'x' } } as const;
  const mocked = t.mock.method(app.bank, 'lookUpKey', async () => missing);
  assert.equal((await send(user, key, 1)).status, 502);
  mocked.mock.restore();
  assert.deepEqual(await statuses(2, () => lookUp(user)), [200, 429]);
});

for (const [what, type] of [
  ['in look-ups', (user: TestUser, key: string) => lookUp(user, key)],
  ['in sends', (user: TestUser, key: string) => send(user, key, 1)],
] as const) {
  test(`four typing errors ${what} do not stop a payment at a till`, async (t) => {
    const user = await givenCustomer(app);
    const missing = { outcome: 'refused', refusal: { kind: 'not_found', reason: 'x' } } as const;
    const mocked = t.mock.method(app.bank, 'lookUpKey', async () => missing);
    for (let nth = 0; nth < 4; nth += 1) {
      assert.equal((await type(user, newKey())).body.code, 'PIX_KEY_NOT_FOUND');
    }
    mocked.mock.restore();
    assert.equal((await send(user, newKey(), 1)).status, 200);
    assert.equal((await lookUp(user)).status, 200);
  });
}
