import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HttpClient } from '../../../../src/provider/http/client.ts';
import { nextTurn } from '../../../../src/clock.ts';
import { ProviderError } from '../../../../src/provider/errors.ts';
import { manualClock } from '../../../support/clock.ts';
import { eventually } from '../../../support/eventually.ts';
import { failure } from '../sandbox/bank/open-bank.ts';
import { order, receipt, session } from '../scripted-provider.ts';
import { makeClient, notConnected, providerAt, reset } from './over-http.ts';
import { responding, httpResponse, rawServer } from './raw-server.ts';

function pay(client: HttpClient) {
  return client.send({ method: 'POST', path: '/p', body: { a: 1 } });
}

/** The clock of the rests. */
const clock = manualClock();

/** A connection is given back after a rest. */
async function givenBack<T>(call: Promise<T>): Promise<T> {
  const end = await call;
  await clock.advance(100);
  return end;
}

const wireReceipt = JSON.stringify({ ...receipt, id: receipt.providerTxid });

describe('a connection', () => {
  it('serves one call after the other', async () => {
    const server = await responding(200, {});
    const client = makeClient(server.url, undefined, { restClock: clock });
    for (let nth = 0; nth < 10; nth += 1) await givenBack(pay(client));
    assert.equal(server.sockets.length, 1);
  });

  it('that rests takes a call that would have to wait for one', async () => {
    const server = await responding(200, {});
    const client = makeClient(server.url, undefined, { restClock: clock, connections: 1 });
    for (let nth = 0; nth < 3; nth += 1) await pay(client);
    assert.equal(server.sockets.length, 1);
  });

  it('is free again when sixty-four others rest that came after it', async () => {
    const server = await rawServer(() => {
      // Answered below, when all calls are there.
    });
    const client = makeClient(server.url, undefined, { restClock: clock, connections: 100 });
    const calls = Array.from({ length: 65 }, () => pay(client));
    await eventually(() => server.requests.length === 65, 'all calls');
    for (const { socket } of server.requests) socket.write(httpResponse(200, '{}'));
    await Promise.all(calls);
    await nextTurn();
    const next = pay(client);
    await eventually(() => server.requests.length === 66, 'the next call');
    server.requests.at(-1)?.socket.write(httpResponse(200, '{}'));
    await next;
    assert.equal(server.sockets.length, 65);
  });

  const statuses = [200, 301, 401, 404, 422, 500, 503] as const;
  for (const status of statuses) {
    it(`is free again after a response with status ${status} and a page`, async () => {
      const server = await responding(status, `<html>${'x'.repeat(100_000)}</html>`);
      const provider = providerAt(server.url, { restClock: clock });
      for (let nth = 0; nth < 10; nth += 1) {
        await givenBack(provider.balance({ session }).catch(() => null));
      }
      assert.equal(server.sockets.length, 1);
    });
  }

  it('is one of sixty-four at most', async () => {
    const server = await rawServer(() => {
      // Answered below.
    });
    const client = makeClient(server.url);
    const calls = Array.from({ length: 100 }, () => pay(client));
    await eventually(() => server.requests.length === 64, 'the first calls');
    assert.equal(server.sockets.length, 64);
    const answered = new Set<number>();
    const respondToAll = () => {
      for (const { nth, socket } of server.requests) {
        if (!answered.has(nth)) socket.write(httpResponse(200, '{}'));
        answered.add(nth);
      }
      return answered.size === 100;
    };
    await eventually(respondToAll, 'all calls');
    await Promise.all(calls);
    assert.equal(server.sockets.length, 64);
  });

  for (const seconds of [1, 2]) {
    it(`is used again when the provider keeps it for ${seconds} s only`, async () => {
      const server = await responding(200, {}, { 'keep-alive': `timeout=${seconds}` });
      const client = makeClient(server.url, undefined, { restClock: clock });
      for (let nth = 0; nth < 10; nth += 1) await givenBack(pay(client));
      // Real time: where two calls are far apart, as on a busy machine, it has been given up.
      assert.ok(server.sockets.length < 10, 'each call had a connection of its own');
    });
  }

  it('is closed before the provider closes it', async () => {
    const server = await responding(200, {}, { 'keep-alive': 'timeout=1' });
    const client = makeClient(server.url);
    await pay(client);
    await eventually(() => server.sockets[0]?.destroyed, 'the idle connection to be closed');
    await pay(client);
    assert.equal(server.sockets.length, 2);
  });

  it('that the provider closes after each response costs no payment', async () => {
    const server = await rawServer(({ socket }) => socket.end(httpResponse(200, wireReceipt)));
    const provider = providerAt(server.url);
    let accepted = 0;
    for (let nth = 1; nth <= 50; nth += 1) {
      const end = await givenBack(
        provider.pay({ session, order }).catch((error: unknown) => error),
      );
      // The close may cross the next payment on its way; then it is not known what became of it.
      if (end instanceof ProviderError) assert.equal(end.outcome, 'unknown');
      else accepted += 1;
      assert.ok(server.requests.length <= nth, 'a payment was sent again unasked');
    }
    assert.ok(accepted > 0);
  });

  it('that breaks under a payment does not have it sent again unasked', async () => {
    const server = await rawServer(({ socket, nth }) => {
      if (nth === 1) socket.write(httpResponse(200, wireReceipt));
      else socket.resetAndDestroy();
    });
    const provider = providerAt(server.url);
    await givenBack(provider.pay({ session, order }));
    assert.deepEqual(await failure(provider.pay({ session, order })), reset);
    assert.deepEqual(
      server.requests.map(({ connection }) => connection),
      [1, 2],
    );
  });

  it('that breaks under a read does not have it sent again unasked', async () => {
    const server = await rawServer(({ socket }) => socket.resetAndDestroy());
    assert.deepEqual(await failure(providerAt(server.url).balance({ session })), reset);
    assert.equal(server.requests.length, 1);
  });

  it('that the bank closes while it rests is replaced', async () => {
    const server = await responding(200, {});
    const client = makeClient(server.url, undefined, { restClock: clock });
    await pay(client);
    server.sockets[0]?.resetAndDestroy();
    await clock.advance(100);
    await pay(client);
    assert.equal(server.sockets.length, 2);
  });
});

describe('closing the client', () => {
  it('waits for what is under way and closes the connections', async () => {
    const server = await rawServer(() => {
      // Answered below.
    });
    const client = makeClient(server.url);
    const call = pay(client);
    await eventually(() => server.requests.length === 1, 'the call');
    let isClosed = false;
    const closing = client.close().then(() => (isClosed = true));
    assert.deepEqual(await failure(pay(client)), { ...notConnected, retryable: false });
    assert.equal(isClosed, false);
    server.requests[0]?.socket.write(httpResponse(200, '{"late":true}'));
    assert.deepEqual((await call).json, { late: true });
    await closing;
    await eventually(() => server.sockets.every((socket) => socket.destroyed), 'the connections');
    assert.equal(server.requests.length, 1);
  });

  it('may be requested twice', async () => {
    const server = await responding(200, {});
    const client = makeClient(server.url);
    await pay(client);
    await Promise.all([client.close(), client.close()]);
  });
});
