/** Each attempt of a payment or a return has a connection of its own. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createGate, type Socket } from 'node:net';
import { createServer, type Server } from 'node:tls';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ProviderError } from '../../../../src/provider/errors.ts';
import type { RefundOrder } from '../../../../src/provider/provider.ts';
import { withResilience } from '../../../../src/provider/resilience/resilient-provider.ts';
import { withTokenRefresh } from '../../../../src/provider/resilience/token-refresh.ts';
import { manualClock } from '../../../support/clock.ts';
import { eventually } from '../../../support/eventually.ts';
import { passUntil } from '../../../support/passing-time.ts';
import { order, session } from '../scripted-provider.ts';
import { selfSigned } from './certificate.ts';
import { notConnected, providerAt } from './over-http.ts';
import { nthOrder, outcomeOf, receiptOf } from './payments.ts';
import { httpResponse, listening, rawServer, type RawRequest } from './raw-server.ts';

const refusal = httpResponse(422, '{"code":"AC03"}');

function accepted({ text }: Pick<RawRequest, 'text'>): string {
  // It would be kept for ten minutes.
  return httpResponse(200, receiptOf(text), { 'keep-alive': 'timeout=600' });
}

/** The outcome of a payment at a gateway that does something on its connection. */
async function payAt(answer: (request: RawRequest) => void): Promise<string> {
  const server = await rawServer(answer);
  return outcomeOf(providerAt(server.url).pay({ session, order }));
}

describe('each attempt of a payment or a return', () => {
  it('has a connection for one request, which is closed after the response', async () => {
    const server = await rawServer((request) => request.socket.write(accepted(request)));
    const provider = providerAt(server.url);
    const orders = Array.from({ length: 8 }, (_, nth) => nthOrder(nth));
    await Promise.all(orders.map((one) => provider.pay({ session, order: one })));
    await provider.pay({ session, order: nthOrder(8) });
    const { amountCents, payer } = order;
    const returnId = 'D11165756202605241530aB3dE5gH7jK';
    const ids = { endToEnd: order.endToEnd, returnId, clientRequestId: 'r-1' };
    const returned: RefundOrder = { ...ids, amountCents, account: payer };
    await outcomeOf(provider.refund({ session, order: returned }));
    const connections = server.requests.map(({ connection }) => connection);
    assert.deepEqual(
      connections.toSorted((one, other) => one - other),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    );
    await eventually(() => server.sockets.every(({ destroyed }) => destroyed), 'the closing');
  });

  it('has one, also after a failure and after a refused token', async () => {
    const clock = manualClock();
    const answers = [httpResponse(503, ''), httpResponse(401, '{}')];
    const server = await rawServer((request) =>
      request.socket.write(answers[request.nth - 1] ?? accepted(request)),
    );
    const options = { clock, timeoutMs: 60_000, retries: 2 };
    const { provider } = withResilience(providerAt(server.url), options);
    const pay = withTokenRefresh(provider, { clock }).pay({ session, order });
    assert.equal(await passUntil(clock, outcomeOf(pay)), 'accepted');
    assert.deepEqual(
      server.requests.map(({ connection }) => connection),
      [1, 2, 3],
    );
  });

  it('has one, while reads share one', async () => {
    const clock = manualClock();
    const server = await rawServer((request) => {
      const isRead = request.text.startsWith('GET ');
      request.socket.write(isRead ? httpResponse(200, '{"balance":1}') : accepted(request));
    });
    const provider = providerAt(server.url, { restClock: clock });
    for (let nth = 0; nth < 3; nth += 1) {
      await provider.balance({ session });
      await clock.advance(100);
      await provider.pay({ session, order });
    }
    assert.deepEqual(
      server.requests.map(({ connection }) => connection),
      [1, 2, 1, 3, 1, 4],
    );
  });
});

