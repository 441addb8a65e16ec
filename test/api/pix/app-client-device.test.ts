/** The client for apps on the devices that there are: storages, clocks, proxies and uploads. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { UnreadablePaymentsError, type Clock } from '../../../contract/client/index.ts';
import { password } from '../../support/factories.ts';
import { makePdf } from '../../support/documents.ts';
import { passUntil, unhurriedTimeoutMs } from '../../support/passing-time.ts';
import { register } from '../onboarding/applicants.ts';
import { givenPayer, Memory, newClient, older, refuse, type Fetch } from './paying-client.ts';
import { startPixApp } from './pix-app.ts';

const app = await startPixApp({
  environment: { STUB_SETTLE_MS: '1500', PROVIDER_TIMEOUT_MS: String(unhurriedTimeoutMs) },
});
const rent = { pix_key: 'bruno@example.com', amount: 150.5 };

const patienceMs = 120_000;
const hourMs = 60 * 60_000;
const yearMs = 365 * 24 * hourMs;

for (const [name, absent] of [
  ['undefined', undefined],
  ['an empty text', ''],
] as const) {
  test(`a storage that answers ${name} for an absent item is an empty one`, async () => {
    const memory = new Memory();
    const storage = {
      getItem: async () => memory.text ?? absent,
      setItem: async (_: string, text: string) => memory.setItem(_, text),
    };
    const { client, user } = await givenPayer(app, { storage });
    assert.deepEqual(await client.payments(), []);
    const { result, key } = await passUntil(app.clock, client.pay(rent));
    assert.equal(result, 'paid');
    await client.forget(key);
    assert.equal((await app.executed(user)).length, 1);
  });
}

for (const [name, cut] of [
  ['a text that was cut', (text: string) => text.slice(0, text.length / 2)],
  ['the value of another program', () => '{"theme":"dark"}'],
  ['a list of something else', () => '[{"key":1}]'],
] as const) {
  test(`${name} is no empty list: nothing is paid until the app has discarded it`, async () => {
    const storage = new Memory();
    const items = new Map<string, string>();
    storage.setItem = (item: string, text: string) => {
      items.set(item, text);
      if (item === 'ponte.payments') storage.text = text;
    };
    const { client, user } = await givenPayer(app, { storage });
    await passUntil(app.clock, client.pay(rent));
    const broken = cut(storage.text ?? '');
    storage.text = broken;
    await assert.rejects(client.pay(rent), UnreadablePaymentsError);
    await assert.rejects(client.payments(), UnreadablePaymentsError);
    assert.equal((await app.executed(user)).length, 1);
    await client.discardUnreadable();
    assert.deepEqual(await client.payments(), []);
    assert.equal(items.get('ponte.payments.unreadable'), broken);
    const { result } = await passUntil(app.clock, client.pay(rent));
    assert.equal(result, 'paid');
  });
}

test('a storage that drops what it should keep is one that fails: nothing is sent', async () => {
  const { client, user } = await givenPayer(app, {
    storage: { getItem: () => null, setItem: () => undefined },
  });
  await assert.rejects(client.pay(rent), /has not kept/);
  assert.deepEqual(await app.executed(user), []);
});

test('what is readable is not discarded', async () => {
  const { client } = await givenPayer(app);
  const { key } = await passUntil(app.clock, client.pay(rent));
  await client.discardUnreadable();
  assert.deepEqual(
    (await client.payments()).map((one) => one.key),
    [key],
  );
});

/** The clock of a device, which somebody sets. */
function settable() {
  let offsetMs = 0;
  const clock: Clock = {
    now: () => new Date(app.clock.now().getTime() + offsetMs),
    after: (delayMs, work) => app.clock.after(delayMs, work),
  };
  return { clock, set: (ms: number) => (offsetMs = ms) };
}

/** A service whose bank never answers. It calls `atSecond` at the second request. */
function endless(atSecond: () => void) {
  const counted = { requests: 0 };
  const headers = { 'Pix-Outcome': 'unknown' };
  const transaction = { transaction_id: randomUUID(), status: 'PROCESSING' };
  const answer: Fetch = async (url, init) => {
    if (url.includes('/auth/')) return fetch(url, init);
    counted.requests += 1;
    if (counted.requests === 2) atSecond();
    const { Prefer = 'wait=0' } = init.headers as { readonly Prefer?: string };
    const seconds = Number(Prefer.replace('wait=', ''));
    await new Promise<void>((resolve) => app.clock.after(1000 * seconds, resolve));
    return Response.json(transaction, { headers });
  };
  return { counted, fetch: answer };
}

