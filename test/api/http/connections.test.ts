/** What a client may do to a connection: not read, pipeline, open too many, send slowly. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { passUntil } from '../../support/passing-time.ts';
import { call, gate, rawConnection, startWire, until, type Wire } from './wire.ts';

const mib = 1_048_576;

/** More than the kernel buffers between two sockets of one machine: at most 4 and 6 MiB. */
const longBytes = 32 * mib;
const longReply = { status: 200, body: { message: 'x'.repeat(longBytes) } };

const liveRequest = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';
const noteRequest = 'POST /api/v1/notes HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';

/** @param code from 100 to 999. */
function readCode(code: number): string {
  return `GET /api/v1/codes/${code} HTTP/1.1\r\nHost: x\r\n\r\n`;
}

/** A client that reads only on request. */
interface Reader {
  readonly socket: Socket;
  /** Reads until this many more bytes have come. */
  read(bytes: number): Promise<void>;
  /** Reads on until the server closes the connection; resolves with the bytes in all. */
  readToEnd(): Promise<number>;
}

async function pausedReader(wire: Wire, requests: string): Promise<Reader> {
  const socket = connect({ port: wire.port, host: '127.0.0.1' });
  socket.pause();
  let receivedBytes = 0;
  let isClosed = false;
  socket.on('data', (chunk: Buffer) => (receivedBytes += chunk.length));
  socket.pause();
  socket.on('error', () => undefined);
  socket.on('close', () => (isClosed = true));
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(requests);
  return {
    socket,
    async read(bytes) {
      const goal = receivedBytes + bytes;
      socket.resume();
      await until(() => receivedBytes >= goal || isClosed);
      socket.pause();
    },
    async readToEnd() {
      socket.resume();
      await until(() => isClosed);
      return receivedBytes;
    },
  };
}

/** How many connections the service closed by itself, by reason. */
async function closedConnections({ context }: Wire): Promise<Record<string, number>> {
  const { values } = await context.metrics.closedConnections.get();
  const counted = values.filter(({ value }) => value > 0);
  return Object.fromEntries(counted.map(({ labels, value }) => [labels.reason, value]));
}

/** The server has read what was sent before once it has answered a later connection. */
async function untilRead(wire: Wire): Promise<void> {
  await call(wire, { path: '/health/live' });
}

/** What was logged about requests other than those for health. */
function requestLines(wire: Wire): Record<string, unknown>[] {
  return wire.lines.filter(({ operation }) => operation !== 'health.live');
}

test('a client that reads nothing is cut after 30 s, and its request is 499, once', async (t) => {
  const wire = await startWire(t, { runs: { readCode: () => longReply } });
  const client = await pausedReader(wire, readCode(100));
  await until(() => wire.calls.length === 1);
  const startMs = wire.clock.now().getTime();
  await passUntil(
    wire.clock,
    until(() => wire.lines.length > 0),
  );
  const passedMs = wire.clock.now().getTime() - startMs;
  assert.ok(passedMs >= 30_000 && passedMs <= 45_000, `it was cut after ${passedMs} ms`);
  assert.ok((await client.readToEnd()) < longBytes);
  await wire.clock.advance(60_000);
  assert.equal(wire.lines.length, 1);
  const [line] = wire.lines;
  assert.equal(line?.['operation'], 'readCode');
  assert.equal(line['status'], 499);
  assert.equal(line['unsentStatus'], 200);
  assert.ok(Number(line['durationMs']) >= 30_000);
  assert.deepEqual(await closedConnections(wire), { stalled: 1 });
});

/**
 * Requests responses that are not read, until one stays in the process: the kernel takes no more.
 */
async function fillUp(wire: Wire): Promise<number> {
  const { socket } = await pausedReader(wire, '');
  const isTaken = async (count: number): Promise<boolean> => {
    socket.write(readCode(100));
    await until(() => wire.calls.length === count);
    await untilRead(wire);
    return requestLines(wire).length === count;
  };
  let sent = 1;
  while (await isTaken(sent)) sent += 1;
  return sent;
}

const shortReply = { status: 200, body: { message: 'x'.repeat(50_000) } };

test('a client that reads none of many short responses is cut too', async (t) => {
  const wire = await startWire(t, { runs: { readCode: () => shortReply } });
  const sent = await fillUp(wire);
  await passUntil(
    wire.clock,
    until(() => requestLines(wire).length === sent),
  );
  const last = requestLines(wire).at(-1);
  assert.deepEqual([last?.['status'], last?.['unsentStatus']], [499, 200]);
  assert.deepEqual(await closedConnections(wire), { stalled: 1 });
});

test('a short response that a stop cuts is 499 too', async (t) => {
  const wire = await startWire(t, { runs: { readCode: () => shortReply } });
  const sent = await fillUp(wire);
  await passUntil(wire.clock, wire.drain());
  assert.equal(requestLines(wire).length, sent);
  const last = requestLines(wire).at(-1);
  assert.deepEqual([last?.['status'], last?.['unsentStatus']], [499, 200]);
});

