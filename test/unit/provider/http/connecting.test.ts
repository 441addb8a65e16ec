import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import * as tls from 'node:tls';
import { Worker } from 'node:worker_threads';
import { createHttpClient, type HttpClient } from '../../../../src/provider/http/client.ts';
import { manualClock } from '../../../support/clock.ts';
import { eventually } from '../../../support/eventually.ts';
import { failure } from '../sandbox/bank/open-bank.ts';
import { selfSigned } from './certificate.ts';
import { makeClient, notConnected, notSentInTime, reset } from './over-http.ts';
import { responding, httpResponse, listening, rawServer } from './raw-server.ts';
import { afterFile } from '../../../support/suite.ts';

function pay(client: HttpClient, signal?: AbortSignal) {
  return client.send({ method: 'POST', path: '/p', body: { a: 1 }, ...(signal && { signal }) });
}

/** A port that takes no connection and refuses none: the queue of its listener is full. */
async function busyPort(): Promise<number> {
  const source = `
    const { parentPort } = require('node:worker_threads');
    const server = require('node:net').createServer();
    server.listen(0, '127.0.0.1', 1, () => {
      const said = new Int32Array(new SharedArrayBuffer(4));
      parentPort.postMessage(server.address().port);
      // From here on nothing is accepted.
      Atomics.wait(said, 0, 0, 60_000);
    });`;
  const worker = new Worker(source, { eval: true });
  const [port] = (await once(worker, 'message')) as [number];
  // The kernel completes one connection more than the backlog says.
  const waiting = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  for (const socket of waiting) await once(socket, 'connect');
  afterFile(async () => {
    for (const socket of waiting) socket.destroy();
    await worker.terminate();
  });
  return port;
}

describe('a request that finds no connection was not sent:', () => {
  it('no process listens', async () => {
    // No process listens on port 1; one that was free a moment ago may be in use by now.
    const client = makeClient('http://127.0.0.1:1');
    assert.deepEqual(await failure(pay(client)), notConnected);
  });

  it('the host has no address', async () => {
    // A label of 64 characters is no name (RFC 1035), so that it is not resolved.
    const client = makeClient(`http://${'a'.repeat(64)}.invalid`);
    assert.deepEqual(await failure(pay(client)), notConnected);
  });

  it('the host takes no connection in time', { skip: onlyLinux() }, async () => {
    const client = makeClient(`http://127.0.0.1:${await busyPort()}`, 200);
    assert.deepEqual(await failure(pay(client)), notConnected);
  });

  it('the signal aborts while the connection is made', { skip: onlyLinux() }, async () => {
    const client = makeClient(`http://127.0.0.1:${await busyPort()}`, 200);
    const controller = new AbortController();
    const call = failure(pay(client, controller.signal));
    controller.abort(new Error('time is up'));
    assert.deepEqual(await call, notSentInTime);
  });

  it('its process was frozen while the connection was made', async () => {
    const clock = manualClock();
    let handler: { onRequestStart?: (controller: never, context: never) => void } = {};
    const dispatcher = {
      dispatch(_request: unknown, received: typeof handler) {
        handler = received;
        return true;
      },
      destroy: () => Promise.resolve(),
    };
    const client = createHttpClient({
      baseUrl: 'http://frozen.invalid',
      timeoutMs: 5_000,
      clock,
      dispatcher,
    });
    const call = failure(pay(client));
    await clock.advance(5_000);
    assert.throws(() => handler.onRequestStart?.({} as never, {} as never), /before it was sent/);
    assert.deepEqual(await call, notSentInTime);
  });

  it('the signal has aborted before', async () => {
    const server = await responding(200, {});
    const call = pay(makeClient(server.url), AbortSignal.abort(new Error('gone')));
    assert.deepEqual(await failure(call), notSentInTime);
    assert.equal(server.sockets.length, 0);
  });

  it('the signal aborts while all connections are busy, and it never leaves later', async () => {
    const server = await rawServer(() => {
      // Holds the connection until the test answers.
    });
    const client = makeClient(server.url);
    const busy = Array.from({ length: 64 }, () => pay(client));
    await eventually(() => server.requests.length === 64, 'all connections to be busy');
    const controller = new AbortController();
    const call = failure(pay(client, controller.signal));
    controller.abort(new Error('time is up'));
    assert.deepEqual(await call, notSentInTime);
    for (const { socket } of server.requests) socket.write(httpResponse(200, '{}'));
    await Promise.all(busy);
    const after65 = pay(client);
    await eventually(() => server.requests.length === 65, 'one more request');
    server.requests[64]?.socket.write(httpResponse(200, '{}'));
    await after65;
    assert.equal(server.requests.length, 65);
  });

  it('the client is closed', async () => {
    const server = await responding(200, {});
    const client = makeClient(server.url);
    await client.close();
    assert.deepEqual(await failure(pay(client)), { ...notConnected, retryable: false });
    assert.equal(server.sockets.length, 0);
  });

  it('it cannot be written', async () => {
    const server = await responding(200, {});
    const client = makeClient(server.url);
    const call = client.send({ method: 'GET', path: '/', token: 'two\r\nlines' });
    assert.deepEqual(await failure(call), { ...notConnected, retryable: false });
    assert.equal(server.requests.length, 0);
  });
});

