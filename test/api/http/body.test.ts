import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IncomingForm } from '../../../src/http/body.ts';
import { call, createThing, gate, rawConnection, startWire, until } from './wire.ts';

const limit = 256 * 1024;

/** A note of exactly so many bytes of JSON. */
function makeNote(bytes: number): string {
  const empty = JSON.stringify({ text: '' });
  return JSON.stringify({ text: 'x'.repeat(bytes - empty.length) });
}

const notes = { method: 'POST', path: '/api/v1/notes' };

test('the bytes of the body are passed on beside its value', async (t) => {
  const wire = await startWire(t);
  const body = '{ "text":  "olá" }';
  await call(wire, { ...notes, body });
  assert.deepEqual(wire.calls[0]?.input.body, { text: 'olá' });
  assert.equal(wire.calls[0]?.request.rawBody.toString(), body);
});

for (const body of [
  '{"text":"a","text":"b"}',
  '{"text":"a","te\\u0078t":"b"}',
  '{"text":"a","more":[{"amount":1,"amount":2}]}',
]) {
  test(`two members of one name are 400: ${body}`, async (t) => {
    const wire = await startWire(t);
    const response = await call(wire, { ...notes, body });
    assert.equal(response.status, 400);
    assert.deepEqual(response.json, {
      message: 'An object in the body has two fields with the same name.',
    });
    assert.equal(wire.calls.length, 0);
  });
}

test('text that looks like members is only text', async (t) => {
  const wire = await startWire(t);
  const text = '{"a":1,"a":2}\\",":x":"';
  const response = await call(wire, { ...notes, body: JSON.stringify({ text }) });
  assert.equal(response.status, 202);
  assert.deepEqual(wire.calls[0]?.input.body, { text });
});

test('JSON up to 256 KiB is taken, one byte more is 413', async (t) => {
  const wire = await startWire(t);
  assert.equal((await call(wire, { ...notes, body: makeNote(limit) })).status, 202);
  const response = await call(wire, { ...notes, body: makeNote(limit + 1) });
  assert.equal(response.status, 413);
  assert.deepEqual(response.json, { message: 'The body is too large.' });
});

test('a chunked body over the limit is 413 too', async (t) => {
  const wire = await startWire(t);
  const headers = { 'Transfer-Encoding': 'chunked' };
  assert.equal((await call(wire, { ...notes, headers, body: makeNote(limit) })).status, 202);
  const response = await call(wire, { ...notes, headers, body: makeNote(2 * limit) });
  assert.equal(response.status, 413);
  assert.equal(response.headers.connection, 'close');
});

test('a declared length over the limit is 413 before any of the body comes', async (t) => {
  const wire = await startWire(t);
  const client = await rawConnection(wire);
  client.send(
    'POST /api/v1/notes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
      'Content-Length: 99999999\r\n\r\n',
  );
  const response = await client.receive('The body is too large.');
  assert.match(response, /^HTTP\/1\.1 413 /);
  assert.match(response, /\r\nConnection: close\r\n/i);
});

test('a client that goes on sending a refused body still reads the response', async (t) => {
  const wire = await startWire(t);
  const body = Buffer.alloc(20 * 1024 * 1024, 'x');
  const response = await call(wire, { ...notes, body });
  assert.equal(response.status, 413);
  const unknownPath = await call(wire, { method: 'POST', path: '/nothing', body });
  assert.equal(unknownPath.status, 404);
});

test('what a refused client never sends is waited for only for a while', async (t) => {
  const wire = await startWire(t);
  const client = await rawConnection(wire);
  client.send('POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\nabc');
  await client.receive('Not found.');
  await wire.clock.advance(5_000);
  assert.match(await client.closed(), /^HTTP\/1\.1 404 /);
});

test('a client that expects 100-continue gets it, or is refused at once', async (t) => {
  const wire = await startWire(t);
  const head = 'POST /api/v1/notes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
  const client = await rawConnection(wire);
  client.send(`${head}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n`);
  await client.receive('HTTP/1.1 100 Continue');
  client.send('{}');
  await client.receive('HTTP/1.1 202 Accepted');
  const refused = await rawConnection(wire);
  refused.send(`${head}Content-Length: 99999999\r\nExpect: 100-continue\r\n\r\n`);
  const response = await refused.closed();
  assert.match(response, /^HTTP\/1\.1 413 /);
  assert.doesNotMatch(response, /100 Continue/);
});

test('the connection of a client that leaves before its body is read is released', async (t) => {
  const admitted = gate();
  let isAsked = false;
  const addNote = (): Promise<void> => {
    isAsked = true;
    return admitted.opened;
  };
  const wire = await startWire(t, { admits: { addNote } });
  const client = await rawConnection(wire);
  client.send(
    'POST /api/v1/notes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
      'Content-Length: 99\r\n\r\n{"text":',
  );
  await until(() => isAsked);
  client.socket.destroy();
  // The server has seen the connection close once it has answered a later request.
  await call(wire, { path: '/nothing' });
  admitted.open();
  await until(() => wire.lines.some(({ operation }) => operation === 'addNote'));
  assert.equal(wire.calls.length, 0);
});

test('JSON is taken with charset UTF-8, by any of its names, or none', async (t) => {
  const wire = await startWire(t);
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    'application/json; charset=UTF8',
    'application/json; charset=unicode-1-1-utf-8',
  ]) {
    const response = await call(wire, { ...notes, headers: { 'Content-Type': type }, body: '{}' });
    assert.equal(response.status, 202, type);
  }
});

