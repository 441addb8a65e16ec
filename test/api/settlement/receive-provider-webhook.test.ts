import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';
import { startTestApp, type TestApp, type TestRequest } from '../../support/app.ts';
import { startDatabaseProxy } from '../../support/database-proxy.ts';
import { createTestDatabase } from '../../support/db.ts';
import { onlyOnServer } from '../../support/open-database.ts';
import { afterFile } from '../../support/suite.ts';

// Without a queue: what the intake leaves behind stays as it is.
const app = await startTestApp({ environment: { JOBS: 'off' } });

const post = (body: unknown, request: TestRequest = {}, on: TestApp = app) =>
  on.call('/webhooks/provider', { method: 'POST', body, ...request });

interface Stored {
  readonly id: string;
  readonly payload: Buffer;
  readonly payload_hash: Buffer;
  readonly status: string;
  readonly received_at: Date;
}

interface Queued {
  readonly event_id: string;
  readonly due_at: Date;
  readonly waiting_since: Date;
  readonly attempts: number;
  readonly last_error: string | null;
}

/** The events and their rows of the queue, which are then removed. */
async function takeStored(on: TestApp = app) {
  const events = await on.rows<Stored>('delete from webhook_events returning *');
  const queued = await on.rows<Queued>('delete from webhook_queue returning *');
  return { events, queued };
}

async function storesNothing(on: TestApp = app): Promise<void> {
  assert.deepEqual(await takeStored(on), { events: [], queued: [] });
}

const payment = { event: 'PIX_PAYMENT', endToEnd: 'E1', status: 'CONFIRMED', amount: 10.5 };

test('the message follows Accept-Language', async () => {
  const inPortuguese = { headers: { 'accept-language': 'pt-BR' } };
  assert.equal((await post(payment, inPortuguese)).body.message, 'O evento foi recebido.');
  const again = await post(payment, inPortuguese);
  assert.equal(again.body.message, 'O evento já tinha sido recebido.');
  assert.equal((await post(payment)).body.message, 'The event was received before.');
  await takeStored();
});

test('an event is answered 200 once it is stored in the queue', async () => {
  const body = ` ${JSON.stringify(payment)}\n`;
  const response = await post(body);
  assert.equal(response.status, 200);
  assert.deepEqual(Object.keys(response.body), ['message', 'event_id', 'duplicate']);
  assert.equal(response.body.duplicate, false);
  assert.match(response.body.message, /received/);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  const { events, queued } = await takeStored();
  assert.equal(events.length, 1);
  const [event] = events;
  assert.equal(event?.id, response.body.event_id);
  assert.equal(event?.status, 'received');
  assert.equal(event?.payload.toString(), body, 'the bytes are stored as they came');
  assert.deepEqual(event?.payload_hash, createHash('sha256').update(body).digest());
  assert.deepEqual(event?.received_at, app.clock.now());
  const now = app.clock.now();
  assert.deepEqual(queued, [
    {
      event_id: response.body.event_id,
      due_at: now,
      waiting_since: now,
      attempts: 0,
      waits: 0,
      failures: 0,
      last_error: null,
      seen: null,
    },
  ]);
});

test('the same bytes again are acknowledged as a duplicate and change nothing', async () => {
  const first = await post(payment);
  await app.clock.advance(60_000);
  const again = await post(payment);
  assert.equal(again.status, 200);
  assert.equal(again.body.duplicate, true);
  assert.equal(again.body.event_id, first.body.event_id);
  const { events, queued } = await takeStored();
  assert.deepEqual([events.length, queued.length], [1, 1]);
});

for (const status of ['received', 'parked', 'orphaned']) {
  test(`the same bytes again queue an event that is ${status} and is not in the queue`, async () => {
    const first = await post(payment);
    const receivedAt = app.clock.now();
    await app.rows('update webhook_events set status = $1', [status]);
    await app.rows('delete from webhook_queue');
    await app.clock.advance(60_000);
    const again = await post(payment);
    assert.deepEqual([again.status, again.body.duplicate], [200, true]);
    const now = app.clock.now();
    await app.clock.advance(60_000);
    await post(payment);
    const { queued } = await takeStored();
    assert.deepEqual(
      queued.map(({ event_id: id, due_at: dueAt, waiting_since: since }) => ({ id, dueAt, since })),
      [{ id: first.body.event_id, dueAt: now, since: receivedAt }],
    );
  });
}

