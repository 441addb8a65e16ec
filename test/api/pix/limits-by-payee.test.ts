/** Limits by payee: what persons, companies and the own document may get, at night and by day. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { LookUpKeyRequest } from '../../../src/provider/provider.ts';
import { setLimits } from '../../../src/operator/spending-limits.ts';
import { startTestApp, type TestResponse } from '../../support/app.ts';
import { givenCustomer, password, type TestUser } from '../../support/factories.ts';
import { startPixApp } from './pix-app.ts';
import { showTime } from './shown-time.ts';

const environment = {
  PIX_LIMIT_DAY: '1000.00',
  PIX_LIMIT_NIGHT: '100.00',
  PIX_LIMIT_NIGHT_COMPANY: '500.00',
  PIX_LIMIT_NIGHT_OWN: '800.00',
};
const app = await startPixApp({ environment });
const caller = { operator: 'ana', progress: () => undefined };

const night = '2026-05-24T21:00:00.000-03:00';
const noon = '2026-05-24T12:00:00.000-03:00';
const key = 'ana@example.com';
const company = '11222333000181';
const stranger = '12345678909';

/** The directory names this document as the owner of every key, in each service. */
function ownedBy(t: TestContext, document: string | null, service: typeof app | undefined = app) {
  const { provider } = service.context;
  const { lookUpKey } = provider;
  return t.mock.method(provider, 'lookUpKey', async (request: LookUpKeyRequest) => ({
    ...(await lookUpKey.call(provider, request)),
    document,
  }));
}

async function documentOf({ id }: TestUser): Promise<string> {
  const [account] = await app.rows<{ document: string }>(
    'select document from accounts where user_id = $1',
    [id],
  );
  assert.ok(account);
  return account.document;
}

const send = (user: TestUser, amount: number, more: object = {}) =>
  app.send(user, { pix_key: key, amount, ...more });

const read = (user: TestUser) => app.call('/pix/limits', { token: user.token });

const change = (user: TestUser, body: object) =>
  app.call('/pix/limits', { method: 'PUT', token: user.token, body: { password, ...body } });

async function lookUp(user: TestUser): Promise<string> {
  const { status, body } = await app.call('/pix/lookup', {
    token: user.token,
    body: { pix_key: key },
  });
  assert.equal(status, 200, JSON.stringify(body));
  return body.lookup_id;
}

function refusedWith(response: TestResponse, left: string): void {
  assert.equal(response.status, 422, JSON.stringify(response.body));
  assert.match(response.body.errors.amount[0], new RegExp(`R\\$ ${left} are left until`));
  const headers = ['pix-outcome', 'pix-next'].map((name) => response.headers.get(name));
  assert.deepEqual(headers, ['not_sent', 'new-key']);
}

const classOf = async (id: string) =>
  (await app.rows('select payee_class, failure_code from pix_transactions where id = $1', [id]))[0];

test('at night a person is refused once the look-up has named them, and the key is closed', async (t) => {
  const user = await showTime(app, t)(night, await givenCustomer(app));
  ownedBy(t, stranger);
  const rent = () => app.send(user, { pix_key: key, amount: 100.01 }, { key: 'rent' });
  const refused = await rent();
  refusedWith(refused, '100.00');
  const [{ id } = { id: '' }] = await app.rows<{ id: string }>(
    'select id from pix_transactions where user_id = $1',
    [user.id],
  );
  assert.deepEqual(await app.timeline(id), ['RESERVED', 'SETTLED limit_exceeded']);
  assert.equal((await classOf(id))?.['failure_code'], 'LIMIT_EXCEEDED');
  assert.deepEqual(await app.executed(user), []);
  const repeat = await rent();
  assert.deepEqual([repeat.status, repeat.body.status], [200, 'FAILED']);
  assert.equal((await send(user, 100)).status, 200, 'what is refused does not count');
});

test('at night a company and the own document have limits of their own, each summed alone', async (t) => {
  const user = await showTime(app, t)(night, await givenCustomer(app));
  const own = await documentOf(user);
  const steps: readonly (readonly [document: string | null, amount: number, left?: string])[] = [
    [company, 400],
    [own, 800],
    [stranger, 100],
    [company, 100.01, '100.00'],
    [own, 0.01, '0.00'],
    [stranger, 0.01, '0.00'],
    [company, 100],
  ];
  for (const [document, amount, left] of steps) {
    const { mock } = ownedBy(t, document);
    const response = await send(user, amount);
    if (left === undefined) assert.equal(response.status, 200, JSON.stringify(response.body));
    else refusedWith(response, left);
    mock.restore();
  }
});

