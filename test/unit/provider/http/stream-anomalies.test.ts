/** What a bank that speaks HTTP/2 does wrong, and what that proves about a payment. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manualClock } from '../../../support/clock.ts';
import { eventually } from '../../../support/eventually.ts';
import { order, session } from '../scripted-provider.ts';
import {
  dataFrame,
  frame,
  frameServer,
  goAwayFrame,
  headersFrame,
  resetFrame,
} from './http2-server.ts';
import { providerAt } from './over-http.ts';
import { nthOrder, outcomeOf, receiptOf } from './payments.ts';
import { httpResponse } from './raw-server.ts';

const codes = { none: 0, protocol: 1, internal: 2, refused: 7, cancel: 8, calm: 11, http11: 13 };

const body = '{"code":"AC03"}';

function refusal(stream: number, length = body.length): string {
  const fields = { ':status': '422', 'content-length': String(length) };
  return headersFrame(stream, fields) + dataFrame(stream, body);
}

function head(stream: number, isEnd = false): string {
  return headersFrame(stream, { ':status': '422' }, isEnd);
}

/** The outcome of a payment on stream 1, after which the bank writes frames. */
async function payAt(frames: string, isEnd: boolean): Promise<string> {
  const bank = await frameServer(({ socket }) => {
    socket.write(frames, 'latin1');
    if (isEnd) socket.end();
  });
  return outcomeOf(providerAt(bank.url, { tls: bank.tls }).pay({ session, order }));
}

describe('a payment on a stream', () => {
  const answered =
    headersFrame(1, { ':status': '200' }) + dataFrame(1, receiptOf(JSON.stringify(order)));
  const rows: readonly [string, string, string][] = [
    ['rejected', 'a refusal', refusal(1)],
    ['accepted', 'a receipt', answered],
    ['accepted', 'a receipt, and something else than HTTP/2', `${answered}HTTP/1.1 200 OK`],
    ['rejected', 'a refusal that comes twice on its stream', refusal(1) + refusal(1)],
    ['rejected', 'interim responses', headersFrame(1, { ':status': '103' }).repeat(2) + refusal(1)],
    [
      'rejected',
      'a refusal with trailers',
      head(1) + dataFrame(1, body, false) + headersFrame(1, { a: 'b' }, true),
    ],
    ['unknown', 'a 100 that was not asked for', headersFrame(1, { ':status': '100' }) + refusal(1)],
    [
      'unknown',
      'a refusal, and something else than HTTP/2',
      `${refusal(1)}HTTP/1.1 200 OK\r\n\r\n`,
    ],
    ['unknown', 'a refusal on another stream', refusal(3)],
    ['unknown', 'a refusal that is longer than its length', refusal(1, body.length - 1)],
    ['unknown', 'a refusal that is shorter than its length', refusal(1, body.length + 1)],
    ['unknown', 'a body without a status', dataFrame(1, body)],
    ['unknown', 'a second status', head(1) + dataFrame(1, body, false) + head(1, true)],
    ['unknown', 'a response of HTTP/1.1', httpResponse(422, body)],
    ['unknown', 'a pushed response', frame([5, 4, 1], '\0\0\0\x02\x82\x87\x84') + refusal(1)],
    ['not_sent', 'a refused stream', resetFrame(1, codes.refused)],
    ['unknown', 'a stream that is refused after a status', head(1) + resetFrame(1, codes.refused)],
    [
      'unknown',
      'a stream that is refused after an interim response',
      headersFrame(1, { ':status': '103' }) + resetFrame(1, codes.refused),
    ],
    ['unknown', 'a stream that is closed without a status', resetFrame(1, codes.none)],
    ['unknown', 'a stream that is cancelled', resetFrame(1, codes.cancel)],
    ['unknown', 'a stream that fails', resetFrame(1, codes.internal)],
    [
      'unknown',
      'a stream that is cancelled after its body',
      head(1) + dataFrame(1, body, false) + resetFrame(1, codes.cancel),
    ],
    [
      'unknown',
      'a body that is cut off',
      head(1) + dataFrame(1, '{"code":"AC03"', false) + resetFrame(1, codes.none),
    ],
    ['unknown', 'a stream that wants HTTP/1.1', resetFrame(1, codes.http11)],
    ['not_sent', 'a GOAWAY below its stream', goAwayFrame(0, codes.none)],
    [
      'not_sent',
      'a GOAWAY that announces one below its stream',
      goAwayFrame(2 ** 31 - 1, codes.none) + goAwayFrame(0, codes.none),
    ],
    [
      'not_sent',
      'a refused stream after a GOAWAY',
      goAwayFrame(1, codes.none) + resetFrame(1, codes.refused),
    ],
    ['rejected', 'a GOAWAY at its stream, and a refusal', goAwayFrame(1, codes.none) + refusal(1)],
    ['unknown', 'a GOAWAY below its stream after a status', head(1) + goAwayFrame(0, codes.none)],
    ['unknown', 'a GOAWAY below its stream, because of an error', goAwayFrame(0, codes.calm)],
    [
      'unknown',
      'a second GOAWAY with the code of a refused stream',
      goAwayFrame(1, codes.none) + goAwayFrame(1, codes.refused),
    ],
    [
      'unknown',
      'a GOAWAY at its stream with the code of a refused stream',
      goAwayFrame(1, codes.refused),
    ],
  ];
  for (const [outcome, title, frames] of rows) {
    it(`is ${outcome} after ${title}`, async () => {
      assert.equal(await payAt(frames, false), outcome);
    });
  }

  for (const [title, frames] of [
    ['nothing', ''],
    ['a GOAWAY at its stream', goAwayFrame(1, codes.none)],
    ['the head of a response', head(1)],
    ['a body without its end', head(1) + dataFrame(1, body, false)],
  ] as const) {
    it(`is unknown when the connection ends after ${title}`, async () => {
      assert.equal(await payAt(frames, true), 'unknown');
    });
  }
});

