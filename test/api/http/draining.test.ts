import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { test } from 'node:test';
import {
  call,
  gate,
  rawConnection,
  startWire,
  until,
  type RawConnection,
  type Wire,
} from './wire.ts';

const noteRequest = 'POST /api/v1/notes HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';

test('listening returns the address, and a port that is taken is an error', async (t) => {
  const wire = await startWire(t);
  assert.equal(wire.url, `http://127.0.0.1:${wire.port}`);
  await assert.rejects(startWire(t, { config: { port: wire.port } }), { code: 'EADDRINUSE' });
});

test('a request in flight finishes, its connection closes, and no other is accepted', async (t) => {
  const { opened, open } = gate();
  const wire = await startWire(t, { runs: { addNote: () => opened } });
  const client = await rawConnection(wire);
  client.send(noteRequest);
  await until(() => wire.calls.length === 1);
  const drained = wire.drain();
  await assert.rejects(call(wire, { path: '/health/live' }), { code: 'ECONNREFUSED' });
  open();
  const response = await client.closed();
  assert.match(response, /^HTTP\/1\.1 202 /);
  assert.match(response, /\r\nConnection: close\r\n/i);
  await drained;
});

test('a new request on an open connection is 503 with Retry-After and closes it', async (t) => {
  const { opened, open } = gate();
  const wire = await startWire(t, { runs: { addNote: () => opened } });
  const client = await rawConnection(wire);
  client.send(noteRequest);
  await until(() => wire.calls.length === 1);
  const drained = wire.drain();
  const isRead = new Promise((resolve) => subscribe('http.server.request.start', resolve));
  // Pipelined: the connection would otherwise end with the first response.
  client.send('GET /api/v1/codes/123 HTTP/1.1\r\nHost: x\r\n\r\n');
  await isRead;
  open();
  await drained;
  assert.deepEqual(
    wire.lines.map(({ status, unsentStatus }) => [status, unsentStatus]),
    [
      [202, undefined],
      [499, 503],
    ],
  );
  assert.equal(wire.calls.length, 1);
});

test('while it drains the service is not ready', async (t) => {
  const { opened, open } = gate();
  const wire = await startWire(t, {
    readiness: () =>
      opened.then(() => ({ ready: true, version: '1.2.3', checks: { database: true } })),
  });
  const client = await rawConnection(wire);
  client.send('GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n');
  await until(() => client.socket.bytesWritten > 0);
  await call(wire, { path: '/health/live' });
  const drained = wire.drain();
  open();
  const response = await client.closed();
  assert.match(response, /^HTTP\/1\.1 503 /);
  assert.match(response, /"status":"unavailable"/);
  await drained;
});

const codeRequest = 'GET /api/v1/codes/123 HTTP/1.1\r\nHost: x\r\n\r\n';

/** What a request gets that arrives after the stop began. */
const refusal = /^HTTP\/1\.1 503 [^]*\r\nRetry-After: 5\r\nConnection: close\r\n/i;

async function idleConnection(wire: Wire): Promise<RawConnection> {
  const idle = await rawConnection(wire);
  idle.send('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
  await idle.receive('"ok"');
  return idle;
}

test('idle and unused connections are closed after half a second', async (t) => {
  const wire = await startWire(t);
  const unused = await rawConnection(wire);
  const idle = await idleConnection(wire);
  let hasDrained = false;
  const drained = wire.drain().then(() => (hasDrained = true));
  await wire.clock.advance(499);
  assert.equal(hasDrained, false);
  await wire.clock.advance(1);
  await drained;
  assert.equal(await unused.closed(), '');
  assert.match(await idle.closed(), /^HTTP\/1\.1 200 /);
});

test('without a connection a stop does not wait', async (t) => {
  const wire = await startWire(t);
  await wire.drain();
});

test('requests that are on their way when the stop begins are answered', async (t) => {
  const wire = await startWire(t);
  const unused = await rawConnection(wire);
  const idle = await idleConnection(wire);
  // They are in the socket's buffer, and the server has not read them.
  unused.send(codeRequest);
  idle.send(codeRequest);
  await wire.drain();
  assert.match(await unused.closed(), refusal);
  assert.match(await idle.closed(), /^HTTP\/1\.1 200 [^]*HTTP\/1\.1 503 /);
});

test('a request within the grace is answered, and ends its connection at once', async (t) => {
  const wire = await startWire(t);
  const client = await rawConnection(wire);
  const drained = wire.drain();
  await wire.clock.advance(499);
  client.send(codeRequest);
  assert.match(await client.closed(), refusal);
  await drained;
});

test('a refusal during the stop waits for the rest of its request', async (t) => {
  const wire = await startWire(t);
  const client = await rawConnection(wire);
  const drained = wire.drain();
  client.send('POST /api/v1/notes HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n');
  await client.receive('is restarting');
  await wire.clock.advance(1_000);
  assert.equal(client.socket.readableEnded, false);
  client.send('{}');
  assert.match(await client.closed(), refusal);
  await drained;
});

test('what has not finished after 15 s is cut, and its signal aborts', async (t) => {
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
  client.send(noteRequest);
  await until(() => wire.calls.length === 1);
  const drained = wire.drain();
  await wire.clock.advance(14_999);
  assert.equal(wire.calls[0]?.request.signal.aborted, false);
  await wire.clock.advance(1);
  await drained;
  await opened;
  assert.equal(await client.closed(), '');
});

test('draining twice is draining once', async (t) => {
  const wire = await startWire(t);
  await Promise.all([wire.drain(), wire.drain()]);
  await wire.drain();
});