test('a document that is masked or absent is a person, also the own one', async (t) => {
  const user = await showTime(app, t)(night, await givenCustomer(app));
  const own = await documentOf(user);
  const masked = `***.${own.slice(3, 6)}.${own.slice(6, 9)}-**`;
  for (const document of [masked, null]) {
    const { mock } = ownedBy(t, document);
    refusedWith(await send(user, 100.01), '100.00');
    mock.restore();
  }
});

test('a look-up that the payer has confirmed is judged at the claim, and by its class', async (t) => {
  const user = await showTime(app, t)(night, await givenCustomer(app));
  const toPerson = ownedBy(t, stranger);
  const person = await lookUp(user);
  toPerson.mock.restore();
  const toCompany = ownedBy(t, company);
  const shop = await lookUp(user);
  toCompany.mock.restore();
  const directory = t.mock.method(app.bank, 'lookUpKey');
  refusedWith(await send(user, 100.01, { lookup_id: person }), '100.00');
  const paid = await send(user, 500, { lookup_id: shop });
  assert.equal(paid.status, 200, JSON.stringify(paid.body));
  assert.equal((await classOf(paid.body.transaction_id))?.['payee_class'], 'company');
  assert.equal(directory.mock.callCount(), 0);
});

test('a key that shows its owner is refused without a look-up, where no payee may get it', async (t) => {
  const user = await showTime(app, t)(night, await givenCustomer(app));
  const directory = t.mock.method(app.bank, 'lookUpKey');
  refusedWith(await send(user, 800.01), '800.00');
  refusedWith(await send(user, 800.01, { pix_key: company }), '800.00');
  assert.equal(directory.mock.callCount(), 0);
});

test('by day, where no class has a limit of its own, all are summed together', async (t) => {
  const user = await showTime(app, t)(noon, await givenCustomer(app));
  ownedBy(t, company);
  assert.equal((await send(user, 900)).status, 200);
  t.mock.restoreAll();
  const later = await showTime(app, t)(noon, user);
  ownedBy(t, stranger);
  refusedWith(await send(later, 100.01), '100.00');
});

test('a send to nobody known counts towards every class', async (t) => {
  const user = await showTime(app, t)(night, await givenCustomer(app));
  ownedBy(t, company);
  const sent = await send(user, 30);
  // As release 1.2.0 stores it.
  await app.rows('update pix_transactions set payee_class = null where id = $1', [
    sent.body.transaction_id,
  ]);
  const { body } = await read(user);
  const left = [body.night.left, body.companies.night.left, body.own_document.night.left];
  assert.deepEqual(left, [70, 470, 770]);
});

test('the limits of all classes are shown, and what is left of them', async (t) => {
  const user = await showTime(app, t)(night, await givenCustomer(app));
  ownedBy(t, company);
  assert.equal((await send(user, 120)).status, 200);
  const { body } = await read(user);
  const renewed = { day: '2026-05-25T09:00:00.000Z', night: '2026-05-25T23:00:00.000Z' };
  const day = { limit: 1_000, left: 1_000, own: null, maximum: 1_000, renews_at: renewed.day };
  const of = (maximum: number, left: number) => ({
    day,
    night: { limit: maximum, left, own: null, maximum, renews_at: renewed.night },
  });
  const { period, companies, own_document: own, ...persons } = body;
  assert.equal(period, 'night');
  assert.deepEqual({ day: persons.day, night: persons.night }, of(100, 100));
  assert.deepEqual(companies, of(500, 380));
  assert.deepEqual(own, of(800, 800));
});

test("a limit of the customer covers every class, until the customer sets the class's own", async (t) => {
  const pass = showTime(app, t);
  let user = await pass(night, await givenCustomer(app));
  ownedBy(t, company);
  assert.equal((await change(user, { night: 60 })).body.companies.night.limit, 60);
  refusedWith(await send(user, 60.01), '60.00');
  const raised = await change(user, { companies: { night: 300 } });
  assert.deepEqual(
    [raised.body.companies.night.limit, raised.body.companies.night.pending_own],
    [60, { amount: 300, applies_at: '2026-05-26T00:00:00.000Z' }],
  );
  user = await pass('2026-05-25T21:00:00.000-03:00', user);
  assert.equal((await send(user, 300)).status, 200);
  refusedWith(await send(user, 0.01), '0.00');
  const { body } = await read(user);
  assert.deepEqual([body.night.left, body.own_document.night.left], [60, 60]);
});

