/** How the provider knows who calls: a client certificate and an API key; and whom Ponte trusts. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, describe, it } from 'node:test';
import type { TLSSocket } from 'node:tls';
import {
  createPooledClient,
  type PooledClientOptions,
} from '../../../../src/provider/http/pool.ts';
import { failure } from '../sandbox/bank/open-bank.ts';
import { selfSigned } from './certificate.ts';
import { notConnected } from './over-http.ts';

const provider = selfSigned();
const ponte = selfSigned();
const stranger = selfSigned();

const server = createServer(
  { ...provider, requestCert: true, ca: [ponte.cert] },
  (request, response) => {
    const { fingerprint256 } = (request.socket as TLSSocket).getPeerX509Certificate() ?? {};
    response.end(JSON.stringify({ fingerprint256, apiKey: request.headers['x-bank-key'] }));
  },
);
server.listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => server.close());
const baseUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function ask(options: Partial<PooledClientOptions>) {
  const client = createPooledClient({ baseUrl, timeoutMs: 5_000, ...options });
  try {
    return (await client.send({ method: 'GET', path: '/' })).json;
  } finally {
    await client.close();
  }
}

describe('a provider that asks who calls', () => {
  it('gets the client certificate and the API key with every request', async () => {
    const tls = { ca: provider.cert, ...ponte };
    const apiKey = { header: 'X-Bank-Key', value: 'key-1' };
    const response = (await ask({ tls, apiKey })) as Record<string, string>;
    assert.equal(response['apiKey'], 'key-1');
    assert.match(response['fingerprint256'] ?? '', /^[0-9A-F]{2}:/);
  });

  it('refuses a client without its certificate', async () => {
    for (const tls of [{ ca: provider.cert }, { ca: provider.cert, ...stranger }]) {
      const { outcome } = await failure(ask({ tls }));
      assert.ok(outcome === 'not_sent' || outcome === 'unknown');
    }
  });

  it('is not trusted when another authority has signed its certificate', async () => {
    assert.deepEqual(await failure(ask({ tls: { ca: stranger.cert, ...ponte } })), notConnected);
  });
});
