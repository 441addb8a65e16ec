import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError, invalidField } from '../../../src/errors.ts';
import { loggedDigest } from '../../../src/security/sealing.ts';
import { call, createThing, loggedIn, rawConnection, startWire, thingId } from './wire.ts';

const code = { path: '/api/v1/codes/123' };

test('every response carries the headers of the house', async (t) => {
  const wire = await startWire(t, { runs: { getThing: () => ({ status: 304 }) } });
  const responses = [
    await call(wire, code),
    await call(wire, { path: '/nothing' }),
    await call(wire, { method: 'OPTIONS', path: code.path }),
    await call(wire, { path: `/api/v1/things/${thingId}` }),
    await call(wire, { path: `/api/v1/things/${thingId}`, headers: loggedIn }),
    await call(wire, { path: '/health/live' }),
    await call(wire, { path: '/openapi.yaml' }),
    await call(wire, { path: '/api/v1/codes/%zz' }),
  ];
  assert.deepEqual(
    responses.map(({ status }) => status),
    [200, 404, 204, 401, 304, 200, 200, 400],
  );
  for (const { headers, status, text } of responses) {
    assert.match(String(headers['x-request-id']), /^[\x21-\x7e]{1,128}$/);
    assert.equal(headers['cache-control'], 'no-store');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    const length = [204, 304].includes(status) ? undefined : String(Buffer.byteLength(text));
    assert.equal(headers['content-length'], length);
  }
});

test('a body is JSON in UTF-8 with its length in bytes', async (t) => {
  const wire = await startWire(t, {
    runs: { readCode: () => ({ status: 200, body: { message: 'Olá' } }) },
  });
  const response = await call(wire, code);
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
  assert.equal(response.headers['content-length'], '18');
  assert.deepEqual(response.json, { message: 'Olá' });
});

test('a usable request id of the caller is answered, any other is replaced', async (t) => {
  const wire = await startWire(t);
  for (const id of ['abc', '!', '~'.repeat(128)]) {
    const response = await call(wire, { ...code, headers: { 'X-Request-Id': id } });
    assert.equal(response.headers['x-request-id'], id);
  }
  for (const id of ['', '~'.repeat(129), 'a b', 'é']) {
    const response = await call(wire, { ...code, headers: { 'X-Request-Id': id } });
    assert.match(String(response.headers['x-request-id']), /^[0-9a-f-]{36}$/, id);
    assert.equal(wire.lines.at(-1)?.['requestId'], response.headers['x-request-id']);
  }
});

test('a request id is answered, and neither logged nor passed on', async (t) => {
  const wire = await startWire(t);
  const requestIds = [
    'xyz',
    'ana@example.com',
    '52998224725',
    '111%2E444%2E777-35',
    'NTI5OTgyMjQ3MjU=',
    '3532393938323234373235',
    'call-11-98765-4321',
    'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln',
    '11144477735111444777351114447773',
  ];
  for (const id of requestIds) {
    const response = await call(wire, { ...code, headers: { 'X-Request-Id': id } });
    assert.equal(response.headers['x-request-id'], id);
    const own = wire.calls.at(-1)?.request.id;
    assert.match(String(own), /^[0-9a-f-]{36}$/, id);
    const line = wire.lines.at(-1);
    assert.equal(line?.['requestId'], own);
    assert.equal(line?.['requestIdDigest'], loggedDigest(wire.context.sealer, id));
    assert.ok(!JSON.stringify(wire.lines).includes(id), id);
  }
  const ids = wire.lines.map(({ requestId }) => requestId);
  assert.equal(new Set(ids).size, requestIds.length);
});

test('the headers of an operation go out, those of the house win', async (t) => {
  const headers = { ETag: '"1"', 'Pix-Outcome': 'accepted', 'Cache-Control': 'public' };
  const wire = await startWire(t, {
    runs: { readCode: () => ({ status: 200, body: { message: 'x' }, headers }) },
  });
  const response = await call(wire, code);
  assert.equal(response.headers.etag, '"1"');
  assert.equal(response.headers['pix-outcome'], 'accepted');
  assert.equal(response.headers['cache-control'], 'no-store');
});

test('a refusal of an operation is answered from the catalogue, with its headers', async (t) => {
  const wire = await startWire(t, {
    runs: {
      addNote: () => {
        throw new AppError('INSUFFICIENT_FUNDS', { headers: { 'Pix-Outcome': 'rejected' } });
      },
      readCode: () => {
        throw invalidField('code', { en: 'Not this one.', pt: 'Este não.' });
      },
    },
  });
  const coded = await call(wire, { method: 'POST', path: '/api/v1/notes' });
  assert.equal(coded.status, 502);
  assert.equal(coded.json.code, 'INSUFFICIENT_FUNDS');
  assert.equal(coded.headers['pix-outcome'], 'rejected');
  const invalid = await call(wire, { ...code, headers: { 'Accept-Language': 'pt' } });
  assert.deepEqual(invalid.json.errors, { code: ['Este não.'] });
});

test('an operation that is not implemented answers 501 without reading its form', async (t) => {
  const wire = await startWire(t, {
    runs: { upload: () => Promise.reject(new AppError('NOT_IMPLEMENTED')) },
  });
  const response = await call(wire, {
    method: 'POST',
    path: '/api/v1/files',
    headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
    body: Buffer.alloc(4 * 1024 * 1024),
  });
  assert.equal(response.status, 501);
  assert.equal(response.json.code, 'NOT_IMPLEMENTED');
});

