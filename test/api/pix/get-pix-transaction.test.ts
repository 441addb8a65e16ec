/** A transaction as the app follows it: what is shown, what an ETag saves, how it may wait. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { givenCustomer } from '../../support/factories.ts';
import { startPixApp } from './pix-app.ts';

const app = await startPixApp();

const user = await givenCustomer(app);

/** A test of a wait that never ends would itself wait for ever. */
const patience = { timeout: 60_000 };

async function givenSend(): Promise<{ id: string; endToEnd: string }> {
  const sent = await app.send(user, { pix_key: 'ana@example.com', amount: 10 });
  assert.equal(sent.status, 200);
  return { id: sent.body.transaction_id, endToEnd: sent.body.end_to_end };
}

test('a send shows its id and its status, and nothing else', async () => {
  const { id, endToEnd } = await givenSend();
  const view = await app.view(user, id);
  assert.equal(view.status, 200);
  assert.deepEqual(view.body, { transaction_id: id, status: 'PROCESSING' });
  await app.bank.settle(endToEnd);
  await app.settled(id);
  assert.deepEqual((await app.view(user, id)).body, { transaction_id: id, status: 'COMPLETED' });
});

test('the bank is not called', async (t) => {
  const { id } = await givenSend();
  const { provider } = app.context;
  const calls = (Object.keys(provider) as (keyof typeof provider)[]).map((method) =>
    t.mock.method(provider, method),
  );
  await app.view(user, id);
  assert.ok(calls.every(({ mock }) => mock.callCount() === 0));
});

for (const type of ['dynamic', 'static']) {
  test(`a ${type} charge shows the code that it was made with, also when it is paid`, async () => {
    const charged = await app.charge(user, { type, amount: 10 });
    const { transaction_id: id } = charged.body;
    assert.deepEqual((await app.view(user, id)).body, charged.body);
    const { transaction_identification: txid } = await app.stored(id);
    await app.bank.payCharge(txid ?? '');
    await app.settled(id);
    const paid = { ...charged.body, status: 'COMPLETED' };
    assert.deepEqual((await app.view(user, id)).body, paid);
  });
}

test('401 without a token', async () => {
  const { id } = await givenSend();
  const view = await app.call(`/pix/${id}`);
  assert.equal(view.status, 401);
  assert.deepEqual(Object.keys(view.body), ['message']);
});

test('404 for a missing, a malformed and another user’s id, with the same response', async () => {
  const { id } = await givenSend();
  const other = await givenCustomer(app);
  const responses = [
    await app.view(user, randomUUID()),
    await app.view(user, 'not-a-uuid'),
    await app.view(user, `urn:uuid:${id}`),
    await app.view(user, `${id}0`),
    await app.view(other, id),
  ];
  for (const { status, body, headers } of responses) {
    assert.deepEqual([status, body], [404, { message: 'Not found.' }]);
    assert.equal(headers.get('pix-next'), 'ask');
  }
});

test('404 in Portuguese', async () => {
  const view = await app.view(user, randomUUID(), { 'accept-language': 'pt-BR' });
  assert.deepEqual(view.body, { message: 'Não encontrado.' });
});

test('an id is known in capitals too', async () => {
  const { id } = await givenSend();
  assert.equal((await app.view(user, id.toUpperCase())).body.transaction_id, id);
});

test('If-None-Match: 304 without a body for the same tag, weak, in a list, or *', async () => {
  const { id } = await givenSend();
  const etag = (await app.view(user, id)).headers.get('etag');
  assert.match(etag ?? '', /^"[\w-]+"$/);
  for (const tags of [`${etag}`, `W/${etag}`, `"other", W/${etag} , "more"`, '*']) {
    const view = await app.view(user, id, { 'if-none-match': tags });
    assert.deepEqual([view.status, view.body], [304, ''], tags);
    assert.equal(view.headers.get('etag'), etag);
  }
});