test('the same bytes again leave an event in the queue to its time', async () => {
  await post(payment);
  const dueAt = new Date(app.clock.now().getTime() + 3_600_000);
  await app.rows(`update webhook_queue set due_at = $1, attempts = 3, last_error = 'Error'`, [
    dueAt,
  ]);
  await post(payment);
  const { queued } = await takeStored();
  assert.deepEqual(
    queued.map((row) => [row.due_at, row.attempts, row.last_error]),
    [[dueAt, 3, 'Error']],
  );
});

for (const status of ['processed', 'ignored', 'anomaly']) {
  test(`the same bytes again queue nothing for an event that is ${status}`, async () => {
    await post(payment);
    await app.rows('update webhook_events set status = $1', [status]);
    await app.rows('delete from webhook_queue');
    await post(payment);
    assert.deepEqual((await takeStored()).queued, []);
  });
}

test('other bytes that say the same are another event', async () => {
  const first = await post(JSON.stringify(payment));
  const spaced = await post(JSON.stringify(payment, null, 2));
  assert.equal(spaced.body.duplicate, false);
  assert.notEqual(spaced.body.event_id, first.body.event_id);
  const { events, queued } = await takeStored();
  assert.deepEqual([events.length, queued.length], [2, 2]);
});

test('of identical deliveries at once one is stored and all are acknowledged', async () => {
  for (let round = 0; round < 5; round += 1) {
    const responses = await Promise.all(Array.from({ length: 8 }, () => post({ round })));
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]));
    assert.equal(new Set(responses.map(({ body }) => body.event_id)).size, 1);
    assert.equal(responses.filter(({ body }) => body.duplicate === false).length, 1);
    const { events, queued } = await takeStored();
    assert.deepEqual([events.length, queued.length], [1, 1]);
  }
});

test('any JSON object or array is taken, whether or not it can be an event', async () => {
  const bodies = [
    '{}',
    '[]',
    '{"pix":[]}',
    '[[]]',
    '{"a":{"b":[null,"ã",1e300]}}',
    '['.repeat(50_000) + ']'.repeat(50_000),
  ];
  for (const body of bodies) assert.equal((await post(body)).status, 200, body.slice(0, 40));
  const { events, queued } = await takeStored();
  assert.deepEqual([events.length, queued.length], [bodies.length, bodies.length]);
});

test('a bare number, text, boolean or null is 422, however long, and nothing is stored', async () => {
  for (const body of ['1', '"PIX"', 'true', 'null', `"${'x'.repeat(100_000)}"`]) {
    const { status, body: response } = await post(body);
    assert.equal(status, 422, body.slice(0, 40));
    assert.deepEqual(response.errors, { body: ['The value must be an object or a list.'] });
  }
  await storesNothing();
});

test('text that the database could not hold as text is taken too, and kept in its bytes', async () => {
  const body = String.raw`{"event":"PIX_PAYMENT","note":"a\u0000b\ud800","\u0000":1}`;
  assert.equal((await post(body)).status, 200);
  const { events } = await takeStored();
  assert.equal(events[0]?.payload.toString(), body);
});

test('what is no JSON, or nothing at all, is 400 and nothing is stored', async () => {
  for (const body of [
    '',
    ' ',
    '{"event":',
    '{event:1}',
    'PIX',
    '{}{}',
    Buffer.from([0x7b, 0xff, 0x7d]),
  ]) {
    const response = await post(body);
    assert.equal(response.status, 400, String(body));
    assert.deepEqual(Object.keys(response.body), ['message']);
  }
  await storesNothing();
});

test('256 KiB are taken, one byte more is 413 and nothing is stored', async () => {
  const ofBytes = (bytes: number) => `{"a":"${'x'.repeat(bytes - '{"a":""}'.length)}"}`;
  assert.equal((await post(ofBytes(256 * 1024))).status, 200);
  await takeStored();
  const response = await post(ofBytes(256 * 1024 + 1));
  assert.equal(response.status, 413);
  assert.deepEqual(Object.keys(response.body), ['message']);
  await storesNothing();
});

test('any media type is taken, and any JSON with two members of one name', async () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  assert.equal((await post('a=1', { headers })).status, 200);
  assert.equal((await post('{"a":1,"a":2}')).status, 200);
  const { events, queued } = await takeStored();
  assert.deepEqual([events.length, queued.length], [2, 2]);
  assert.deepEqual(
    new Set(events.map(({ payload }) => payload.toString())),
    new Set(['a=1', '{"a":1,"a":2}']),
  );
});