function onlyLinux(): string | false {
  return process.platform === 'linux' ? false : 'how long a full queue is depends on the system';
}

describe('a request over TLS', () => {
  const certificate = selfSigned();

  /** A TLS server that answers everything alike. */
  async function tlsServer(respond: (socket: tls.TLSSocket) => void) {
    const options = { ...certificate, ALPNProtocols: ['h2', 'http/1.1'] };
    const server = tls.createServer(options, (socket) => {
      socket.on('error', () => {
        // Clients that do not trust it break the connection off.
      });
      socket.once('data', () => respond(socket));
    });
    server.on('tlsClientError', () => {
      // The same, in the middle of the handshake.
    });
    return `https://127.0.0.1:${await listening(server)}`;
  }

  function trusted(t: TestContext): void {
    const before = tls.getCACertificates();
    tls.setDefaultCACertificates([...before, certificate.cert]);
    t.after(() => tls.setDefaultCACertificates(before));
  }

  it('is answered when the certificate is trusted', async (t) => {
    trusted(t);
    const url = await tlsServer((socket) => socket.write(httpResponse(200, '{"ok":true}')));
    assert.deepEqual((await pay(makeClient(url))).json, { ok: true });
  });

  it('speaks HTTP/1.1, also with a server that would rather speak HTTP/2', async (t) => {
    trusted(t);
    const protocols: unknown[] = [];
    const url = await tlsServer((socket) => {
      protocols.push(socket.alpnProtocol);
      socket.write(httpResponse(200, '{}'));
    });
    await pay(makeClient(url)).catch(() => null);
    assert.deepEqual(protocols, ['http/1.1']);
  });

  it('may have been executed when the connection breaks after the handshake', async (t) => {
    trusted(t);
    const url = await tlsServer((socket) => socket.destroy());
    assert.deepEqual(await failure(pay(makeClient(url))), reset);
  });

  it('was not sent when the certificate is not trusted', async () => {
    const url = await tlsServer((socket) => socket.write(httpResponse(200, '{}')));
    assert.deepEqual(await failure(pay(makeClient(url))), notConnected);
  });

  it('was not sent then, whatever the environment says', async (t) => {
    const name = 'NODE_TLS_REJECT_UNAUTHORIZED';
    process.env[name] = '0';
    t.after(() => Reflect.deleteProperty(process.env, name));
    const url = await tlsServer((socket) => socket.write(httpResponse(200, '{}')));
    assert.deepEqual(await failure(pay(makeClient(url))), notConnected);
  });

  it('was not sent when the certificate is for another host', async (t) => {
    trusted(t);
    const url = await tlsServer((socket) => socket.write(httpResponse(200, '{}')));
    const call = pay(makeClient(url.replace('127.0.0.1', 'localhost')));
    assert.deepEqual(await failure(call), notConnected);
  });

  it('was not sent when the server speaks no TLS', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {
        // The client breaks the handshake off.
      });
      socket.once('data', () => socket.end(httpResponse(400, 'plain')));
    });
    const call = pay(makeClient(`https://127.0.0.1:${await listening(server)}`));
    assert.deepEqual(await failure(call), notConnected);
  });

  it('was not sent when the connection breaks during the handshake', async () => {
    const server = createServer((socket) => {
      socket.once('data', () => socket.resetAndDestroy());
    });
    const call = pay(makeClient(`https://127.0.0.1:${await listening(server)}`));
    assert.deepEqual(await failure(call), notConnected);
  });

  it('was not sent when the handshake does not end in time', async () => {
    const greeted = Promise.withResolvers<void>();
    const server = createServer((socket) => {
      afterFile(() => socket.destroy());
      socket.once('data', () => greeted.resolve());
    });
    const controller = new AbortController();
    const client = makeClient(`https://127.0.0.1:${await listening(server)}`);
    const call = failure(pay(client, controller.signal));
    await greeted.promise;
    controller.abort(new Error('time is up'));
    assert.deepEqual(await call, notSentInTime);
  });
});
