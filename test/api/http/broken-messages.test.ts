import assert from 'node:assert/strict';
import { createServer, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createClientErrorListener } from '../../../src/http/client-errors.ts';
import { Connections } from '../../../src/http/connections.ts';
import { manualClock } from '../../support/clock.ts';
import { call, gate, rawConnection, startWire, until, type Wire } from './wire.ts';

const noteRequest = 'POST /api/v1/notes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

async function toAppError(wire: Wire, text: string): Promise<string> {
  const client = await rawConnection(wire);
  client.send(text);
  return client.closed();
}

function assertUsualResponse(response: string, status: number): void {
  assert.match(response, new RegExp(`^HTTP/1\\.1 ${status} `));
  for (const header of [
    /\r\nX-Request-Id: [0-9a-f-]{36}\r\n/,
    /\r\nCache-Control: no-store\r\n/,
    /\r\nX-Content-Type-Options: nosniff\r\n/,
    /\r\nContent-Type: application\/json; charset=utf-8\r\n/,
    /\r\nConnection: close\r\n/,
  ]) {
    assert.match(response, header);
  }
  const [, body = ''] = response.split('\r\n\r\n');
  assert.match(response, new RegExp(`\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`));
  const message = status === 431 ? 'The headers are too large.' : 'The request could not be read.';
  assert.deepEqual(JSON.parse(body), { message });
}

test('what is not HTTP is answered 400 in the usual form', async (t) => {
  const wire = await startWire(t);
  for (const text of [
    'hello\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    `${noteRequest}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
  ]) {
    assertUsualResponse(await toAppError(wire, text), 400);
  }
  assert.equal((await call(wire, { path: '/health/live' })).status, 200);
});

for (const [hosts, head] of [
  ['without a host', ''],
  ['with two hosts', 'Host: a\r\nhOST: b\r\n'],
] as const) {
  test(`a request ${hosts} is 400`, async (t) => {
    const wire = await startWire(t);
    const text = `GET /health/live HTTP/1.1\r\n${head}Connection: close\r\n\r\n`;
    assertUsualResponse(await toAppError(wire, text), 400);
  });
}