test('any other media type, charset or encoding is 415', async (t) => {
  const wire = await startWire(t);
  const refused = [
    { 'Content-Type': 'text/plain' },
    { 'Content-Type': '' },
    { 'Content-Type': 'application/jsonp' },
    { 'Content-Type': 'application/json; charset=iso-8859-1' },
    { 'Content-Type': 'application/json; charset=utf-16' },
    { 'Content-Type': 'application/json; charset=nothing' },
    { 'Content-Type': 'application/json; charset=' },
    { 'Content-Type': 'multipart/form-data; boundary=x' },
    { 'Content-Encoding': 'gzip' },
  ];
  for (const headers of refused) {
    const response = await call(wire, { ...notes, headers, body: '{}' });
    assert.equal(response.status, 415, JSON.stringify(headers));
  }
  const headers = { 'Content-Encoding': 'identity' };
  assert.equal((await call(wire, { ...notes, headers, body: '{}' })).status, 202);
});

test('malformed JSON and invalid UTF-8 are 400', async (t) => {
  const wire = await startWire(t);
  const bodies = [
    '{',
    '{"text":}',
    "{'text': 1}",
    'nothing',
    '{"text": "a"} x',
    Buffer.from([0x22, 0xff, 0x22]),
    Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
    '['.repeat(50_000) + ']'.repeat(50_000),
  ];
  for (const body of bodies) {
    const response = await call(wire, { ...notes, body });
    assert.equal(response.status, 400, body.toString().slice(0, 20));
    assert.deepEqual(response.json, { message: 'The body is not well-formed JSON.' });
  }
  assert.equal(wire.calls.length, 0);
});

test('nesting that exhausts the stack is refused, ordinary nesting is not', async (t) => {
  const wire = await startWire(t);
  const nested = (depth: number): string =>
    `{"email":"a@b.cc","amount":1,"extra":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  assert.equal((await createThing(wire, { body: nested(50) })).status, 201);
  assert.equal((await createThing(wire, { body: nested(20_000) })).status, 400);
});

test('a required body that is absent or empty is 422 with every required field', async (t) => {
  const wire = await startWire(t);
  const headers = { 'Idempotency-Key': 'k', Authorization: 'Bearer valid.token.1' };
  const sent = { method: 'POST', path: '/api/v1/things', headers };
  for (const body of [undefined, '']) {
    const response = await call(wire, body === undefined ? sent : { ...sent, body });
    assert.equal(response.status, 422);
    assert.deepEqual(response.json.errors, {
      email: ['The field is required.'],
      amount: ['The field is required.'],
    });
  }
  const event = await call(wire, { method: 'POST', path: '/api/v1/events' });
  assert.deepEqual(event.json.errors, { body: ['The field is required.'] });
});

test('an optional body that is absent or empty is undefined', async (t) => {
  const wire = await startWire(t);
  assert.equal((await call(wire, notes)).status, 202);
  assert.equal((await call(wire, { ...notes, body: '' })).status, 202);
  const headers = { 'Transfer-Encoding': 'chunked', 'Content-Type': 'application/json' };
  assert.equal((await call(wire, { ...notes, headers })).status, 202);
  assert.deepEqual(
    wire.calls.map(({ input }) => input.body),
    [undefined, undefined, undefined],
  );
});

test('a body that no one takes is ignored, and the connection goes on', async (t) => {
  const wire = await startWire(t);
  const client = await rawConnection(wire);
  const request = 'POST /api/v1/things/search HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n';
  client.send(`${request}{not json`);
  await client.receive('"done"');
  client.send('GET /api/v1/codes/123 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  const all = await client.closed();
  assert.equal(all.match(/HTTP\/1\.1 200 OK/g)?.length, 2);
  assert.equal(wire.calls[0]?.input.body, undefined);
});

test('a form is passed on unread, and its client gets the response', async (t) => {
  const wire = await startWire(t);
  const sent = { method: 'POST', path: '/api/v1/files', body: Buffer.alloc(8 * 1024 * 1024) };
  const headers = { 'Content-Type': 'multipart/form-data; boundary=x' };
  const response = await call(wire, { ...sent, headers });
  assert.equal(response.status, 201);
  assert.ok(wire.calls[0]?.input.body instanceof IncomingForm);
  assert.equal(wire.calls[0]?.request.rawBody.length, 0);
  assert.equal((await call(wire, sent)).status, 415);
});

test('a form that is absent is 422 with every required field', async (t) => {
  const wire = await startWire(t);
  const response = await call(wire, { method: 'POST', path: '/api/v1/files' });
  assert.equal(response.status, 422);
  assert.deepEqual(Object.keys(response.json.errors ?? {}), ['tipo_documento', 'arquivo']);
});

test('keys named __proto__ are dropped', async (t) => {
  const wire = await startWire(t);
  const body = '{"text":"a","__proto__":{"admin":true},"deep":{"__proto__":1}}';
  await call(wire, { ...notes, body });
  const value = wire.calls[0]?.input.body as object;
  assert.deepEqual(Object.keys(value), ['text', 'deep']);
  assert.equal(Object.getPrototypeOf({ ...value }), Object.prototype);
  assert.ok(!('admin' in Object.assign({}, value)));
});
