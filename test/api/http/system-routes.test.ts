import assert from 'node:assert/strict';
import { request, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Exchange } from '../../../src/http/exchange.ts';
import { staticReply } from '../../../src/http/static-reply.ts';
import { freePort } from '../../support/free-port.ts';
import { smallContract } from './small-contract.ts';
import { call, startWire, type Wire } from './wire.ts';

test('live is 200 whatever the checks say', async (t) => {
  const readiness = () =>
    Promise.resolve({ ready: false, version: '1.2.3', checks: { database: false } });
  const wire = await startWire(t, { readiness });
  const response = await call(wire, { path: '/health/live' });
  assert.equal(response.status, 200);
  assert.deepEqual(response.json, { status: 'ok' });
});

test('ready is 200 with the version and the checks, or 503 with those that fail', async (t) => {
  let ready = true;
  const readiness = () =>
    Promise.resolve({ ready, version: '1.2.3', checks: { database: ready, jobs: true } });
  const wire = await startWire(t, { readiness });
  const good = await call(wire, { path: '/health/ready' });
  assert.equal(good.status, 200);
  assert.deepEqual(good.json, {
    status: 'ok',
    version: '1.2.3',
    checks: { database: true, jobs: true },
  });
  ready = false;
  const bad = await call(wire, { path: '/health/ready' });
  assert.equal(bad.status, 503);
  assert.deepEqual(bad.json, {
    status: 'unavailable',
    version: '1.2.3',
    checks: { database: false, jobs: true },
  });
});

test('the public keys are published', async (t) => {
  const wire = await startWire(t);
  const response = await call(wire, { path: '/.well-known/jwks.json' });
  assert.equal(response.status, 200);
  assert.deepEqual(response.json, { keys: [{ kid: 'k1', kty: 'RSA' }] });
});

test('the contract is served byte for byte', async (t) => {
  const wire = await startWire(t);
  const response = await call(wire, { path: '/openapi.yaml' });
  assert.equal(response.headers['content-type'], 'application/yaml');
  assert.equal(response.text, smallContract);
});

test('the contract is compressed as the client accepts it', async (t) => {
  const wire = await startWire(t);
  const decoders = { br: brotliDecompressSync, gzip: gunzipSync, identity: (b: Buffer) => b };
  for (const [accepted, encoding] of [
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['GZIP;q=0.5, br;q=0.4', 'gzip'],
    ['*', 'br'],
    ['*;q=0.1, br;q=0', 'gzip'],
    ['gzip;q=0', 'identity'],
    ['gzip;q=2', 'identity'],
    ['identity, br;q=0.5', 'identity'],
    ['', 'identity'],
    ['zstd', 'identity'],
  ] as const) {
    const response = await requestBytes(wire, accepted);
    const { 'content-encoding': sent = 'identity', 'content-length': length } = response.headers;
    assert.equal(sent, encoding, accepted);
    assert.equal(decoders[encoding](response.bytes).toString(), smallContract);
    assert.equal(Number(length), response.bytes.length);
    assert.equal(response.headers.vary, 'Accept-Encoding');
    assert.equal(response.headers['content-type'], 'application/yaml');
    assert.equal(response.headers['cache-control'], 'no-store');
    assert.ok(encoding === 'identity' || response.bytes.length < smallContract.length / 2);
  }
});

test('a client that has the contract is answered 304, for the form that it gets', async (t) => {
  const wire = await startWire(t);
  const etags = new Set<string>();
  for (const accepted of ['br', 'gzip', 'identity']) {
    const { headers } = await requestBytes(wire, accepted);
    assert.match(String(headers.etag), /^"[\w-]{22}"$/);
    etags.add(String(headers.etag));
    for (const known of [headers.etag, `"other", W/${headers.etag}`, '*']) {
      const response = await requestBytes(wire, accepted, known);
      assert.equal(response.status, 304);
      assert.equal(response.bytes.length, 0);
      assert.equal(response.headers.etag, headers.etag);
      assert.equal(response.headers.vary, 'Accept-Encoding');
    }
  }
  assert.equal(etags.size, 3);
  const [brotli = ''] = etags;
  assert.equal((await requestBytes(wire, 'gzip', brotli)).status, 200);
});

test('a static response is loaded and compressed once, and again after a failure', async () => {
  let loads = 0;
  const respond = staticReply({
    type: 'text/plain',
    load() {
      loads += 1;
      return loads === 1 ? Promise.reject(new Error('EIO')) : Promise.resolve(Buffer.from('text'));
    },
  });
  const exchange = { request: { headers: { 'accept-encoding': 'br' } } } as unknown as Exchange;
  await assert.rejects(respond(exchange), { message: 'EIO' });
  const [one, other] = await Promise.all([respond(exchange), respond(exchange)]);
  assert.equal(loads, 2);
  assert.equal(one.content?.bytes, other.content?.bytes);
});