for (const [what, text] of [
  ['another version of HTTP', 'GET /health/live HTTP/2.0\r\nHost: x\r\n\r\n'],
  [
    'a body in a coding beside chunked',
    `${noteRequest}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  ],
] as const) {
  test(`${what} is 400, and closes the connection`, async (t) => {
    const wire = await startWire(t);
    const response = await toAppError(wire, text);
    assert.match(response, /^HTTP\/1\.1 400 /);
    assert.match(response, /\r\nConnection: close\r\n/i);
    assert.equal(wire.calls.length, 0);
  });
}

test('what follows an upgrade in the same packet is not left waiting', async (t) => {
  const wire = await startWire(t);
  const upgrade =
    'GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n';
  const response = await toAppError(wire, `${upgrade}GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n`);
  assert.equal(response.match(/^HTTP\/1\.1 200 /gm)?.length, 1);
  assert.match(response, /\r\nConnection: close\r\n/i);
});

test('a head over 16 KiB is 431', async (t) => {
  const wire = await startWire(t);
  for (const size of [17 * 1024, 2 * 1024 * 1024]) {
    const head = `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(size)}\r\n\r\n`;
    assertUsualResponse(await toAppError(wire, head), 431);
  }
});

test('what was refused before it was a request is logged and measured', async (t) => {
  const wire = await startWire(t);
  const response = await toAppError(wire, 'hello\r\n\r\n');
  const [line] = wire.lines;
  assert.equal(line?.['status'], 400);
  assert.ok(response.includes(String(line?.['requestId'])));
});

test('a body that breaks off in a malformed chunk is 400 and reaches no operation', async (t) => {
  const wire = await startWire(t);
  const head = `${noteRequest}Transfer-Encoding: chunked\r\nX-Request-Id: r-1\r\n\r\n`;
  const response = await toAppError(wire, `${head}2\r\n{}\r\nzz\r\n`);
  assert.match(response, /^HTTP\/1\.1 400 /);
  assert.match(response, /X-Request-Id: r-1/);
  await until(() => wire.lines.length > 0);
  assert.equal(wire.lines[0]?.['status'], 400);
  assert.equal(wire.calls.length, 0);
});

test('a broken message is never the response to a request whose work has begun', async (t) => {
  const { opened, open } = gate();
  const wire = await startWire(t, { runs: { addNote: () => opened } });
  const client = await rawConnection(wire);
  client.send(`${noteRequest}Content-Length: 2\r\n\r\n{}`);
  await until(() => wire.calls.length === 1);
  client.send('garbage\r\n\r\n');
  assert.equal(await client.closed(), '');
  open();
  await until(() => wire.lines.length > 0);
  assert.equal(wire.lines[0]?.['status'], 202);
});

test('a client that leaves before its body is complete reaches no operation', async (t) => {
  const wire = await startWire(t);
  const client = await rawConnection(wire);
  client.send(`${noteRequest}Content-Length: 100\r\n\r\n{"text":`);
  await turnUntilRead(wire);
  client.socket.resetAndDestroy();
  await until(() => wire.lines.length > 0);
  assert.equal(wire.lines[0]?.['status'], 499);
  assert.equal(wire.calls.length, 0);
});

test('a body that ends too early is 400 and reaches no operation', async (t) => {
  const wire = await startWire(t);
  const client = await rawConnection(wire);
  client.send(`${noteRequest}Content-Length: 100\r\n\r\n{"text":`);
  client.socket.end();
  assert.match(await client.closed(), /^HTTP\/1\.1 400 /);
  assert.equal(wire.calls.length, 0);
});

test('a client that leaves aborts the signal of its request', async (t) => {
  const { opened, open } = gate();
  const wire = await startWire(t, {
    runs: {
      addNote: ({ request }) => {
        request.signal.addEventListener('abort', open);
        return opened;
      },
    },
  });
  const client = await rawConnection(wire);
  client.send(`${noteRequest}Content-Length: 2\r\n\r\n{}`);
  await until(() => wire.calls.length === 1);
  assert.equal(wire.calls[0]?.request.signal.aborted, false);
  client.socket.destroy();
  await opened;
  await until(() => wire.lines.length > 0);
  assert.equal((await call(wire, { path: '/health/live' })).status, 200);
});

test('the signal of an answered request stays quiet', async (t) => {
  const wire = await startWire(t, { runs: { addNote: ({ request }) => void request.signal } });
  await call(wire, { method: 'POST', path: '/api/v1/notes', body: '{}' });
  await call(wire, { path: '/health/live' });
  assert.equal(wire.calls[0]?.request.signal.aborted, false);
});

test('an unusual expectation is ignored', async (t) => {
  const wire = await startWire(t);
  const response = await call(wire, { path: '/health/live', headers: { Expect: 'the best' } });
  assert.equal(response.status, 200);
});

/** The server has surely read what was sent once it has answered a later connection. */
async function turnUntilRead(wire: Wire): Promise<void> {
  await call(wire, { path: '/health/live' });
  wire.lines.length = 0;
}

test('a request that comes too slowly is 408, chunk extensions without end are 413', async (t) => {
  for (const [code, status, message] of [
    ['ERR_HTTP_REQUEST_TIMEOUT', 408, 'The request took too long to arrive. Try again.'],
    ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413, 'The body is too large.'],
  ] as const) {
    const clock = manualClock();
    const unused = () => assert.fail('no request was parsed');
    const refuse = createClientErrorListener({
      clock,
      connections: new Connections({ clock, start: unused, onSent: unused, onCut: unused }),
      complete: unused,
      onRefused: () => undefined,
    });
    const server = createServer((socket) => {
      const error = Object.assign(new Error('refused'), { code });
      socket.once('data', () => refuse(error, socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const client = await rawConnection({ port });
    client.send('GET');
    const head = await client.receive(message);
    assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `));
    // A client that does not close is cut after a while.
    await clock.advance(2_000);
    await client.closed();
  }
});