describe('a gateway that answers twice', () => {
  for (const when of ['at once', 'when the next payment comes'] as const) {
    it(`${when} decides no other payment by it`, async () => {
      const refused: RawRequest[] = [];
      const server = await rawServer((request) => {
        const nth = Number(/E\w+?(\d{3})"/.exec(request.text)?.[1]);
        if (when !== 'at once') for (const { socket } of refused) socket.write(refusal);
        if (nth % 2 === 1) return void request.socket.write(accepted(request));
        refused.push(request);
        request.socket.write(when === 'at once' ? refusal + refusal : refusal);
      });
      const clock = manualClock();
      const provider = providerAt(server.url, { restClock: clock });
      const wave = (from: number) =>
        Promise.all(
          Array.from({ length: 16 }, (_, nth) =>
            outcomeOf(provider.pay({ session, order: nthOrder(from + nth) })),
          ),
        );
      for (const from of [0, 16]) {
        const outcomes = await wave(from);
        // A connection of the pool would be given the next payment.
        await clock.advance(100);
        const [ofRefused, ofAccepted] = [0, 1].map((rest) =>
          outcomes.filter((_, nth) => nth % 2 === rest),
        );
        assert.deepEqual(new Set(ofAccepted), new Set(['accepted']));
        // A refusal that more has followed in time proves nothing.
        assert.ok(ofRefused?.every((one) => one === 'unknown' || one === 'rejected'));
        if (when === 'at once') assert.deepEqual(new Set(ofRefused), new Set(['unknown']));
      }
      assert.equal(server.sockets.length, 32);
    });
  }

  const failed = JSON.stringify({ endToEnd: order.endToEnd, status: 'FAILED', code: 'AC03' });
  const rows: readonly [string, string, string][] = [
    ['a refusal and a receipt', refusal + accepted({ text: JSON.stringify(order) }), 'unknown'],
    ['a refusal and a byte', `${refusal}x`, 'unknown'],
    ['a receipt of a failure, twice', httpResponse(200, failed).repeat(2), 'unknown'],
    ['a receipt, twice', accepted({ text: JSON.stringify(order) }).repeat(2), 'accepted'],
    ['a receipt of a failure', httpResponse(200, failed), 'rejected'],
    ['a refusal', refusal, 'rejected'],
  ];
  for (const [title, bytes, outcome] of rows) {
    it(`leaves a payment ${outcome} after ${title}`, async () => {
      assert.equal(await payAt(({ socket }) => socket.write(bytes)), outcome);
    });
  }
});

describe('the connection of a payment', () => {
  it('may break after the response', async () => {
    const breaking = ({ socket }: RawRequest): void =>
      void socket.write(refusal, () => socket.resetAndDestroy());
    // The reset may overtake the response.
    assert.match(await payAt(breaking), /^(?:rejected|unknown)$/);
    assert.equal(await payAt(({ socket }) => socket.end(refusal)), 'rejected');
  });

  it('may bring interim responses, and no 100 that was not asked for', async () => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n';
    assert.equal(await payAt(({ socket }) => socket.write(hints.repeat(3) + refusal)), 'rejected');
    const unasked = `HTTP/1.1 100 Continue\r\n\r\n${refusal}`;
    assert.equal(await payAt(({ socket }) => socket.write(unasked)), 'unknown');
  });

  it('cannot be opened: nothing was sent', async () => {
    const provider = providerAt('http://127.0.0.1:1');
    const error = await provider.pay({ session, order }).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof ProviderError);
    const { outcome, code, statusClass, retryable } = error;
    assert.deepEqual({ outcome, code, statusClass, retryable }, notConnected);
  });
});

describe('the connections of payments over TLS', () => {
  it('carry nothing when the payment was given up while they were made', async () => {
    const certificate = selfSigned();
    let bytes = 0;
    const bank = createServer(certificate, (socket) => {
      socket.on('data', (chunk: Buffer) => (bytes += chunk.length));
    });
    const held: Socket[] = [];
    const gate = createGate({ pauseOnConnect: true }, (socket) => void held.push(socket));
    const url = `https://127.0.0.1:${await listening(gate, held)}`;
    const controller = new AbortController();
    const { signal } = controller;
    const provider = providerAt(url, { tls: { ca: certificate.cert } });
    const paid = outcomeOf(provider.pay({ session, order, signal }));
    await eventually(() => held.length === 1, 'the connection');
    controller.abort(new Error('time is up'));
    assert.equal(await paid, 'not_sent');
    const [socket] = held;
    assert.ok(socket);
    const closed = once(socket, 'close');
    bank.emit('connection', socket);
    await closed;
    assert.deepEqual([bytes, held.length], [0, 1]);
  });

  const gc = (): void => {
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
  };

  /** Answers each request, and closes no connection. */
  async function tlsServer(maxVersion: 'TLSv1.2' | 'TLSv1.3') {
    const certificate = selfSigned();
    const resumed: boolean[] = [];
    const options = { ...certificate, maxVersion, ALPNProtocols: ['http/1.1'] };
    const server: Server = createServer(options, (socket) => {
      resumed.push(socket.isSessionReused());
      socket.on('data', (chunk: Buffer) => {
        const text = chunk.toString('latin1');
        if (text.includes('{')) socket.write(accepted({ text: text.slice(text.indexOf('{')) }));
      });
    });
    const port = await listening(server);
    return { url: `https://127.0.0.1:${port}`, ca: certificate.cert, resumed, server };
  }

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    it(`resume the session of an earlier one (${version})`, async () => {
      const { url, ca, resumed } = await tlsServer(version);
      const provider = providerAt(url, { tls: { ca } });
      for (let nth = 0; nth < 3; nth += 1) {
        await provider.pay({ session, order });
        // undici holds sessions weakly.
        gc();
      }
      assert.deepEqual(resumed, [false, true, true]);
    });
  }
});