test('If-None-Match: 200 for another tag, and for the old one once the status has changed', async () => {
  const { id, endToEnd } = await givenSend();
  const etag = (await app.view(user, id)).headers.get('etag') ?? '';
  assert.equal((await app.view(user, id, { 'if-none-match': '"other"' })).status, 200);
  assert.equal((await app.view(user, id, { 'if-none-match': '' })).status, 200);
  await app.bank.settle(endToEnd);
  await app.settled(id);
  const view = await app.view(user, id, { 'if-none-match': etag });
  assert.deepEqual([view.status, view.body.status], [200, 'COMPLETED']);
  assert.notEqual(view.headers.get('etag'), etag);
});

test('two transactions of one status have different tags', async () => {
  const [one, other] = [await givenSend(), await givenSend()];
  const tags = [await app.view(user, one.id), await app.view(user, other.id)];
  assert.notEqual(tags[0]?.headers.get('etag'), tags[1]?.headers.get('etag'));
});

for (const end of ['COMPLETED', 'FAILED'] as const) {
  test(`Prefer: wait is answered as soon as the transaction is ${end}`, patience, async () => {
    const { id, endToEnd } = await givenSend();
    const following = app.view(user, id, { prefer: 'wait=21' });
    await app.waiting(21_000);
    await app.bank.settle(endToEnd, end);
    const view = await following;
    assert.deepEqual([view.status, view.body.status], [200, end]);
    assert.equal(view.headers.get('preference-applied'), 'wait=21');
  });
}

test('Prefer: wait works for an id in capitals', patience, async () => {
  const { id, endToEnd } = await givenSend();
  const following = app.view(user, id.toUpperCase(), { prefer: 'wait=22' });
  await app.waiting(22_000);
  await app.bank.settle(endToEnd);
  assert.equal((await following).body.status, 'COMPLETED');
});

test(
  'Prefer: wait with If-None-Match answers the change, as the contract advises',
  patience,
  async () => {
    const { id, endToEnd } = await givenSend();
    const etag = (await app.view(user, id)).headers.get('etag') ?? '';
    const following = app.view(user, id, { prefer: 'wait=23', 'if-none-match': etag });
    await app.waiting(23_000);
    await app.bank.settle(endToEnd);
    const view = await following;
    assert.deepEqual([view.status, view.body.status], [200, 'COMPLETED']);
  },
);

test(
  'Prefer: wait ends at its time: 200 PROCESSING, or 304 for who has it already',
  patience,
  async () => {
    const { id } = await givenSend();
    const etag = (await app.view(user, id)).headers.get('etag') ?? '';
    const following = app.view(user, id, { prefer: 'wait=7' });
    await app.waiting(7_000);
    await app.clock.advance(7_000);
    const view = await following;
    assert.deepEqual([view.status, view.body.status], [200, 'PROCESSING']);
    assert.equal(view.headers.get('preference-applied'), 'wait=7');

    const unchanged = app.view(user, id, { prefer: 'wait=8', 'if-none-match': etag });
    await app.waiting(8_000);
    await app.clock.advance(8_000);
    assert.equal((await unchanged).status, 304);
    assert.equal((await unchanged).headers.get('preference-applied'), 'wait=8');
  },
);

test('Prefer: wait is thirty seconds at most, and says so', patience, async () => {
  const { id } = await givenSend();
  const following = app.view(user, id, { prefer: 'wait=36000000000' });
  await app.waiting(30_000);
  await app.clock.advance(30_000);
  const view = await following;
  assert.equal(view.body.status, 'PROCESSING');
  assert.equal(view.headers.get('preference-applied'), 'wait=30');
});

for (const prefer of [
  'foo="a, wait=9", wait=24',
  'foo="a\\", wait=9", wait=24',
  'a="1", wait=24',
]) {
  test(`Prefer: the text of another preference is no wait: ${prefer}`, patience, async () => {
    const { id, endToEnd } = await givenSend();
    const following = app.view(user, id, { prefer });
    await app.waiting(24_000);
    await app.bank.settle(endToEnd);
    assert.equal((await following).headers.get('preference-applied'), 'wait=24');
  });
}

for (const prefer of ['respond-async, wait=24', 'WAIT=24', 'wait="24"', 'wait = 24; foo=1']) {
  test(`Prefer: ${prefer} is a wait of 24 seconds`, patience, async () => {
    const { id } = await givenSend();
    const following = app.view(user, id, { prefer });
    await app.waiting(24_000);
    await app.clock.advance(24_000);
    assert.equal((await following).headers.get('preference-applied'), 'wait=24');
  });
}