test('a client that reads slowly gets its whole response', async (t) => {
  const wire = await startWire(t, { runs: { readCode: () => longReply } });
  const client = await pausedReader(wire, readCode(100));
  await until(() => wire.calls.length === 1);
  // Each piece is more than the buffers hold, so that the server has to send on.
  for (let piece = 1; piece <= 2; piece += 1) {
    await wire.clock.advance(29_000);
    await client.read(11 * mib);
  }
  await wire.clock.advance(29_000);
  client.socket.write('GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  assert.ok((await client.readToEnd()) > longBytes);
  assert.deepEqual(
    wire.lines.map(({ operation, status }) => [operation, status]),
    [['readCode', 200]],
  );
  assert.deepEqual(await closedConnections(wire), {});
});

test('a payment whose client does not read is carried to its end', async (t) => {
  const { opened, open } = gate();
  const runs = { readCode: () => longReply, addNote: () => opened };
  const wire = await startWire(t, { runs });
  await pausedReader(wire, readCode(100) + noteRequest);
  await until(() => wire.calls.length === 2);
  await passUntil(
    wire.clock,
    until(() => wire.lines.length > 0),
  );
  assert.equal(wire.lines[0]?.['operation'], 'readCode');
  open();
  await until(() => wire.lines.length > 1);
  assert.equal(wire.lines[1]?.['operation'], 'addNote');
  assert.equal(wire.lines[1]['status'], 202);
});

test('a request that waits for its response is not cut: nothing is to be sent', async (t) => {
  const { opened, open } = gate();
  const wire = await startWire(t, { runs: { addNote: () => opened } });
  const client = await rawConnection(wire);
  // The second response is there at once, and has to wait for the first one.
  client.send(noteRequest + liveRequest);
  await until(() => wire.calls.length === 1);
  await wire.clock.advance(120_000);
  open();
  assert.match(await client.receive('"ok"'), /^HTTP\/1\.1 202 .*HTTP\/1\.1 200 /s);
});

test('of pipelined requests four run at a time, and responses keep their order', async (t) => {
  const gates = Array.from({ length: 36 }, gate);
  const getCode = (seen: Wire['calls'][number]) => Number(seen.input.path['code']);
  const wire = await startWire(t, {
    runs: {
      readCode: async (seen) => {
        await gates[getCode(seen) - 100]?.opened;
        return { status: 200, body: { message: `code ${getCode(seen)}` } };
      },
    },
  });
  const codes = gates.map((_gate, place) => 100 + place);
  const client = await rawConnection(wire);
  client.send(codes.slice(0, 6).map(readCode).join(''));
  await untilRead(wire);
  // The server does not read these: it would have more open requests than it allows.
  client.send(codes.slice(6).map(readCode).join(''));
  await untilRead(wire);
  assert.deepEqual(wire.calls.map(getCode), [100, 101, 102, 103]);
  for (const { open } of gates.slice(1)) open();
  await untilRead(wire);
  assert.equal(wire.calls.length, 4);
  gates[0]?.open();
  const responses = await client.receive('code 135');
  assert.deepEqual(
    [...responses.matchAll(/code (\d+)/g)].map(([, code]) => Number(code)),
    codes,
  );
  assert.deepEqual(wire.calls.map(getCode), codes);
  assert.deepEqual(await closedConnections(wire), {});
});

test('a body that follows waiting requests is read when its turn comes', async (t) => {
  const { opened, open } = gate();
  const wire = await startWire(t, { runs: { readCode: () => opened } });
  const client = await rawConnection(wire);
  const text = 'x'.repeat(200_000);
  const body = JSON.stringify({ text });
  const head = 'POST /api/v1/notes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
  const codes = [101, 102, 103, 104, 105].map(readCode).join('');
  client.send(`${codes}${head}Content-Length: ${body.length}\r\n\r\n${body}`);
  await untilRead(wire);
  assert.equal(wire.calls.length, 4);
  // It has thirty seconds from when it is waited for.
  await wire.clock.advance(60_000);
  open();
  await client.receive('HTTP/1.1 202 ');
  assert.deepEqual(wire.calls.at(-1)?.input.body, { text });
});

test('a client that pipelines too many requests is cut, and what runs goes on', async (t) => {
  const { opened, open } = gate();
  let attempts = 0;
  const countAddress = () => void (attempts += 1);
  const wire = await startWire(t, { runs: { addNote: () => opened }, countAddress });
  const client = await rawConnection(wire);
  client.send(noteRequest.repeat(40));
  assert.equal(await client.closed(), '');
  assert.equal(wire.calls.length, 4);
  await until(() => wire.lines.length === 28);
  open();
  await until(() => wire.lines.length === 32);
  await untilRead(wire);
  const statuses = requestLines(wire).map(({ status }) => status);
  assert.deepEqual(statuses, [...Array<number>(28).fill(499), ...Array<number>(4).fill(202)]);
  assert.equal(wire.calls.length, 4);
  assert.equal(attempts, 4);
  assert.deepEqual(await closedConnections(wire), { pipelined: 1 });
});

test('a flood of pipelined requests is cut for less than it takes to answer them', async (t) => {
  const wire = await startWire(t);
  const flood = liveRequest.repeat(1_500);
  const send = async (times: number): Promise<number> => {
    const before = process.threadCpuUsage();
    for (let time = 1; time <= times; time += 1) {
      const client = await rawConnection(wire);
      client.send(flood);
      await client.closed();
    }
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000 / times;
  };
  await send(10);
  const milliseconds = await send(20);
  assert.ok(milliseconds < 20, `a flood takes ${milliseconds} ms of the processor`);
});

test('a connection over the limit is closed at once, until another one closes', async (t) => {
  const wire = await startWire(t, { config: { connectionLimits: { total: 2, perAddress: 0 } } });
  const [first, second] = [await rawConnection(wire), await rawConnection(wire)];
  assert.equal(await (await rawConnection(wire)).closed(), '');
  second.send(liveRequest);
  await second.receive('"ok"');
  assert.deepEqual(await closedConnections(wire), { total: 1 });
  first.send('GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  await first.closed();
  assert.equal((await call(wire, { path: '/health/live' })).status, 200);
});

test('an address has a limit of its own', async (t) => {
  const wire = await startWire(t, { config: { connectionLimits: { total: 10, perAddress: 1 } } });
  const first = await rawConnection(wire);
  assert.equal(await (await rawConnection(wire)).closed(), '');
  assert.deepEqual(await closedConnections(wire), { per_address: 1 });
  const other = connect({ port: wire.port, host: '127.0.0.1', localAddress: '127.0.0.2' });
  t.after(() => other.destroy());
  let received = '';
  other.on('data', (chunk: Buffer) => (received += chunk.toString()));
  other.write(liveRequest);
  await until(() => received.includes('"ok"'));
  first.send('GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  await first.closed();
  assert.equal((await call(wire, { path: '/health/live' })).status, 200);
});

test('a response that is being read is finished when the service stops', async (t) => {
  const wire = await startWire(t, { runs: { readCode: () => longReply } });
  const client = await pausedReader(wire, readCode(100));
  await until(() => wire.calls.length === 1);
  await untilRead(wire);
  const drained = wire.drain();
  await client.read(11 * mib);
  const read = client.readToEnd();
  await until(() => requestLines(wire).length === 1);
  // The head of the response was sent before the stop, and does not close the connection.
  await wire.clock.advance(500);
  assert.ok((await read) > longBytes);
  await drained;
  assert.deepEqual(
    requestLines(wire).map(({ status }) => status),
    [200],
  );
});

test('a response that is not read ends with the time to stop', async (t) => {
  const wire = await startWire(t, { runs: { readCode: () => longReply } });
  await pausedReader(wire, readCode(100));
  await until(() => wire.calls.length === 1);
  await untilRead(wire);
  const drained = wire.drain();
  await wire.clock.advance(14_999);
  assert.deepEqual(requestLines(wire), []);
  await wire.clock.advance(1);
  await drained;
  assert.deepEqual(
    requestLines(wire).map(({ status }) => status),
    [499],
  );
});

test('a connection without a request, and a head that drips, are closed in time', async (t) => {
  const wire = await startWire(t);
  const server = await listeningServer(t, wire);
  assert.equal(server.headersTimeout, 10_000);
  assert.equal(server.keepAliveTimeout, 65_000);
  // Node keeps these times by its own clock; it looks every second.
  server.headersTimeout = 1;
  const { port } = server.address() as { port: number };
  const silent = await rawConnection({ port });
  const dripping = await rawConnection({ port });
  const drip = setInterval(() => dripping.send('a'), 20);
  t.after(() => clearInterval(drip));
  dripping.send('GET /health/live HTTP/1.1\r\nHost: ');
  assert.match(await dripping.closed(), /^HTTP\/1\.1 408 /);
  assert.equal(await silent.closed(), '');
  assert.deepEqual(
    wire.lines.map(({ status }) => status),
    [408],
  );
});

/** The server behind a wire, whose settings are otherwise hidden. */
async function listeningServer(t: TestContext, wire: Wire): Promise<Server> {
  const { promise, resolve } = Promise.withResolvers<Server>();
  const note = (message: unknown): void => resolve((message as { server: Server }).server);
  subscribe('http.server.request.start', note);
  t.after(() => unsubscribe('http.server.request.start', note));
  await call(wire, { path: '/health/live' });
  return promise;
}