for (const [name, offsetMs] of [
  ['back an hour', -hourMs],
  ['ahead a year', yearMs],
] as const) {
  test(`a clock that is set ${name} does not make a payment take longer`, async () => {
    const { clock, set } = settable();
    const { counted, fetch: answer } = endless(() => set(offsetMs));
    const { client } = await givenPayer(app, { clock, fetch: answer });
    const startedMs = app.clock.now().getTime();
    const { result } = await passUntil(app.clock, client.pay(rent, { patienceMs }));
    const tookMs = app.clock.now().getTime() - startedMs;
    assert.equal(result, 'pending');
    assert.ok(tookMs <= patienceMs + 3_000, `${tookMs} ms`);
    assert.ok(counted.requests < 10, `${counted.requests} requests`);
  });
}

test('a time in the future, from a clock that was wrong, counts from now', async () => {
  const { clock, set } = settable();
  const storage = new Memory();
  set(yearMs);
  const lost = older(() => {
    throw new TypeError('connection reset');
  });
  const { client, email } = await givenPayer(app, { clock, storage, fetch: lost });
  const { key } = await passUntil(app.clock, client.pay(rent, { patienceMs: 1_000 }));
  set(0);
  const refusing = older(() => refuse(422, 'not_sent'));
  const restarted = newClient(app, { clock, storage, fetch: refusing });
  await restarted.logIn({ email, password });
  const first = await passUntil(app.clock, restarted.pay(rent));
  assert.deepEqual([first.result, first.key], ['pending', key]);
  await app.clock.skip(10 * 60_000);
  assert.equal((await passUntil(app.clock, restarted.pay(rent))).result, 'not_paid');
});

/** A server of another origin. */
async function otherOrigin(t: TestContext, respond: Parameters<typeof createServer>[1]) {
  const server: Server = createServer(respond);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

for (const status of [301, 302, 303, 307, 308]) {
  test(`no redirect to another origin is followed: ${status}`, async (t) => {
    let received = 0;
    const thief = await otherOrigin(t, (_, response) => {
      received += 1;
      response.end('{"access_token":"theirs"}');
    });
    const url = await otherOrigin(t, (request, response) => {
      response.writeHead(status, { Location: `${thief}${request.url}` }).end();
    });
    const client = newClient(app, { url });
    await assert.rejects(client.logIn({ email: 'ana@example.com', password }));
    client.session = { accessToken: 'secret', email: 'ana@example.com' };
    const { result } = await passUntil(app.clock, client.pay(rent, { patienceMs: 5_000 }));
    assert.equal(result, 'pending');
    assert.equal(received, 0);
  });
}

test('a proxy that hides the headers is named', async () => {
  const hiding: Fetch = async (url, init) => {
    const response = await fetch(url, init);
    return new Response(await response.text(), { status: response.status });
  };
  const { client, user } = await givenPayer(app, { fetch: hiding });
  const { key, ...pending } = await passUntil(app.clock, client.pay(rent));
  assert.equal(pending.result, 'pending');
  assert.match(JSON.stringify(pending), /header Pix-Outcome.*contract\/client\/README\.md/);
  assert.equal((await client.payments())[0]?.key, key);
  assert.equal((await app.executed(user)).length, 1);
});

test('the page of a proxy is no response to a call', async () => {
  const page: Fetch = async () => new Response('<h1>Welcome to the airport</h1>');
  const client = newClient(app, { fetch: page });
  await assert.rejects(client.logIn({ email: 'ana@example.com', password }), /proxy has answered/);
  assert.equal(client.session, null);
});

test('a document is uploaded', async () => {
  const { id } = await register(app);
  const uploaded = await newClient(app).call('submitDocument', {
    path: { applicationId: id },
    body: {
      tipo_documento: 2,
      arquivo: new File([new Uint8Array(makePdf('front'))], 'front.pdf', {
        type: 'application/pdf',
      }),
    },
  });
  assert.equal(uploaded.status, 201);
  // The status gives the body its type.
  const { steps } = uploaded.body;
  assert.equal(steps.find(({ name }) => name === 'documents')?.attempts, 1);
});
