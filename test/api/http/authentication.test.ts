import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/errors.ts';
import {
  call,
  createThing,
  endedToken,
  rawConnection,
  startWire,
  thingId,
  validToken,
} from './wire.ts';

const thing = { path: `/api/v1/things/${thingId}` };
const event = { method: 'POST', path: '/api/v1/events', body: '{}' };

test('a missing, malformed or refused token is 401, with the scheme to use', async (t) => {
  const wire = await startWire(t);
  const refused = [
    '',
    'Bearer',
    'Bearer ',
    validToken,
    `Basic ${validToken}`,
    'Bearer other',
    'Bearer a b',
  ];
  for (const Authorization of refused) {
    const response = await call(wire, { ...thing, headers: { Authorization } });
    assert.equal(response.status, 401, Authorization);
    assert.equal(response.headers['www-authenticate'], 'Bearer');
    assert.deepEqual(Object.keys(response.json), ['message']);
  }
  assert.equal((await call(wire, thing)).status, 401);
  assert.equal(wire.calls.length, 0);
});

test('the scheme of the token may be in any case', async (t) => {
  const wire = await startWire(t);
  for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
    const headers = { Authorization: `${scheme} ${validToken}` };
    assert.equal((await call(wire, { ...thing, headers })).status, 200);
  }
});

test('two credentials are 400, whichever of them is valid, and reach no operation', async (t) => {
  const wire = await startWire(t);
  const valid = `Bearer ${validToken}`;
  for (const both of [
    [valid, valid],
    [valid, 'Bearer other'],
    ['Bearer other', valid],
  ]) {
    const client = await rawConnection(wire);
    const lines = both.map((value) => `Authorization: ${value}\r\n`).join('');
    client.send(`GET ${thing.path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines}\r\n`);
    assert.match(await client.closed(), /^HTTP\/1\.1 400 /);
  }
  assert.equal(wire.calls.length, 0);
});

test('an operation of a session gets the principal', async (t) => {
  const wire = await startWire(t);
  await call(wire, { ...thing, headers: { Authorization: `Bearer ${validToken}` } });
  assert.equal(wire.calls[0]?.principal?.user.id, 7);
});

test('a token whose session has ended is 401, but enough where only a token is required', async (t) => {
  const wire = await startWire(t);
  const headers = { Authorization: `Bearer ${endedToken}` };
  assert.equal((await call(wire, { ...thing, headers })).status, 401);
  const ended = await call(wire, { method: 'DELETE', path: '/api/v1/token', headers });
  assert.equal(ended.status, 200);
  assert.equal(wire.calls[0]?.token?.sessionId, 's');
  assert.equal(wire.calls[0]?.principal, undefined);
});

test('who is not logged in learns nothing of the faults of the body', async (t) => {
  const wire = await startWire(t);
  const response = await createThing(wire, { body: '{', headers: { Authorization: '' } });
  assert.equal(response.status, 401);
});

test('a public operation asks for no token and ignores one', async (t) => {
  const wire = await startWire(t);
  const headers = { Authorization: 'Bearer other' };
  assert.equal((await call(wire, { path: '/api/v1/codes/123', headers })).status, 200);
});

test('without a configured webhook secret any webhook is taken', async (t) => {
  const wire = await startWire(t);
  assert.equal((await call(wire, event)).status, 200);
  assert.equal((await call(wire, { ...event, headers: { 'X-Webhook-Secret': 'x' } })).status, 200);
});

test('each configured webhook secret is accepted, a wrong or missing one is 401', async (t) => {
  const wire = await startWire(t, { config: { webhookSecrets: ['new-secret', 'old-secret'] } });
  for (const secret of ['new-secret', 'old-secret']) {
    const headers = { 'X-Webhook-Secret': secret };
    assert.equal((await call(wire, { ...event, headers })).status, 200);
  }
  for (const secret of ['', 'new', 'new-secret,old-secret', 'NEW-SECRET']) {
    const response = await call(wire, { ...event, headers: { 'X-Webhook-Secret': secret } });
    assert.equal(response.status, 401, secret);
    assert.deepEqual(response.json, { message: 'The webhook secret is missing or wrong.' });
  }
  assert.equal((await call(wire, { ...event, body: '{' })).status, 401);
  assert.equal(wire.calls.length, 2);
});

test('a throttled operation counts the address, before it looks at the body', async (t) => {
  const counted: string[][] = [];
  const wire = await startWire(t, {
    config: { trustProxyHops: 1 },
    countAddress: (...attempt) => counted.push(attempt),
  });
  const headers = { 'X-Forwarded-For': '203.0.113.7' };
  const response = await call(wire, { method: 'POST', path: '/api/v1/notes', headers, body: '{' });
  assert.equal(response.status, 400);
  assert.deepEqual(counted, [['writing', '203.0.113.7']]);
});

test('an operation that is not throttled counts nothing and learns the address', async (t) => {
  const counted: string[][] = [];
  const wire = await startWire(t, { countAddress: (...attempt) => counted.push(attempt) });
  await call(wire, { path: '/api/v1/codes/123' });
  assert.equal(counted.length, 0);
  assert.equal(wire.calls[0]?.request.clientAddress, '127.0.0.1');
});

test('one attempt too many is 429 with Retry-After', async (t) => {
  const wire = await startWire(t, {
    countAddress: () => {
      throw new AppError('THROTTLED', { headers: { 'Retry-After': '42' } });
    },
  });
  const response = await call(wire, { method: 'POST', path: '/api/v1/notes', body: '{}' });
  assert.equal(response.status, 429);
  assert.equal(response.headers['retry-after'], '42');
});
