/** A gateway that answers a read twice: the second answer must not become that of the next read. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ProviderError } from '../../../../src/provider/errors.ts';
import type { Provider } from '../../../../src/provider/provider.ts';
import { manualClock } from '../../../support/clock.ts';
import { eventually } from '../../../support/eventually.ts';
import { failure } from '../sandbox/bank/open-bank.ts';
import { order, session } from '../scripted-provider.ts';
import { notUnderstood, providerAt, reset } from './over-http.ts';
import { httpResponse, rawServer, type RawRequest } from './raw-server.ts';

const restMs = 100;

const users = { alice: { ...session, token: 'alice' }, bob: { ...session, token: 'bob' } };

/** The balance of the token of a request, in reais: one for Alice, two for Bob. */
function balanceOf({ text }: RawRequest): string {
  return JSON.stringify({ balance: text.includes('Bearer alice') ? 1 : 2 });
}

function idOf({ text }: RawRequest): string {
  return /^x-request-id: (.*)\r$/m.exec(text)?.[1] ?? '';
}

async function centsOf(provider: Provider, user: keyof typeof users): Promise<number> {
  return (await provider.balance({ session: users[user], requestId: 'r' })).cents;
}

describe('a second answer to a read', () => {
  const seconds: readonly [string, string][] = [
    ['the same answer', httpResponse(200, '{"balance":1}')],
    ['a time-out of an idle connection', httpResponse(408, '')],
    ['the rest of a body that is longer than its length', '}'],
  ];
  for (const [title, second] of seconds) {
    it(`in the same packet (${title}) closes the connection`, async () => {
      const clock = manualClock();
      const server = await rawServer((request) =>
        request.socket.write(httpResponse(200, balanceOf(request)) + second),
      );
      const provider = providerAt(server.url, { restClock: clock });
      assert.equal(await centsOf(provider, 'alice'), 100);
      await clock.advance(restMs);
      assert.equal(await centsOf(provider, 'bob'), 200);
      assert.deepEqual(
        server.requests.map(({ connection }) => connection),
        [1, 2],
      );
    });

    it(`while the connection rests (${title}) closes it`, async () => {
      const clock = manualClock();
      const server = await rawServer((request) =>
        request.socket.write(httpResponse(200, balanceOf(request))),
      );
      const provider = providerAt(server.url, { restClock: clock });
      assert.equal(await centsOf(provider, 'alice'), 100);
      await clock.advance(restMs - 1);
      assert.equal(await centsOf(provider, 'bob'), 200);
      assert.equal(server.sockets.length, 2);
      server.sockets[0]?.write(second);
      await eventually(() => server.sockets[0]?.destroyed, 'the connection to be closed');
      await clock.advance(restMs);
      assert.equal(await centsOf(provider, 'bob'), 200);
      assert.deepEqual(
        server.requests.map(({ connection }) => connection),
        [1, 2, 3],
      );
    });
  }

  it('that comes after the next request is refused by its id, and closes the connection', async () => {
    const clock = manualClock();
    let first = '';
    const server = await rawServer((request) => {
      const echo = { 'X-Correlation': idOf(request) };
      const own = httpResponse(200, balanceOf(request), echo);
      request.socket.write(request.connection === 1 && request.nth > 1 ? first + own : own);
      if (request.nth === 1) first = own;
    });
    const provider = providerAt(server.url, { restClock: clock, echoHeader: 'x-correlation' });
    assert.equal(await centsOf(provider, 'alice'), 100);
    await clock.advance(restMs);
    assert.deepEqual(await failure(centsOf(provider, 'bob')), notUnderstood);
    await clock.advance(restMs);
    assert.equal(await centsOf(provider, 'bob'), 200);
    assert.deepEqual(
      server.requests.map(({ connection }) => connection),
      [1, 1, 2],
    );
    const ids = server.requests.map(idOf);
    assert.equal(new Set(ids).size, 3);
    assert.ok(ids.every((id) => /^r\.[0-9a-f]{12}$/.test(id)));
  });
});

describe('where the bank repeats the id of a request', () => {
  const refusal = '{"code":"AC03"}';

  /** Pays at a gateway that writes these bytes for a request with this id. */
  async function payAt(write: (id: string) => string): Promise<ProviderError> {
    const server = await rawServer((request) => request.socket.write(write(idOf(request))));
    const provider = providerAt(server.url, { echoHeader: 'x-request-id' });
    const end = await provider.pay({ session, order }).catch((error: unknown) => error);
    assert.ok(end instanceof ProviderError);
    return end;
  }

  it('a refusal with it refuses a payment, also after an interim response', async () => {
    const answer = (id: string) => httpResponse(422, refusal, { 'x-request-id': id });
    assert.equal((await payAt(answer)).outcome, 'rejected');
    const interim = 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n';
    assert.equal((await payAt((id) => interim + answer(id))).outcome, 'rejected');
  });

  const others: readonly [string, (id: string) => string][] = [
    ['no id', () => httpResponse(422, refusal)],
    ['another id', () => httpResponse(422, refusal, { 'x-request-id': 'other' })],
    [
      'two ids',
      (id) => httpResponse(422, refusal, { 'x-request-id': id, 'X-Request-ID': 'other' }),
    ],
    ['no id, and a token that is refused', () => httpResponse(401, refusal)],
  ];
  for (const [title, write] of others) {
    it(`a refusal with ${title} proves nothing`, async () => {
      const { outcome, code } = await payAt(write);
      assert.deepEqual([outcome, code], ['unknown', 'PROVIDER_INVALID_RESPONSE']);
    });
  }

  it('a failure of the gateway without it may be tried again', async () => {
    const { outcome, code, statusClass, retryable } = await payAt(() => httpResponse(503, ''));
    assert.deepEqual({ outcome, code, statusClass, retryable }, reset);
  });
});