test('an event in the charset that it declares is stored in UTF-8, hashed as sent', async () => {
  const body = { ...payment, description: 'Revisão' };
  const latin1 = Buffer.from(JSON.stringify(body), 'latin1');
  for (const [charset, bytes] of [
    ['ISO-8859-1', latin1],
    ['"windows-1252"', latin1],
    ['utf-16le', Buffer.from(JSON.stringify(body), 'utf16le')],
    // It was declared wrongly.
    ['ISO-8859-1', Buffer.from(JSON.stringify(body))],
  ] as const) {
    const headers = { 'content-type': `application/json; charset=${charset}` };
    assert.equal((await post(bytes, { headers })).status, 200, charset);
    const { events } = await takeStored();
    assert.equal(events[0]?.payload.toString(), JSON.stringify(body), charset);
    assert.deepEqual(events[0]?.payload_hash, createHash('sha256').update(bytes).digest());
  }
});

test('the signature of an event is that of the bytes that were sent', async () => {
  const secret = 'a-signing-secret-of-more-than-32-characters';
  const environment = { JOBS: 'off', WEBHOOK_SIGNING_SECRET: secret };
  const signing = await startTestApp({ environment });
  const bytes = Buffer.from(JSON.stringify({ ...payment, description: 'Revisão' }), 'latin1');
  const signature = makeSignature(bytes, secret, signing);
  const headers = { ...signature, 'content-type': 'application/json; charset=latin1' };
  assert.equal((await post(bytes, { headers }, signing)).status, 200);
});

test('no body, and over 256 KiB, are refused under any media type', async () => {
  const headers = { 'content-type': 'text/plain' };
  assert.equal((await post('', { headers })).status, 400);
  assert.equal((await post('x'.repeat(256 * 1024 + 1), { headers })).status, 413);
  const inLatin1 = { 'content-type': 'application/json; charset=latin1' };
  const widened = Buffer.from(`"${'ã'.repeat(200 * 1024)}"`, 'latin1');
  assert.equal((await post(widened, { headers: inLatin1 })).status, 413);
  await storesNothing();
});

test('another method is 405', async () => {
  const read = await app.call('/webhooks/provider');
  assert.equal(read.status, 405);
  assert.match(read.headers.get('allow') ?? '', /POST/);
  await storesNothing();
});

test('without a configured secret the header is not looked at', async () => {
  const response = await post(payment, { headers: { 'x-webhook-secret': 'whatever' } });
  assert.equal(response.status, 200);
  await takeStored();
});

test('deliveries are counted, received and duplicate, and their content is not logged', async () => {
  const counted = async (result: string) => {
    const { values } = await app.context.metrics.webhookEvents.get();
    return values.find(({ labels }) => labels.result === result)?.value ?? 0;
  };
  const before = [await counted('received'), await counted('duplicate')];
  const body = { payer: { name: 'Fulano de Tal', document: '52998224725' } };
  await post(body);
  await post(body);
  const now = [await counted('received'), await counted('duplicate')];
  assert.deepEqual(
    now.map((count, index) => count - (before[index] ?? 0)),
    [1, 1],
  );
  assert.doesNotMatch(app.logLines.join('\n'), /Fulano|52998224725/);
  await takeStored();
});

test('wrong secrets and signatures of an address are throttled, right ones never', async () => {
  const rightSecret = { 'x-webhook-secret': 'the-right-secret' };
  const signingSecret = 'a-signing-secret-of-more-than-32-characters';
  for (const [setting, wrong] of [
    ['WEBHOOK_SECRET', { 'x-webhook-secret': 'wrong' }],
    ['WEBHOOK_SIGNING_SECRET', rightSecret],
  ] as const) {
    const throttled = await startTestApp({
      environment: {
        JOBS: 'off',
        TRUST_PROXY_HOPS: '1',
        THROTTLE_ADDRESS_PER_MINUTE: '3',
        WEBHOOK_SECRET: 'the-right-secret',
        [setting]: makeSetting(setting, signingSecret),
      },
    });
    const send = (headers: Record<string, string>, address = '203.0.113.7') =>
      post(payment, { headers: { 'x-forwarded-for': address, ...headers } }, throttled);
    for (let nth = 0; nth < 3; nth += 1) assert.equal((await send(wrong)).status, 401);
    const response = await send(wrong);
    assert.equal(response.status, 429);
    assert.equal(response.headers.get('retry-after'), '60');
    const right = { ...rightSecret, ...makeSignature(payment, signingSecret, throttled) };
    for (let nth = 0; nth < 5; nth += 1) assert.equal((await send(right)).status, 200);
    assert.equal((await send(wrong, '203.0.113.8')).status, 401, 'another address');
    await throttled.clock.advance(60_000);
    assert.equal((await send(wrong)).status, 401, 'the next minute');
  }
});

