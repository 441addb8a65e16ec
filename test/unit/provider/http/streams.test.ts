/** Payments at a bank that speaks HTTP/2: each has a stream of its own. */
import assert from 'node:assert/strict';
import { constants, createSecureServer } from 'node:http2';
import { createServer as createGate, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import type { TLSSocket } from 'node:tls';
import type { HttpClient } from '../../../../src/provider/http/client.ts';
import type { PooledClientOptions } from '../../../../src/provider/http/pool.ts';
import type { Provider } from '../../../../src/provider/provider.ts';
import { manualClock, type ManualClock } from '../../../support/clock.ts';
import { eventually } from '../../../support/eventually.ts';
import { failure } from '../sandbox/bank/open-bank.ts';
import { order, session } from '../scripted-provider.ts';
import { selfSigned } from './certificate.ts';
import {
  dataFrame,
  frameServer,
  headersFrame,
  http2Server,
  settingsFrames,
  type FrameRequest,
  type Http2Server,
  type StreamRequest,
} from './http2-server.ts';
import {
  makeClient,
  notConnected,
  notSentInTime,
  notUnderstood,
  providerAt,
  timedOut,
} from './over-http.ts';
import { nthOrder, outcomeOf, receiptOf } from './payments.ts';
import { listening } from './raw-server.ts';

function accept({ stream, text }: StreamRequest): void {
  stream.respond({ ':status': 200, 'content-type': 'application/json' });
  stream.end(receiptOf(text));
}

function refuse({ stream }: StreamRequest): void {
  stream.respond({ ':status': 422 });
  stream.end('{"code":"AC03"}');
}

function providerOf(bank: Http2Server, options: Partial<PooledClientOptions> = {}): Provider {
  return providerAt(bank.url, { tls: { ca: bank.certificate.cert }, ...options });
}

/** A gate that holds the connections to a bank until they are let pass. */
async function gateTo(bank: Http2Server) {
  const made: Socket[] = [];
  const held: Socket[] = [];
  let isOpen = false;
  const pass = (): void => {
    for (const socket of held.splice(0)) bank.server.emit('connection', socket);
  };
  const gate = createGate({ pauseOnConnect: true }, (socket) => {
    made.push(socket);
    held.push(socket);
    if (isOpen) pass();
  });
  const url = `https://127.0.0.1:${await listening(gate, made)}`;
  const open = (): void => {
    isOpen = true;
    pass();
  };
  return { url, held, pass, open };
}

function payAll(provider: Provider, count: number, from = 0): Promise<string[]> {
  const orders = Array.from({ length: count }, (_, nth) => nthOrder(from + nth));
  return Promise.all(orders.map((one) => outcomeOf(provider.pay({ session, order: one }))));
}

function all(count: number, outcome: string): string[] {
  return Array.from({ length: count }, () => outcome);
}

function post(client: HttpClient, request: Partial<Parameters<HttpClient['send']>[0]> = {}) {
  return client.send({ method: 'POST', path: '/p', body: { a: 1 }, isAlone: true, ...request });
}

describe('payments at a bank that speaks HTTP/2', () => {
  it('share a connection when it is known that it does', async () => {
    const bank = await http2Server(accept);
    const provider = providerOf(bank);
    assert.deepEqual(await payAll(provider, 1), ['accepted']);
    assert.deepEqual(await payAll(provider, 32, 1), all(32, 'accepted'));
    assert.deepEqual(new Set(bank.requests.map(({ connection }) => connection)), new Set([1]));
  });

  it('wait for one connection that is opened, and not for more', async () => {
    const clock = manualClock();
    const bank = await http2Server(accept);
    const provider = providerOf(bank, { restClock: clock });
    await payAll(provider, 1);
    await clock.advance(5_000);
    assert.deepEqual(await payAll(provider, 32, 1), all(32, 'accepted'));
    assert.equal(bank.sessions.length, 2);
  });

  it('have a connection each until the first one speaks it', async () => {
    const bank = await http2Server(accept);
    const provider = providerOf(bank);
    assert.deepEqual(await payAll(provider, 8), all(8, 'accepted'));
    assert.equal(bank.sessions.length, 8);
    assert.deepEqual(await payAll(provider, 8, 8), all(8, 'accepted'));
    assert.equal(bank.sessions.length, 8);
  });

  it('keep a connection that other calls with JSON share, until it rests too long', async () => {
    const received: string[] = [];
    const certificate = selfSigned();
    const server = createSecureServer({ ...certificate, allowHTTP1: true }, (request, response) => {
      received.push(`${request.url.slice(request.url.lastIndexOf('/'))} ${request.httpVersion}`);
      response.end(JSON.stringify({ endToEnd: order.endToEnd, balance: 1 }));
    });
    const url = `https://127.0.0.1:${await listening(server)}`;
    const clock = manualClock();
    const provider = providerAt(url, { tls: { ca: certificate.cert }, restClock: clock });
    const lookUp = () => provider.lookUpKey({ session, payerId: '1', key: 'maria@ponte.test' });
    await lookUp();
    await provider.pay({ session, order });
    await lookUp();
    await provider.balance({ session });
    await clock.advance(5_000);
    await lookUp();
    assert.deepEqual(received, [
      '/dict 1.1',
      '/payments 2.0',
      '/dict 2.0',
      '/balance 1.1',
      '/dict 1.1',
    ]);
  });

  it('get their own responses, in whatever order these come', async () => {
    const bank = await http2Server(() => {
      // Answered below.
    });
    const provider = providerOf(bank);
    const first = payAll(provider, 1);
    await eventually(() => bank.requests.length === 1, 'the first payment');
    const others = payAll(provider, 7, 1);
    await eventually(() => bank.requests.length === 8, 'all payments');
    for (const [nth, request] of bank.requests.toReversed().entries()) {
      if (nth % 2 === 0) accept(request);
      else refuse(request);
    }
    const outcomes = [...(await first), ...(await others)];
    const expected = bank.requests.map((_, nth) => (nth % 2 === 1 ? 'accepted' : 'rejected'));
    assert.deepEqual(outcomes, expected);
  });

  it('have further connections when the bank allows no more on one', async () => {
    const bank = await http2Server(
      (request) => {
        if (request.connection === 1 && bank.requests.length === 1) return accept(request);
        if (bank.requests.length === 11) for (const held of bank.requests.slice(1)) accept(held);
      },
      { settings: { maxConcurrentStreams: 3 } },
    );
    const provider = providerOf(bank);
    await payAll(provider, 1);
    assert.deepEqual(await payAll(provider, 10, 1), all(10, 'accepted'));
    assert.equal(bank.sessions.length, 4);
  });

  it('have one each while the bank has not said how many it allows', async () => {
    const held: FrameRequest[] = [];
    const bank = await frameServer((request) => held.push(request), { greet: () => '' });
    const provider = providerAt(bank.url, { tls: bank.tls });
    const first = payAll(provider, 1);
    await eventually(() => held.length === 1, 'the first payment');
    const second = payAll(provider, 1, 1);
    await eventually(() => held.length === 2, 'the second payment');
    assert.equal(bank.sockets.length, 2);
    for (const { socket } of held) socket.destroy();
    assert.deepEqual([await first, await second], [['unknown'], ['unknown']]);
  });

  it('open one each when the one that they wait for cannot be opened', async () => {
    const clock = manualClock();
    const bank = await http2Server(accept);
    const { url, held, pass } = await gateTo(bank);
    const provider = providerAt(url, { tls: { ca: bank.certificate.cert }, restClock: clock });
    const first = payAll(provider, 1);
    await eventually(() => held.length === 1, 'the first connection');
    pass();
    await first;
    await clock.advance(5_000);
    const caller = new AbortController();
    const { signal } = caller;
    const outcomes = payAll(provider, 4, 1);
    const givenUp = outcomeOf(provider.pay({ session, order: nthOrder(5), signal }));
    await eventually(() => held.length === 1, 'the second connection');
    caller.abort(new Error('time is up'));
    assert.equal(await givenUp, 'not_sent');
    held.pop()?.destroy();
    await eventually(() => held.length === 3, 'three connections');
    pass();
    assert.deepEqual(await outcomes, ['not_sent', ...all(3, 'accepted')]);
    assert.deepEqual([bank.sessions.length, held.length], [4, 0]);
  });

  it('open another one when the one that they wait for ends', async () => {
    const clock = manualClock();
    const connections = new Set<unknown>();
    const bank = await frameServer(
      ({ socket, stream }) => {
        connections.add(socket);
        if (connections.size === 2) return void socket.destroy();
        const head = headersFrame(stream, { ':status': '422' });
        socket.write(head + dataFrame(stream, '{"code":"AC03"}'), 'latin1');
      },
      { greet: (nth) => (nth === 2 ? '' : settingsFrames) },
    );
    const provider = providerAt(bank.url, { tls: bank.tls, restClock: clock });
    assert.deepEqual(await payAll(provider, 1), ['rejected']);
    await clock.advance(5_000);
    assert.deepEqual(await payAll(provider, 4, 1), ['unknown', ...all(3, 'rejected')]);
    assert.equal(bank.sockets.length, 3);
  });
});

describe('a connection of HTTP/2', () => {
  it('is closed when nothing has arrived on it for 5 s', async () => {
    const clock = manualClock();
    const bank = await http2Server(accept);
    const provider = providerOf(bank, { restClock: clock });
    await payAll(provider, 1);
    await clock.advance(4_999);
    await payAll(provider, 1, 1);
    await clock.advance(4_999);
    assert.equal(bank.sessions[0]?.destroyed, false);
    await clock.advance(1);
    await eventually(() => bank.sessions[0]?.destroyed, 'the closing');
    assert.deepEqual(await payAll(provider, 1, 2), ['accepted']);
    assert.equal(bank.sessions.length, 2);
  });

  it('gets no further payment when payments on it have had no response for 5 s', async () => {
    const clock = manualClock();
    const bank = await http2Server((request) => {
      if (request.connection > 1) accept(request);
    });
    const provider = providerOf(bank, { restClock: clock });
    const hanging = payAll(provider, 1);
    await eventually(() => bank.requests.length === 1, 'the first payment');
    await clock.advance(5_000);
    assert.deepEqual(await payAll(provider, 2, 1), all(2, 'accepted'));
    assert.equal(bank.sessions.length, 2);
    for (const request of bank.requests.slice(0, 1)) accept(request);
    assert.deepEqual(await hanging, ['accepted']);
  });

  it('gets no further payment a minute after it was opened', async () => {
    const clock = manualClock();
    const bank = await http2Server(accept);
    const provider = providerOf(bank, { restClock: clock });
    for (let nth = 0; nth < 16; nth += 1) {
      await payAll(provider, 1, nth);
      await clock.advance(4_000);
    }
    assert.deepEqual(
      bank.requests.map(({ connection }) => connection),
      [...Array.from({ length: 15 }, () => 1), 2],
    );
  });

  it('gets no further payment after a GOAWAY, and ends with those that it has', async () => {
    const bank = await http2Server((request) => {
      const nth = bank.requests.length;
      if (nth === 2) return;
      if (nth === 3) request.stream.session?.goaway(constants.NGHTTP2_NO_ERROR, 2 ** 31 - 1);
      accept(request);
    });
    const provider = providerOf(bank);
    await payAll(provider, 1);
    const held = payAll(provider, 1, 1);
    await eventually(() => bank.requests.length === 2, 'the second payment');
    // Its response comes after the GOAWAY.
    assert.deepEqual(await payAll(provider, 1, 2), ['accepted']);
    assert.deepEqual(await payAll(provider, 1, 3), ['accepted']);
    for (const request of bank.requests.slice(1, 2)) accept(request);
    assert.deepEqual(await held, ['accepted']);
    assert.deepEqual(
      bank.requests.map(({ connection }) => connection),
      [1, 1, 1, 2],
    );
  });

  it('is closed with the client', async () => {
    const bank = await http2Server(accept);
    const tls = { ca: bank.certificate.cert };
    const client = makeClient(bank.url, undefined, { tls, restClock: manualClock() });
    await post(client, { body: order });
    await client.close();
    await eventually(() => bank.sessions[0]?.destroyed, 'the closing');
  });

  it('knows who calls, and whom Ponte trusts', async () => {
    const ponte = selfSigned();
    const bank = await http2Server(
      ({ stream, headers }) => {
        const { fingerprint256 } =
          (stream.session?.socket as TLSSocket | undefined)?.getPeerX509Certificate() ?? {};
        stream.respond({ ':status': 200 });
        stream.end(JSON.stringify({ fingerprint256, apiKey: headers['x-bank-key'] }));
      },
      { requestCert: true, ca: [ponte.cert] },
    );
    const apiKey = { header: 'X-Bank-Key', value: 'key-1' };
    const tls = { ca: bank.certificate.cert, ...ponte };
    const { json } = await post(makeClient(bank.url, undefined, { tls, apiKey }));
    const { fingerprint256 = '', ...others } = json as Record<string, string>;
    assert.match(fingerprint256, /^[0-9A-F]{2}:/);
    assert.deepEqual(others, { apiKey: 'key-1' });
    const distrusting = makeClient(bank.url, undefined, { tls: { ca: ponte.cert, ...ponte } });
    assert.deepEqual(await failure(post(distrusting)), notConnected);
    assert.equal(bank.requests.length, 1);
  });
});

describe('a request on a stream', () => {
  it('is cancelled when the caller stops to wait, and may have been executed', async () => {
    const bank = await http2Server(() => {
      // Never answers.
    });
    const client = makeClient(bank.url, undefined, { tls: { ca: bank.certificate.cert } });
    const controller = new AbortController();
    const call = failure(post(client, { signal: controller.signal }));
    await eventually(() => bank.requests.length === 1, 'the request');
    controller.abort(new Error('time is up'));
    assert.deepEqual(await call, timedOut);
    await eventually(() => bank.requests[0]?.stream.destroyed, 'the end of the stream');
    assert.equal(bank.requests[0]?.stream.rstCode, constants.NGHTTP2_CANCEL);
    assert.equal(bank.sessions[0]?.destroyed, false);
  });

  it('may have been executed when nothing comes for the time-out', async () => {
    const bank = await http2Server(() => {
      // Never answers.
    });
    const client = makeClient(bank.url, 500, { tls: { ca: bank.certificate.cert } });
    assert.deepEqual(await failure(post(client)), timedOut);
  });

  const endings: readonly [string, (caller: AbortController, clock: ManualClock) => unknown][] = [
    ['it was given up', (caller) => caller.abort(new Error('time is up'))],
    ['its process was frozen', (_caller, clock) => clock.advance(60_000)],
  ];
  for (const [title, end] of endings) {
    it(`is not sent when ${title} while the connection was made`, async () => {
      const bank = await http2Server(accept);
      const { url, held, open } = await gateTo(bank);
      const clock = manualClock();
      const client = makeClient(url, undefined, { tls: { ca: bank.certificate.cert }, clock });
      const caller = new AbortController();
      const call = failure(post(client, { signal: caller.signal }));
      await eventually(() => held.length === 1, 'the connection');
      await end(caller, clock);
      open();
      assert.deepEqual(await call, notSentInTime);
      await eventually(() => bank.sessions.length === 1, 'the handshake');
      assert.equal((await post(client, { body: order })).status, 200);
      assert.equal(bank.requests.length, 1);
    });
  }

  it('cannot be written with a line break in a header', async () => {
    const bank = await http2Server(accept);
    const client = makeClient(bank.url, undefined, { tls: { ca: bank.certificate.cert } });
    const error = await failure(post(client, { token: 'two\r\nlines' }));
    assert.deepEqual(error, { ...notConnected, retryable: false });
    assert.equal(bank.requests.length, 0);
  });

  it('is the only one that ends when its response is too large', async () => {
    const bank = await http2Server((request) => {
      if (bank.requests.length % 2 === 1) return accept(request);
      request.stream.respond({ ':status': 200 });
      request.stream.end('x'.repeat(2 * 1024 * 1024));
    });
    const client = makeClient(bank.url, undefined, { tls: { ca: bank.certificate.cert } });
    const body = order;
    await post(client, { body });
    const large = failure(post(client, { body }));
    const small = post(client, { body });
    assert.deepEqual(await large, notUnderstood);
    assert.equal((await small).status, 200);
    assert.equal(bank.sessions.length, 1);
  });

  it('counts only with its id, where responses repeat it', async () => {
    const bank = await http2Server(({ stream, headers, text }) => {
      const id = bank.requests.length === 1 ? headers['x-request-id'] : 'another';
      stream.respond({ ':status': 200, 'x-request-id': String(id) });
      stream.end(receiptOf(text));
    });
    const provider = providerOf(bank, { echoHeader: 'x-request-id' });
    assert.deepEqual(await payAll(provider, 1), ['accepted']);
    assert.deepEqual(await payAll(provider, 1, 1), ['unknown']);
  });
});
