import assert from 'node:assert/strict';
import { createServer as createHttpServer, type IncomingHttpHeaders } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ProviderError } from '../../../../src/provider/errors.ts';
import type { PersonDocument } from '../../../../src/provider/provider.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeDocument } from '../applicant.ts';
import { failure } from '../sandbox/bank/open-bank.ts';
import { makeClient, providerAt, reset, timedOut } from './over-http.ts';
import { httpResponse, listening, rawServer } from './raw-server.ts';

const mebibyte = 1024 * 1024;

const chunkBytes = 64 * 1024;

/** A document whose chunks are created when they are read, and the number of bytes read. */
function largeDocument(sizeBytes: number, onChunk: () => void = () => {}) {
  const read = { bytes: 0, isClosed: false };
  const document: PersonDocument = {
    tipoDocumento: 5,
    contentType: 'application/pdf',
    sizeBytes,
    async *content() {
      try {
        for (let nth = 0; read.bytes < sizeBytes; nth += 1) {
          const chunk = Buffer.alloc(Math.min(chunkBytes, sizeBytes - read.bytes), nth % 251);
          read.bytes += chunk.length;
          onChunk();
          yield chunk;
        }
      } finally {
        read.isClosed = true;
      }
    },
  };
  return { document, read };
}

/** A server that counts what it is sent, and keeps none of it. */
async function countingServer() {
  const requests: { readonly headers: IncomingHttpHeaders; bytes: number }[] = [];
  const server = createHttpServer((request, response) => {
    const counted = { headers: request.headers, bytes: 0 };
    request.on('data', (chunk: Buffer) => (counted.bytes += chunk.length));
    request.on('end', () => {
      requests.push(counted);
      response.end('{}');
    });
  });
  return { url: `http://127.0.0.1:${await listening(server)}`, requests };
}

/** A server that takes connections and reads nothing until a test lets it. */
async function deafServer() {
  const sockets: Socket[] = [];
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    sockets.push(socket);
    socket.on('error', () => {
      // Connections break here on purpose.
    });
  });
  return { url: `http://127.0.0.1:${await listening(server, sockets)}`, sockets };
}

describe('a document of 20 MB', () => {
  it('goes through in a memory that it would not fit into, with its length before it', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const { url, requests } = await countingServer();
    const provider = providerAt(url);
    await provider.submitDocument({ personId: 'p', document: makeDocument() });
    // What the tests before have held goes in more than one turn.
    for (let turn = 0; turn < 10; turn += 1) {
      collectGarbage();
      await nextTurn();
    }
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const sizeBytes = 20 * mebibyte;
    const { document, read } = largeDocument(sizeBytes, () => {
      if (read.bytes % (5 * mebibyte) !== 0) return;
      collectGarbage();
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    });
    await provider.submitDocument({ personId: 'p', document });
    const form = requests.at(-1);
    assert.equal(form?.headers['content-length'], String(form?.bytes));
    assert.equal(form?.headers['transfer-encoding'], undefined);
    assert.ok((form?.bytes ?? 0) > sizeBytes);
    assert.ok(most > 0 && most < sizeBytes / 2, `${most} bytes were held`);
  });

  it('is read no faster than it is taken', async () => {
    const { url, sockets } = await deafServer();
    const { document, read } = largeDocument(64 * mebibyte);
    const controller = new AbortController();
    const call = failure(
      providerAt(url).submitDocument({ personId: 'p', document, signal: controller.signal }),
    );
    await eventually(() => sockets.length === 1, 'the connection');
    let seen = -1;
    await eventually(() => {
      const isStalled = read.bytes === seen && seen > 0;
      seen = read.bytes;
      return isStalled;
    }, 'the upload to stand still');
    // What the kernel holds between the two ends has been read; the rest has not.
    assert.ok(seen < 32 * mebibyte, `${seen} bytes were read`);
    controller.abort(new Error('time is up'));
    assert.deepEqual(await call, timedOut);
    await eventually(() => read.isClosed, 'the document to be released');
  });
});

describe('an upload', () => {
  for (const [title, end] of [
    ['and the connection stays', () => {}],
    ['and the connection is closed', (socket: Socket) => void socket.end()],
  ] as const) {
    it(`that is refused before it has come whole is refused, ${title}`, async () => {
      const { url, sockets } = await deafServer();
      const { document, read } = largeDocument(20 * mebibyte);
      const call = failure(providerAt(url).submitDocument({ personId: 'p', document }));
      await eventually(() => sockets.length === 1, 'the connection');
      const [socket] = sockets;
      socket?.write(httpResponse(404, ''), () => end(socket));
      socket?.resume();
      const { outcome, statusClass } = await call;
      assert.deepEqual([outcome, statusClass], ['rejected', '404']);
      await eventually(() => read.isClosed, 'the document to be released');
    });
  }

  it('whose connection breaks may have been taken', async () => {
    const { url, sockets } = await deafServer();
    const { document, read } = largeDocument(20 * mebibyte);
    const call = failure(providerAt(url).submitDocument({ personId: 'p', document }));
    await eventually(() => read.bytes > mebibyte, 'a part of the document');
    sockets[0]?.resetAndDestroy();
    assert.deepEqual(await call, reset);
    await eventually(() => read.isClosed, 'the document to be released');
  });

  it('whose response does not come ends with the signal', async () => {
    const server = await rawServer(() => {
      // No response.
    });
    const controller = new AbortController();
    const { signal } = controller;
    const document = makeDocument();
    const call = failure(
      providerAt(server.url).submitDocument({ personId: 'p', document, signal }),
    );
    await eventually(() => server.requests.length === 1, 'the form');
    controller.abort(new Error('time is up'));
    assert.deepEqual(await call, timedOut);
    assert.deepEqual(document.opened, { times: 1, closed: 1 });
  });

  it('has the time that its caller gives it, which is more than a small request has', async () => {
    const server = await rawServer(() => {
      // No response.
    });
    const client = makeClient(server.url, 1_000);
    const controller = new AbortController();
    const { signal } = controller;
    const upload = { contentType: 'text/plain', sizeBytes: 13, content: makeDocument().content() };
    const slow = client
      .send({ method: 'POST', path: '/', upload, signal })
      .catch((error: unknown) => error);
    const small = client.send({ method: 'POST', path: '/', body: {} });
    assert.deepEqual(await failure(small), timedOut);
    controller.abort(new Error('time is up'));
    const ended = await slow;
    assert.ok(ended instanceof ProviderError && ended.cause === signal.reason);
  });
});
