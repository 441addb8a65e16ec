import assert from 'node:assert/strict';
import { createServer, type AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { smallContract } from './small-contract.ts';
import { call, startWire, type Wire } from './wire.ts';

test('live is 200 whatever the checks say', async (t) => {
  const readiness = () => Promise.resolve({ ready: false, checks: { database: false } });
  const wire = await startWire(t, { readiness });
  const answer = await call(wire, { path: '/health/live' });
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.json, { status: 'ok' });
});

test('ready is 200 with the checks, or 503 with those that fail', async (t) => {
  let ready = true;
  const readiness = () => Promise.resolve({ ready, checks: { database: ready, jobs: true } });
  const wire = await startWire(t, { readiness });
  const good = await call(wire, { path: '/health/ready' });
  assert.equal(good.status, 200);
  assert.deepEqual(good.json, { status: 'ok', checks: { database: true, jobs: true } });
  ready = false;
  const bad = await call(wire, { path: '/health/ready' });
  assert.equal(bad.status, 503);
  assert.deepEqual(bad.json, { status: 'unavailable', checks: { database: false, jobs: true } });
});

test('the public keys are published', async (t) => {
  const wire = await startWire(t);
  const answer = await call(wire, { path: '/.well-known/jwks.json' });
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.json, { keys: [{ kid: 'k1', kty: 'RSA' }] });
});

test('the contract is served byte for byte', async (t) => {
  const wire = await startWire(t);
  const answer = await call(wire, { path: '/openapi.yaml' });
  assert.equal(answer.headers['content-type'], 'application/yaml');
  assert.equal(answer.text, smallContract);
});

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
  const answer = await call(wire, { path: '/metrics' });
  assert.equal(answer.status, 200);
  assert.match(String(answer.headers['content-type']), /^text\/plain/);
  assert.match(answer.text, /^# HELP /);
});

test('metrics do not exist for a caller behind a proxy', async (t) => {
  const wire = await startWire(t);
  for (const name of ['X-Forwarded-For', 'Forwarded']) {
    const answer = await call(wire, { path: '/metrics', headers: { [name]: '127.0.0.1' } });
    assert.equal(answer.status, 404, name);
  }
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

test('a metrics port that is taken stops the start, and nothing is left listening', async (t) => {
  const wire = await startWire(t);
  const port = await freePort();
  const failed = startWire(t, { config: { port, metricsPort: wire.port } });
  await assert.rejects(failed, { code: 'EADDRINUSE' });
  await assert.rejects(call({ ...wire, port }, { path: '/health/live' }), { code: 'ECONNREFUSED' });
});

/** The free port may be another's before it is listened on: then it is tried with another one. */
async function startWithMetricsPort(t: TestContext): Promise<{ wire: Wire; metricsPort: number }> {
  for (let tries = 1; ; tries += 1) {
    const metricsPort = await freePort();
    try {
      return { wire: await startWire(t, { config: { metricsPort } }), metricsPort };
    } catch (error) {
      if (tries === 5 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