for (const prefer of ['wait', 'wait=', 'wait=soon', 'wait=-5', 'wait=1.5', 'await=5', 'async']) {
  test(`Prefer: ${prefer} is ignored: answered at once`, async () => {
    const { id } = await givenSend();
    const view = await app.view(user, id, { prefer });
    assert.deepEqual([view.status, view.body.status], [200, 'PROCESSING']);
    assert.equal(view.headers.get('preference-applied'), null);
  });
}

test('Prefer: wait is answered at once when the transaction has ended', patience, async () => {
  const { id, endToEnd } = await givenSend();
  await app.bank.settle(endToEnd);
  await app.settled(id);
  const view = await app.view(user, id, { prefer: 'wait=30' });
  assert.equal(view.body.status, 'COMPLETED');
});

test('Prefer: wait is 404 at once for what is not there', patience, async () => {
  assert.equal((await app.view(user, randomUUID(), { prefer: 'wait=30' })).status, 404);
});

test('Prefer: wait ends when the app hangs up', patience, async () => {
  const { id } = await givenSend();
  const phone = new AbortController();
  const following = fetch(`${app.url}/api/v1/pix/${id}`, {
    headers: { authorization: `Bearer ${user.token}`, prefer: 'wait=28' },
    signal: phone.signal,
  });
  await app.waiting(28_000);
  phone.abort();
  await assert.rejects(following, { name: 'AbortError' });
  await app.released(28_000);
});

test(
  'Prefer: wait looks when it hears that something may have ended, and waits on',
  patience,
  async () => {
    const { id, endToEnd } = await givenSend();
    const following = app.view(user, id, { prefer: 'wait=20' });
    await app.waiting(20_000);
    await app.clock.advance(5_000);
    await app.rows(`select pg_notify('ponte_pix', '')`);
    await app.waiting(15_000);
    await app.bank.settle(endToEnd);
    assert.equal((await following).body.status, 'COMPLETED');
  },
);

test('one settlement ends all waits for it, and no other', patience, async () => {
  const [one, other] = [await givenSend(), await givenSend()];
  const following = [25, 26].map((seconds) =>
    app.view(user, one.id, { prefer: `wait=${seconds}` }),
  );
  const patient = app.view(user, other.id, { prefer: 'wait=27' });
  for (const seconds of [25, 26, 27]) await app.waiting(seconds * 1_000);
  await app.bank.settle(one.endToEnd);
  for (const view of await Promise.all(following)) assert.equal(view.body.status, 'COMPLETED');
  await app.waiting(27_000);
  await app.clock.advance(27_000);
  assert.equal((await patient).body.status, 'PROCESSING');
});

test('Prefer: wait is not honoured beyond ten waits of one user at once', patience, async () => {
  const { id } = await givenSend();
  const waits = Array.from({ length: 10 }, (_, wait) => wait + 16);
  const phone = new AbortController();
  const following = waits.map((seconds) =>
    fetch(`${app.url}/api/v1/pix/${id}`, {
      headers: { authorization: `Bearer ${user.token}`, prefer: `wait=${seconds}` },
      signal: phone.signal,
    }),
  );
  for (const seconds of waits) await app.waiting(seconds * 1_000);

  const eleventh = await app.view(user, id, { prefer: 'wait=29' });
  assert.deepEqual([eleventh.status, eleventh.body.status], [200, 'PROCESSING']);
  assert.equal(eleventh.headers.get('preference-applied'), null);

  const other = await givenCustomer(app);
  const sent = await app.send(other, { pix_key: 'slow@ponte.test', amount: 1 });
  const others = app.view(other, sent.body.transaction_id, { prefer: 'wait=29' });
  await app.waiting(29_000);
  await app.clock.advance(29_000);
  assert.equal((await others).headers.get('preference-applied'), 'wait=29');

  for (const response of await Promise.all(following)) assert.equal(response.status, 200);
  const again = app.view(user, id, { prefer: 'wait=6' });
  await app.waiting(6_000);
  await app.clock.advance(6_000);
  assert.equal((await again).headers.get('preference-applied'), 'wait=6');
});