test('an unexpected exception is 500, logged under the request id and not shown', async (t) => {
  const wire = await startWire(t, {
    runs: { readCode: () => Promise.reject(new TypeError('secret detail')) },
  });
  const response = await call(wire, code);
  assert.equal(response.status, 500);
  assert.deepEqual(response.json, { message: 'Something went wrong on our side.' });
  const line = wire.lines.find(({ level }) => level === 'error');
  assert.equal(line?.['requestId'], response.headers['x-request-id']);
  assert.equal(line?.['operation'], 'readCode');
});

test('a probe that passes is logged at debug, one that fails at info', async (t) => {
  const wire = await startWire(t, {
    readiness: () => Promise.resolve({ ready: false, version: '1.2.3', checks: {} }),
  });
  await call(wire, { path: '/health/live' });
  assert.deepEqual(wire.lines, []);
  await call(wire, { path: '/health/ready' });
  assert.deepEqual(
    wire.lines.map(({ operation, status }) => [operation, status]),
    [['health.ready', 503]],
  );
});

test('a body that cannot be written and a header that cannot be sent do not crash', async (t) => {
  const wire = await startWire(t, {
    runs: {
      readCode: () => ({ status: 200, body: { message: 1n } }),
      addNote: () => ({ status: 202, body: { message: 'x' }, headers: { 'X-Bad': 'a\nb' } }),
    },
  });
  assert.equal((await call(wire, code)).status, 500);
  await assert.rejects(call(wire, { method: 'POST', path: '/api/v1/notes' }));
  assert.equal((await call(wire, { path: '/health/live' })).status, 200);
});

test('a response that breaks the contract is 500, logged by field without the value', async (t) => {
  const broken = [
    { status: 200, body: { message: 42 } },
    { status: 200, body: {} },
    { status: 200, body: { message: 'x', secret: 'value-42' } },
    { status: 200, body: undefined },
    { status: 299, body: { message: 'x' } },
  ];
  const wire = await startWire(t, { runs: { readCode: () => broken[wire.calls.length - 1] } });
  for (const { status } of broken) {
    assert.equal((await call(wire, code)).status, 500, String(status));
  }
  const errors = wire.lines.filter(({ level }) => level === 'error');
  assert.deepEqual(
    errors.map((line) => line['fields']),
    [
      ['message (type)'],
      ['message (required)'],
      ['secret (additionalProperties)'],
      ['body (missing)'],
      ['status 299 (not listed)'],
    ],
  );
  assert.doesNotMatch(JSON.stringify(wire.lines), /value-42/);
});

test('responses are compared with the contract in local and test only', async (t) => {
  for (const [appEnv, status] of [
    ['local', 500],
    ['staging', 200],
    ['production', 200],
  ] as const) {
    const runs = { readCode: () => ({ status: 200, body: { other: 1 } }) };
    const wire = await startWire(t, { config: { appEnv }, runs });
    assert.equal((await call(wire, code)).status, status, appEnv);
  }
});

test('one log line per request has route and user, never the URL or a value', async (t) => {
  const wire = await startWire(t, {
    runs: { createThing: ({ request }) => request.log.warn('inside') },
  });
  const response = await createThing(wire, { path: '/api/v1/things?note=secret-note' });
  const requestId = response.headers['x-request-id'];
  const [inside, line, ...others] = wire.lines;
  assert.equal(inside?.['requestId'], requestId);
  const { time, traceId, spanId, ...facts } = line ?? {};
  assert.equal(typeof time, 'string');
  assert.equal(inside?.['traceId'], traceId);
  assert.match(`${String(traceId)}-${String(spanId)}`, /^[0-9a-f]{32}-[0-9a-f]{16}$/);
  assert.deepEqual(facts, {
    level: 'info',
    requestId,
    operation: 'createThing',
    method: 'POST',
    path: '/api/v1/things',
    status: 201,
    durationMs: 0,
    userId: 7,
    msg: 'request',
  });
  assert.equal(others.length, 0);
  await call(wire, { path: `/api/v1/things/${thingId}`, headers: loggedIn });
  await call(wire, { path: '/secret-path' });
  assert.equal(wire.lines.at(-2)?.['path'], '/api/v1/things/{thingId}');
  assert.equal(wire.lines.at(-1)?.['path'], null);
  assert.doesNotMatch(JSON.stringify(wire.lines), /secret|3f0c1f8e|ana@/);
});

test('requests are measured by operation and status', async (t) => {
  const wire = await startWire(t);
  await call(wire, code);
  await call(wire, { path: '/nothing' });
  const text = await wire.context.metrics.registry.metrics();
  assert.match(text, /ponte_http_request_seconds_count\{operation="readCode",status="200"\} 1/);
  assert.match(text, /ponte_http_request_seconds_count\{operation="none",status="404"\} 1/);
});

test('a connection serves one request after the other', async (t) => {
  const wire = await startWire(t);
  const client = await rawConnection(wire);
  const get = `GET ${code.path} HTTP/1.1\r\nHost: x\r\n`;
  client.send(`${get}\r\n${get}Connection: close\r\n\r\n`);
  assert.equal((await client.closed()).match(/HTTP\/1\.1 200 OK/g)?.length, 2);
});
