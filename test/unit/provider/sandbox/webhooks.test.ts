import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { eventually } from '../../../support/eventually.ts';
import { afterFile } from '../../../support/suite.ts';
import { readEvent } from '../provider-contract.ts';
import { chargeOrder, logIn, orderFor } from './bank/open-bank.ts';
import { testSandbox } from './sandbox.ts';

interface Received {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver that answers with each status in turn, then with 200; 0: not at all. */
async function receiver(...statuses: number[]) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      received.push({ path: request.url, headers: request.headers, body });
      const status = statuses[received.length - 1] ?? 200;
      if (status !== 0) response.writeHead(status, { location: '/elsewhere' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterFile(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { received, url: `http://127.0.0.1:${port}/hooks?of=bank` };
}

async function paid(webhook: { url: string; secret?: string }, name = 'maria') {
  const sandbox = await testSandbox({ webhook });
  const session = await logIn(sandbox.provider);
  const order = await orderFor(sandbox.provider, session, { key: `${name}@ponte.test` });
  await sandbox.provider.pay({ session, order });
  return { ...sandbox, order };
}

describe('the webhooks of the sandbox', () => {
  it('are posted as JSON, with the secret, to the address and its query', async () => {
    const { received, url } = await receiver();
    const { clock, order } = await paid({ url, secret: 'hook-secret' });
    await clock.advance(1_500);
    const [{ path, headers, body }] = (await eventually(
      () => received.length > 0 && received,
      'the webhook',
    )) as [Received];
    assert.equal(path, '/hooks?of=bank');
    assert.equal(headers['x-webhook-secret'], 'hook-secret');
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(JSON.parse(body).endToEnd, order.endToEnd);
  });

  it('are events of the contract: a payment that went through, one that failed, a paid charge', async () => {
    const { received, url } = await receiver();
    const { clock, provider, bank } = await paid({ url });
    const session = await logIn(provider);
    const wish = { key: 'fail@ponte.test', clientRequestId: 'request-2' };
    await provider.pay({ session, order: await orderFor(provider, session, wish) });
    await provider.createDynamicCharge({ session, order: chargeOrder() });
    await clock.advance(1_500);
    await bank.payCharge(chargeOrder().transactionIdentification);
    await eventually(() => received.length === 3, 'the webhooks');
    const events = received.map(({ body }) => readEvent(body));
    assert.deepEqual(
      events
        .map(({ event, status }) => `${event} ${status}`)
        .toSorted((a, b) => a.localeCompare(b)),
      ['PIX_PAYMENT_OUT CONFIRMED', 'PIX_PAYMENT_OUT ERROR', 'PIX_RECEIVED CONFIRMED'],
    );
    assert.throws(() => readEvent('{"event":"PIX_RECEIVED","status":1}'));
  });

  it('have no secret when none was agreed', async () => {
    const { received, url } = await receiver();
    const { clock } = await paid({ url });
    await clock.advance(1_500);
    await eventually(() => received.length === 1, 'the webhook');
    assert.equal('x-webhook-secret' in (received[0]?.headers ?? {}), false);
  });

  it('are posted again, byte for byte, until the response is 200', async () => {
    const { received, url } = await receiver(500, 401, 204, 302);
    const { clock, bank } = await paid({ url });
    for (const [before, delayMs] of [1_500, 1_000, 2_000, 4_000, 8_000].entries()) {
      await clock.advance(delayMs);
      await eventually(() => received.length === before + 1, `try ${before + 1}`);
      // The clock stops until the response is there: the attempt could time out otherwise.
      await bank.idle();
    }
    await clock.advance(120_000);
    assert.equal(received.length, 5);
    assert.equal(new Set(received.map(({ body }) => body)).size, 1);
  });

  it('are posted again when there is no response in time', async () => {
    const { received, url } = await receiver(0);
    const { clock, bank } = await paid({ url });
    await clock.advance(1_500);
    await eventually(() => received.length === 1, 'the webhook');
    await clock.advance(10_000);
    await bank.idle();
    await clock.advance(1_000);
    await eventually(() => received.length === 2, 'the second try');
  });

  it('twice@: come twice with the same bytes, and then another', async () => {
    const { received, url } = await receiver();
    const { clock } = await paid({ url }, 'twice');
    await clock.advance(1_500);
    await eventually(() => received.length === 3, 'the webhooks');
    assert.equal(received[0]?.body, received[1]?.body);
    assert.notEqual(received[1]?.body, received[2]?.body);
  });

  it('early@: comes before the response', async () => {
    const { received, url } = await receiver();
    await paid({ url }, 'early');
    assert.equal(received.length, 1);
  });

  it('do not hold up the end of the sandbox', async () => {
    const { received, url } = await receiver(0);
    const { clock, close } = await paid({ url });
    await clock.advance(1_500);
    await eventually(() => received.length === 1, 'the webhook');
    await close();
  });
});
