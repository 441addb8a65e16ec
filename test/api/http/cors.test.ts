/** What a page of another origin may call and read. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { parse } from 'yaml';
import { AppError } from '../../../src/errors.ts';
import { allowedHeaders, exposedHeaders } from '../../../src/http/cors.ts';
import { call, rawConnection, startWire, type Wire } from './wire.ts';

const origin = 'https://app.example.com';
const code = '/api/v1/codes/123';

function startShared(t: TestContext, runs = {}): Promise<Wire> {
  const corsAllowedOrigins = [origin, 'capacitor://localhost'];
  return startWire(t, { config: { corsAllowedOrigins }, runs });
}

test('a page of an allowed origin reads replies and refusals, with their headers', async (t) => {
  const wire = await startShared(t, {
    readCode: () => {
      throw new AppError('THROTTLED', { headers: { 'Retry-After': '7' } });
    },
  });
  const requests = [
    { path: code },
    { path: '/api/v1/nothing' },
    { path: '/api/v1/things', method: 'POST', body: '{' },
  ];
  for (const request of requests) {
    for (const allowed of [origin, 'capacitor://localhost']) {
      const { headers } = await call(wire, { ...request, headers: { Origin: allowed } });
      assert.equal(headers['access-control-allow-origin'], allowed);
      assert.equal(headers['access-control-expose-headers'], exposedHeaders.join(', '));
      assert.equal(headers.vary, 'Accept-Language, Origin');
      assert.equal(headers['access-control-allow-credentials'], undefined);
    }
  }
});

test('a page reads why its body was refused while it arrived', async (t) => {
  const wire = await startShared(t);
  const head =
    'POST /api/v1/notes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
    `Transfer-Encoding: chunked\r\nOrigin: ${origin}\r\n\r\n`;
  const malformed = await rawConnection(wire);
  malformed.send(`${head}2\r\n{}\r\nzz\r\n`);
  const slow = await rawConnection(wire);
  slow.send(`${head}2\r\n{`);
  // The server has read both when it has answered a later request.
  await call(wire, { path: '/health/live' });
  await wire.clock.advance(30_000);
  for (const [client, status] of [[malformed, 400] as const, [slow, 408] as const]) {
    const response = await client.closed();
    assert.match(response, new RegExp(`^HTTP/1\\.1 ${status} `));
    assert.ok(response.includes(`\r\nAccess-Control-Allow-Origin: ${origin}\r\n`));
    assert.ok(response.includes(`-Expose-Headers: ${exposedHeaders.join(', ')}\r\n`));
    assert.ok(response.includes('\r\nVary: Accept-Language, Origin\r\n'));
  }
});

test('a preflight says which methods and headers the path takes, without a token', async (t) => {
  const wire = await startShared(t);
  const headers = {
    Origin: origin,
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'authorization,idempotency-key',
  };
  const reply = await call(wire, { method: 'OPTIONS', path: '/api/v1/things', headers });
  assert.equal(reply.status, 204);
  assert.equal(reply.headers['access-control-allow-origin'], origin);
  assert.equal(reply.headers['access-control-allow-methods'], reply.headers.allow);
  assert.match(reply.headers.allow ?? '', /POST/);
  assert.equal(reply.headers['access-control-allow-headers'], allowedHeaders.join(', '));
  assert.equal(reply.headers['access-control-max-age'], '600');
});

test('another origin and a caller without one get no permission, and caches are told', async (t) => {
  const wire = await startShared(t);
  for (const other of ['https://app.example.com.evil.test', 'null', `${origin}:8443`, '']) {
    const { headers, status } = await call(wire, { path: code, headers: { Origin: other } });
    assert.equal(status, 200);
    assert.equal(headers['access-control-allow-origin'], undefined);
    assert.equal(headers.vary, 'Origin');
  }
  const { headers } = await call(wire, { path: code });
  assert.equal(headers['access-control-allow-origin'], undefined);
  assert.equal(headers.vary, 'Origin');
});

test('outside the API, and by default, no origin gets a permission', async (t) => {
  const shared = await startShared(t);
  const system = await call(shared, { path: '/health/live', headers: { Origin: origin } });
  assert.equal(system.headers['access-control-allow-origin'], undefined);
  const wire = await startWire(t);
  const reply = await call(wire, { path: code, headers: { Origin: origin } });
  assert.equal(reply.headers['access-control-allow-origin'], undefined);
  assert.equal(reply.headers.vary, undefined);
});

test('a page may send and read every header that the contract names', () => {
  const file = join(import.meta.dirname, '..', '..', '..', 'contract', 'openapi.yaml');
  const document = parse(readFileSync(file, 'utf8')) as Contract;
  const declared = Object.values(document.paths)
    .flatMap((path) => Object.values(path))
    .flatMap((operation) => Object.values(operation.responses ?? {}))
    .map((response) => find(document, response))
    .flatMap((response) => Object.keys(response.headers ?? {}));
  const missing = [...new Set(declared)].filter((name) => !exposedHeaders.includes(name));
  assert.ok(declared.length > 0);
  assert.deepEqual(missing, []);
});

interface Response {
  readonly $ref?: string;
  readonly headers?: Record<string, unknown>;
}

interface Contract {
  readonly paths: Record<string, Record<string, { readonly responses?: Record<string, Response> }>>;
  readonly components: { readonly responses: Record<string, Response> };
}

function find({ components }: Contract, response: Response): Response {
  const name = response.$ref?.split('/').at(-1);
  return name === undefined ? response : (components.responses[name] ?? {});
}