test('a class that gets less than the shared limit leaves its sum after 24 hours', async (t) => {
  const pass = showTime(app, t);
  let user = await pass(night, await givenCustomer(app));
  ownedBy(t, company);
  await change(user, { night: 60 });
  const set = await change(user, { companies: { night: 50 } });
  assert.equal(set.body.companies.night.own, 50);
  assert.equal((await send(user, 50)).status, 200);
  assert.equal((await read(user)).body.night.left, 10, 'it counts towards the shared limit');
  user = await pass('2026-05-25T21:00:00.000-03:00', user);
  assert.equal((await send(user, 50)).status, 200);
  assert.equal((await read(user)).body.night.left, 60);
});

test('a class that the customer sets is refused above what the bank allows to it', async () => {
  const user = await givenCustomer(app);
  const refused = await change(user, {
    companies: { night: 500.01 },
    own_document: { night: 800, day: 1_000.01 },
  });
  assert.deepEqual(refused.body.errors, {
    'companies.night': ['The bank allows you at most R$ 500.00.'],
    'own_document.day': ['The bank allows you at most R$ 1,000.00.'],
  });
  const [stored] = await app.rows('select 1 from pix_limits where user_id = $1', [user.id]);
  assert.equal(stored, undefined, 'nothing is changed');
});

test('a limit that an operator sets for a user covers every class', async (t) => {
  const user = await showTime(app, t)(night, await givenCustomer(app));
  const request = { user: user.email, night: 4_000, reason: 'ticket 7' };
  const view = await setLimits.run(app.context, request, caller);
  assert.deepEqual([view.night.applies, view.companies.night], ['40.00', null]);
  ownedBy(t, company);
  assert.equal((await send(user, 30)).status, 200);
  refusedWith(await send(user, 10.01), '10.00');
});

test('a customer may limit companies where the bank has no limit at all', async (t) => {
  const unlimited = await startPixApp({ environment: { JOBS: 'off' } });
  const user = await givenCustomer(unlimited);
  const body = { password, companies: { day: 20, night: 20 } };
  const set = await unlimited.call('/pix/limits', { method: 'PUT', token: user.token, body });
  assert.deepEqual([set.body.companies.day.limit, set.body.day.limit], [20, null]);
  const pay = (amount: number) => unlimited.send(user, { pix_key: key, amount });
  const toPerson = ownedBy(t, stranger, unlimited);
  assert.equal((await pay(500)).status, 200);
  toPerson.mock.restore();
  ownedBy(t, company, unlimited);
  assert.equal((await pay(20)).status, 200);
  refusedWith(await pay(0.01), '0.00');
});

test('a limit that falls while the directory is asked applies', async (t) => {
  const user = await showTime(app, t)(night, await givenCustomer(app));
  ownedBy(t, stranger);
  const { lookUpKey } = app.bank;
  t.mock.method(app.bank, 'lookUpKey', async (...question: Parameters<typeof lookUpKey>) => {
    await change(user, { night: 5 });
    return lookUpKey.apply(app.bank, question);
  });
  refusedWith(await send(user, 50), '5.00');
  assert.deepEqual(await app.executed(user), []);
});

test('sends at the same time do not exceed the limit of their payee together', async (t) => {
  // Another process, where the database takes one.
  const { database } = app;
  const isShared = database.databaseUrl !== undefined;
  const other = isShared
    ? await startTestApp({ environment: { ...environment, JOBS: 'off' }, database })
    : app;
  const services = isShared ? [app, other] : [app];
  const user = await showTime(app, t)(night, await givenCustomer(app));
  for (const service of services) {
    if (service !== app) t.mock.method(service.clock, 'now', () => app.clock.now());
    const { provider } = service.context;
    const { lookUpKey } = provider;
    t.mock.method(provider, 'lookUpKey', async (request: LookUpKeyRequest) => ({
      ...(await lookUpKey.call(provider, request)),
      document: request.key === key ? stranger : company,
    }));
  }
  const orders = Array.from({ length: 12 }, (_, place) => ({
    pix_key: place % 3 === 0 ? 'loja@example.com' : key,
    amount: place % 3 === 0 ? 200 : 40,
  }));
  const responses = await Promise.all(
    orders.map((body, place) =>
      (place % 2 === 0 ? app : other).call('/pix/send', {
        token: user.token,
        key: `at-once-${place}`,
        body,
      }),
    ),
  );
  const sent = orders.filter((_, place) => responses[place]?.status === 200);
  const refused = responses.filter(({ status }) => status === 422);
  assert.equal(sent.length + refused.length, orders.length);
  const count = (amount: number) => sent.filter((order) => order.amount === amount).length;
  // 100 to persons and 500 to companies: each that was refused would have exceeded its limit.
  assert.deepEqual([count(40), count(200)], [2, 2]);
});
