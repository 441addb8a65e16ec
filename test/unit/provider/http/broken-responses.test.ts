import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import type { Provider } from '../../../../src/provider/provider.ts';
import { eventually } from '../../../support/eventually.ts';
import { chargeOrder, failure, payer } from '../sandbox/bank/open-bank.ts';
import { order, receipt, session } from '../scripted-provider.ts';
import { makeClient, notUnderstood, providerAt, reset, timedOut } from './over-http.ts';
import { responding, httpResponse, rawServer } from './raw-server.ts';

const mebibyte = 1024 * 1024;

const wireReceipt = { ...receipt, id: receipt.providerTxid };

const whole = httpResponse(200, JSON.stringify(wireReceipt));

/** Pays at a server that answers with these bytes, and then does something to the connection. */
async function payAt(bytes: string, then: (socket: Socket) => void = () => {}) {
  const server = await rawServer(({ socket }) => {
    if (bytes === '') then(socket);
    else socket.write(bytes, 'latin1', () => then(socket));
  });
  return failure(providerAt(server.url).pay({ session, order }));
}

describe('a payment may have been executed when the connection', () => {
  it('is reset before the response', async () => {
    assert.deepEqual(await payAt('', (socket) => socket.resetAndDestroy()), reset);
  });

  it('is closed before the response', async () => {
    assert.deepEqual(await payAt('', (socket) => socket.end()), reset);
  });

  it('is reset amid the head of the response', async () => {
    assert.deepEqual(await payAt(whole.slice(0, 20), (socket) => socket.resetAndDestroy()), reset);
  });

  it('is closed amid the head of the response', async () => {
    assert.deepEqual(await payAt(whole.slice(0, 20), (socket) => socket.end()), reset);
  });

  it('is reset amid the body', async () => {
    assert.deepEqual(await payAt(whole.slice(0, -5), (socket) => socket.resetAndDestroy()), reset);
  });

  it('is closed amid the body', async () => {
    assert.deepEqual(await payAt(whole.slice(0, -5), (socket) => socket.end()), reset);
  });

  it('is closed amid a chunk', async () => {
    const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n40\r\n{"id"';
    assert.deepEqual(await payAt(chunked, (socket) => socket.end()), reset);
  });

  it('is closed amid a chunk that was to be the last', async () => {
    const head = 'HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n';
    assert.deepEqual(await payAt(`${head}40\r\n{"id"`, (socket) => socket.end()), reset);
  });

  it('is closed amid the body of a refusal', async () => {
    const refusal = httpResponse(422, '{"code":"AC03"}').slice(0, -5);
    assert.deepEqual(await payAt(refusal, (socket) => socket.end()), reset);
  });

  it('is switched to another protocol', async () => {
    const upgrade = 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n';
    assert.deepEqual(await payAt(upgrade), reset);
  });
});

describe('a payment may have been executed when the response', () => {
  const { endToEnd } = order;
  const bodies: readonly [string, string][] = [
    ['is a page', '<!doctype html><title>Maintenance</title>'],
    ['is empty', ''],
    ['is cut JSON', JSON.stringify(wireReceipt).slice(0, 30)],
    ['is null', 'null'],
    ['is a text', '"CONFIRMED"'],
    ['is a number', '1'],
    ['is a list', '[]'],
    ['is nested 100 000 times', '['.repeat(100_000) + ']'.repeat(100_000)],
    [
      'has a field that is nested 100 000 times',
      `{"endToEnd":"${endToEnd}","x":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
    ],
    ['names no payment', '{"status":"CONFIRMED"}'],
    ['says that it was no success', JSON.stringify({ endToEnd, success: false })],
    ['says so in a text', JSON.stringify({ endToEnd, success: 'False' })],
    ['says so in a number', JSON.stringify({ endToEnd, success: 0 })],
    ['speaks of an error', JSON.stringify({ endToEnd, status: 'PAID', error: { code: 'X' } })],
    ['has a code of a refusal', JSON.stringify({ endToEnd, status: 'PAID', reasonCode: 'AC03' })],
    ['speaks of errors deeper down', JSON.stringify({ endToEnd, data: { errors: ['refused'] } })],
    ['has an id of another type', '{"id":"p","endToEnd":{"value":"E1"}}'],
    ['has an id that is too long', JSON.stringify({ id: 'p', endToEnd: 'E'.repeat(300) })],
    ['has two statuses', `{"endToEnd":"${endToEnd}","status":"ERROR","status":"PAID"}`],
    [
      'has two codes of a failure',
      `{"endToEnd":"${endToEnd}","status":"ERROR","code":"X","code":"AC03"}`,
    ],
    ['has an id with control characters', '{"id":"p","clientRequestId":"a\\u0000b"}'],
  ];
  for (const [title, body] of bodies) {
    it(title, async () => assert.deepEqual(await payAt(httpResponse(200, body)), notUnderstood));
  }

  it('is in another encoding', async () => {
    const body = '{"id":"p\xff"}';
    const raw = httpResponse(200, body, { 'content-length': String(body.length) });
    assert.deepEqual(await payAt(raw), notUnderstood);
  });

  it('is no HTTP', async () => {
    assert.deepEqual(await payAt('SSH-2.0-OpenSSH_9.9\r\n'), notUnderstood);
  });

  it('has headers without end', async () => {
    const head = `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`;
    assert.deepEqual(await payAt(head), notUnderstood);
  });

  it('is compressed without a request for it', async () => {
    const body = '\x1f\x8b\x08\x00\x00\x00\x00\x00';
    const raw = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 8\r\n\r\n${body}`;
    assert.deepEqual(await payAt(raw), notUnderstood);
  });
});

it('a response after an interim one counts', async () => {
  const early = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
  const server = await rawServer(({ socket }) => socket.write(early + whole));
  assert.deepEqual(await providerAt(server.url).pay({ session, order }), receipt);
});

it('a response that begins with a byte order mark is read', async () => {
  const { url } = await responding(200, `\u{feff}${JSON.stringify(wireReceipt)}`);
  assert.deepEqual(await providerAt(url).pay({ session, order }), receipt);
});

describe('other responses that cannot be used:', () => {
  const charge = chargeOrder();
  const calls: readonly [string, (provider: Provider) => Promise<unknown>, readonly unknown[]][] = [
    [
      'a login',
      (provider) => provider.login({ email: 'a@b.c', password: 'x' }),
      [
        {},
        [],
        { token: 7 },
        { token: '' },
        { access_token: { token: 'x' } },
        { token: 'two\r\nlines' },
        { token: 'with space' },
        { token: 'x'.repeat(8_193) },
      ],
    ],
    [
      'a balance',
      (provider) => provider.balance({ session }),
      [
        {},
        [],
        { balance: '' },
        { balance: 'R$ 10,00' },
        { balance: ['10.00'] },
        { balance: {} },
        { balance: true },
        { balance: 1.005 },
        { balance: 1e300 },
        { balance: 'x', available: 10 },
      ],
    ],
    [
      'a statement',
      (provider) => provider.statement({ session, start: '2026-05-01', end: '2026-05-24' }),
      [{}, { items: {} }, { items: 'none' }, 'text', 1],
    ],
    [
      'a look-up',
      (provider) => provider.lookUpKey({ session, payerId: '1', key: 'maria@ponte.test' }),
      [
        {},
        { key: 'k' },
        { endToEnd: '' },
        { endToEnd: ['E1'] },
        { endToEnd: 1.5 },
        [],
        { endToEnd: 'E1', key: 'bruno@ponte.test' },
        { data: { endToEndId: 'E1', key: '+5511987654321' } },
      ],
    ],
    [
      'a dynamic charge',
      (provider) => provider.createDynamicCharge({ session, order: charge }),
      [
        {},
        { qrcode: '' },
        { qrcode: { image: 'x' } },
        { qrcode: 'abc', transactionIdentification: 'somebodyElses' },
        { qrcode: 'iVBO\0', emv: '000201\uD800' },
      ],
    ],
    [
      'a static charge',
      (provider) => provider.createStaticCharge({ session, order: charge }),
      [{}, [], 'x'],
    ],
    [
      'a list of keys',
      (provider) => provider.listKeys({ session, account: payer }),
      ['text', 1, null],
    ],
  ];
  for (const [title, call, bodies] of calls) {
    for (const body of bodies) {
      const text = JSON.stringify(body);
      it(`${title} ${text.slice(0, 60)}`, async () => {
        const { url } = await responding(200, text);
        assert.deepEqual(await failure(call(providerAt(url))), notUnderstood);
      });
    }
  }
});

describe('a response that is too long', () => {
  it('is cut before it is read when it says so', async () => {
    const body = 'x'.repeat(64 * 1024);
    const server = await rawServer(({ socket }) =>
      socket.write(httpResponse(200, body, { 'content-length': String(50 * mebibyte) })),
    );
    assert.deepEqual(await failure(providerAt(server.url).pay({ session, order })), notUnderstood);
    await eventually(() => server.sockets[0]?.destroyed, 'the connection to be closed');
  });

  it('is cut at a mebibyte when it does not, and the rest is not read', async () => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const server = await rawServer(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"padding":"');
      const more = (): void => {
        while (socket.writable && socket.bytesWritten < 50 * mebibyte) {
          if (!socket.write(chunk)) return void socket.once('drain', more);
        }
      };
      more();
    });
    const before = process.memoryUsage().arrayBuffers;
    assert.deepEqual(await failure(providerAt(server.url).pay({ session, order })), notUnderstood);
    assert.ok(process.memoryUsage().arrayBuffers - before < 16 * mebibyte);
    const [socket] = server.sockets;
    await eventually(() => socket?.destroyed, 'the connection to be closed');
    // What the kernel holds between the two ends has left as well.
    assert.ok((socket?.bytesWritten ?? Infinity) < 20 * mebibyte, `${socket?.bytesWritten}`);
  });

  it('is one byte longer than what is read', async () => {
    const json = (bytes: number) => `{"pad":"${'x'.repeat(bytes - 10)}"}`;
    const { url } = await rawServer(({ socket, nth }) => {
      const body = json(nth === 1 ? mebibyte : mebibyte + 1);
      const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
      socket.write(`${head}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
    });
    const provider = providerAt(url);
    assert.equal(
      JSON.stringify(await provider.listKeys({ session, account: payer })).length,
      mebibyte,
    );
    assert.deepEqual(await failure(provider.listKeys({ session, account: payer })), notUnderstood);
  });
});

describe('a response that does not come', () => {
  it('is waited for until the signal aborts, and not a moment longer', async () => {
    const server = await rawServer(() => {
      // No response.
    });
    const controller = new AbortController();
    const { signal } = controller;
    const call = failure(providerAt(server.url).pay({ session, order, signal }));
    await eventually(() => server.requests.length === 1, 'the payment');
    controller.abort(new Error('time is up'));
    const nextTurn = new Promise((resolve) => setImmediate(() => resolve('too late')));
    assert.deepEqual(await Promise.race([call, nextTurn]), timedOut);
    await eventually(() => server.sockets[0]?.destroyed, 'the connection to be closed');
  });

  it('is not waited for without end when there is no signal', async () => {
    const server = await rawServer(() => {
      // No response.
    });
    const client = makeClient(server.url, 1_000);
    const call = failure(client.send({ method: 'POST', path: '/', body: {} }));
    assert.deepEqual(await call, timedOut);
  });

  it('whole, but drips, ends with the signal', async () => {
    const controller = new AbortController();
    const server = await rawServer(({ socket }) => {
      socket.write(httpResponse(200, '{"id":"', { 'content-length': '1000000' }));
      const drop = (): void => {
        if (socket.destroyed) return;
        socket.write('x', () => setImmediate(drop));
        if (socket.bytesWritten > 500) controller.abort(new Error('time is up'));
      };
      drop();
    });
    const { signal } = controller;
    const call = providerAt(server.url).pay({ session, order, signal });
    assert.deepEqual(await failure(call), timedOut);
    await eventually(() => server.sockets[0]?.destroyed, 'the connection to be closed');
  });
});

it('a signal that aborts after the response changes nothing', async () => {
  const { url } = await responding(200, wireReceipt);
  const provider = providerAt(url);
  const controller = new AbortController();
  const { signal } = controller;
  assert.deepEqual(await provider.pay({ session, order, signal }), receipt);
  controller.abort(new Error('time is up'));
  assert.deepEqual(await provider.pay({ session, order }), receipt);
});