describe('a bank that does not keep to HTTP/2', () => {
  const faults: readonly [string, string][] = [
    ['says that it wants HTTP/1.1', resetFrame(1, codes.http11)],
    ['says that Ponte does not keep to it', goAwayFrame(1, codes.protocol)],
    ['writes what is not in it', 'HTTP/1.1 200 OK\r\n\r\n'],
  ];
  for (const [title, frames] of faults) {
    it(`and ${title} gets HTTP/1.1 for a minute`, async () => {
      const clock = manualClock();
      const bank = await frameServer(
        ({ socket, stream }) =>
          socket.write(stream === 0 ? httpResponse(422, body) : frames, 'latin1'),
        { choose: ([preferred]) => preferred },
      );
      const provider = providerAt(bank.url, { tls: bank.tls, restClock: clock });
      const pay = (nth: number) => outcomeOf(provider.pay({ session, order: nthOrder(nth) }));
      assert.equal(await pay(1), 'unknown');
      assert.deepEqual(await Promise.all([2, 3, 4].map(pay)), ['rejected', 'rejected', 'rejected']);
      await clock.advance(60_000);
      assert.equal(await pay(5), 'unknown');
      assert.deepEqual(
        bank.sockets.map(({ alpnProtocol }) => alpnProtocol),
        ['h2', 'http/1.1', 'http/1.1', 'http/1.1', 'h2'],
      );
    });
  }

  it('decides no other payment by an answer that comes twice', async () => {
    const bank = await frameServer(({ socket, stream }) => {
      const earlier = stream === 1 ? '' : refusal(stream - 2);
      socket.write(earlier + refusal(stream).repeat(2), 'latin1');
    });
    const provider = providerAt(bank.url, { tls: bank.tls });
    for (let nth = 1; nth <= 4; nth += 1) {
      const outcome = await outcomeOf(provider.pay({ session, order: nthOrder(nth) }));
      assert.equal(outcome, 'rejected');
    }
    assert.equal(bank.sockets.length, 1);
  });

  it('leaves the other payments of a connection that breaks unknown', async () => {
    const streams: number[] = [];
    const bank = await frameServer(({ socket, stream }) => {
      streams.push(stream);
      if (stream === 1) socket.write(refusal(stream), 'latin1');
      if (streams.length === 4) socket.write(refusal(99), 'latin1');
    });
    const provider = providerAt(bank.url, { tls: bank.tls });
    const pay = (nth: number) => outcomeOf(provider.pay({ session, order: nthOrder(nth) }));
    assert.equal(await pay(1), 'rejected');
    const outcomes = await Promise.all([2, 3, 4].map(pay));
    assert.deepEqual(outcomes, ['unknown', 'unknown', 'unknown']);
    await eventually(() => bank.sockets[0]?.destroyed, 'the closing');
  });
});