function makeSetting(name: string, signingSecret: string): string {
  return name === 'WEBHOOK_SECRET' ? 'the-right-secret' : signingSecret;
}

/** The headers of Standard Webhooks. */
function makeSignature(body: unknown, secret: string, on: TestApp): Record<string, string> {
  const timestamp = String(Math.floor(on.clock.now().getTime() / 1_000));
  const hmac = createHmac('sha256', secret).update(`msg_1.${timestamp}.`);
  const bytes = Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const signature = hmac.update(bytes).digest('base64');
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
}

test('with secrets configured', async (t) => {
  const environment = { JOBS: 'off', WEBHOOK_SECRET: 'the-old-secret,the-new-secret' };
  const guarded = await startTestApp({ environment });
  const withSecret = (secret: string) => ({ headers: { 'x-webhook-secret': secret } });

  await t.test('each of two is accepted, so that they can be rotated', async () => {
    for (const secret of ['the-old-secret', 'the-new-secret']) {
      assert.equal((await post({ secret: 1 }, withSecret(secret), guarded)).status, 200);
    }
    const { events } = await takeStored(guarded);
    assert.equal(events.length, 1);
  });

  await t.test('a wrong one is 401 and nothing is stored', async () => {
    const wrong = [
      '',
      'the',
      'the-old-secre',
      'the-old-secret2',
      'THE-OLD-SECRET',
      'the-old-secret,the-new-secret',
    ];
    for (const secret of wrong) {
      const response = await post(payment, withSecret(secret), guarded);
      assert.equal(response.status, 401, secret);
      assert.deepEqual(Object.keys(response.body), ['message']);
      assert.equal(response.headers.get('www-authenticate'), null);
    }
    await storesNothing(guarded);
  });

  await t.test('a missing one is 401 and nothing is stored', async () => {
    assert.equal((await post(payment, {}, guarded)).status, 401);
    await storesNothing(guarded);
  });

  await t.test('a wrong one is 401 whatever the body is', async () => {
    for (const body of ['{"event":', '1', `{"a":"${'x'.repeat(300 * 1024)}"}`]) {
      assert.equal((await post(body, withSecret('wrong'), guarded)).status, 401);
    }
    await storesNothing(guarded);
  });

  await t.test('none of them is logged', () => {
    assert.doesNotMatch(guarded.logLines.join('\n'), /the-old-secret|the-new-secret/);
  });
});

test(
  'a database that cannot be reached is 503, and the delivery succeeds later',
  onlyOnServer,
  async () => {
    const database = await createTestDatabase();
    const proxy = await startDatabaseProxy(database.databaseUrl ?? '');
    const behind = await startTestApp({
      environment: {
        JOBS: 'off',
        WEBHOOK_SECRET: 'the-secret',
        THROTTLE_ADDRESS_PER_MINUTE: '600',
      },
      database: { ...database, databaseUrl: proxy.url },
    });
    const secret = (value: string): TestRequest => ({ headers: { 'x-webhook-secret': value } });
    afterFile(async () => {
      await proxy.cut();
      await database.drop();
    });
    await proxy.cut();
    for (let tries = 0; tries < 3; tries += 1) {
      const response = await post(payment, secret('the-secret'), behind);
      assert.equal(response.status, 503);
      assert.match(response.headers.get('retry-after') ?? '', /^\d+$/);
      assert.deepEqual(Object.keys(response.body), ['message']);
      assert.equal((await post(payment, secret('wrong'), behind)).status, 401);
    }
    await proxy.mend();
    const response = await post(payment, secret('the-secret'), behind);
    assert.equal(response.status, 200);
    assert.equal(response.body.duplicate, false);
    const { events, queued } = await takeStored(behind);
    assert.deepEqual([events.length, queued.length], [1, 1]);
  },
);

test('the endings that callers append to the address reach the same operation', async () => {
  const endings = ['/', '/pix', '/pix/', '//pix', '/pix/pix', '/pix//pix', '//'];
  for (const [nth, ending] of endings.entries()) {
    const body = { pix: [{ endToEndId: `E-ending-${nth}`, valor: '1.05' }] };
    const response = await app.call(`/webhooks/provider${ending}`, { method: 'POST', body });
    assert.deepEqual([response.status, response.body.duplicate], [200, false], ending);
    const again = await app.call('/webhooks/provider', { method: 'POST', body });
    assert.equal(again.body.duplicate, true);
  }
  assert.equal(
    (await app.call('/webhooks/provider/else', { method: 'POST', body: {} })).status,
    404,
  );
});