interface BytesResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** The contract as it comes over the wire. */
function requestBytes(wire: Wire, accepted: string, known?: string): Promise<BytesResponse> {
  const headers = {
    'Accept-Encoding': accepted,
    ...(known !== undefined && { 'If-None-Match': known }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${wire.url}/openapi.yaml`, { headers, agent: false }, (response) => {
      const { statusCode: status = 0, headers: received } = response;
      buffer(response).then((bytes) => resolve({ status, headers: received, bytes }), reject);
    });
    sent.on('error', reject);
    sent.end();
  });
}

test('HEAD, OPTIONS and other methods are answered as on any route', async (t) => {
  const wire = await startWire(t);
  for (const path of ['/health/live', '/metrics', '/openapi.yaml', '/.well-known/jwks.json']) {
    assert.equal((await call(wire, { method: 'HEAD', path })).status, 200);
    assert.equal(
      (await call(wire, { method: 'OPTIONS', path })).headers.allow,
      'GET, HEAD, OPTIONS',
    );
    const posted = await call(wire, { method: 'POST', path });
    assert.equal(posted.status, 405);
    assert.equal(posted.headers.allow, 'GET, HEAD, OPTIONS');
  }
});

test('metrics are text for loopback callers', async (t) => {
  const wire = await startWire(t);
  const response = await call(wire, { path: '/metrics' });
  assert.equal(response.status, 200);
  assert.match(String(response.headers['content-type']), /^text\/plain/);
  assert.match(response.text, /^# HELP /);
});

test('metrics do not exist for a caller behind a proxy', async (t) => {
  const wire = await startWire(t);
  const proxied = [
    'X-Forwarded-For',
    'Forwarded',
    'X-Forwarded-Host',
    'X-Forwarded-Proto',
    'X-Real-IP',
    'Via',
    'True-Client-IP',
  ].map((name) => ({ [name]: '127.0.0.1' }));
  for (const headers of [...proxied, { Host: 'api.bank.example' }, { Host: '192.0.2.7:3000' }]) {
    const response = await call(wire, { path: '/metrics', headers });
    assert.equal(response.status, 404, JSON.stringify(headers));
  }
});

test('where a proxy is configured metrics are on a port of their own, or nowhere', async (t) => {
  const wire = await startWire(t, { config: { trustProxyHops: 1 } });
  assert.equal((await call(wire, { path: '/metrics' })).status, 404);
  const own = await startWithMetricsPort(t, { trustProxyHops: 1 });
  const response = await call({ ...own.wire, port: own.metricsPort }, { path: '/metrics' });
  assert.equal(response.status, 200);
});

test('with a port of their own metrics are only there, and nothing else is', async (t) => {
  const { wire, metricsPort } = await startWithMetricsPort(t);
  assert.equal((await call(wire, { path: '/metrics' })).status, 404);
  const metrics = { ...wire, port: metricsPort };
  const headers = { 'X-Forwarded-For': '203.0.113.7' };
  assert.equal((await call(metrics, { path: '/metrics', headers })).status, 200);
  assert.equal((await call(metrics, { path: '/health/live' })).status, 404);
  await wire.drain();
  await assert.rejects(call(metrics, { path: '/metrics' }), { code: 'ECONNREFUSED' });
});

test('metrics listen on a host of their own', async (t) => {
  const metricsHost = '127.0.0.2';
  const { metricsPort, wire } = await startWithMetricsPort(t, { metricsHost });
  await assert.rejects(call({ ...wire, port: metricsPort }, { path: '/metrics' }), {
    code: 'ECONNREFUSED',
  });
  const response = await fetch(`http://${metricsHost}:${metricsPort}/metrics`);
  assert.equal(response.status, 200);
});

test('a metrics host without an address stops the start, and is named', async (t) => {
  const config = { metricsHost: 'nowhere.invalid', metricsPort: await freePort() };
  await assert.rejects(startWire(t, { config }), { syscall: 'listen', address: 'nowhere.invalid' });
});

test('a metrics port that is taken stops the start, and nothing is left listening', async (t) => {
  const wire = await startWire(t);
  const port = await freePort();
  const failed = startWire(t, { config: { port, metricsPort: wire.port } });
  await assert.rejects(failed, { code: 'EADDRINUSE' });
  await assert.rejects(call({ ...wire, port }, { path: '/health/live' }), { code: 'ECONNREFUSED' });
});

/** The free port may be another's before it is listened on: then it is tried with another one. */
async function startWithMetricsPort(
  t: TestContext,
  config: { readonly metricsHost?: string; readonly trustProxyHops?: number } = {},
): Promise<{ wire: Wire; metricsPort: number }> {
  for (let tries = 1; ; tries += 1) {
    const metricsPort = await freePort();
    try {
      return { wire: await startWire(t, { config: { ...config, metricsPort } }), metricsPort };
    } catch (error) {
      if (tries === 5 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}
