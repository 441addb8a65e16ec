import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operationRoutes } from '../../../src/http/router.ts';
import { parseContract, smallContract } from './small-contract.ts';
import { call, loggedIn, operationTable, startWire, thingId } from './wire.ts';

test('a path parameter reaches the operation decoded', async (t) => {
  const wire = await startWire(t);
  const response = await call(wire, { path: '/api/v1/codes/%31%32%33' });
  assert.equal(response.status, 200);
  assert.deepEqual(wire.calls[0]?.input.path, { code: '123' });
});

test('an unknown path is 404', async (t) => {
  const wire = await startWire(t);
  for (const path of ['/', '/api/v1', '/api/v1/nothing', '/api/v1/things/', '/API/v1/notes']) {
    const response = await call(wire, { path });
    assert.equal(response.status, 404, path);
    assert.deepEqual(response.json, { message: 'Not found.' });
  }
});

test('another method of a known path is 405 and lists the methods', async (t) => {
  const wire = await startWire(t);
  const response = await call(wire, { method: 'DELETE', path: `/api/v1/things/${thingId}` });
  assert.equal(response.status, 405);
  assert.equal(response.headers.allow, 'GET, HEAD, OPTIONS');
  const unusual = await call(wire, { method: 'PROPFIND', path: '/api/v1/notes' });
  assert.equal(unusual.status, 405);
  assert.equal(unusual.headers.allow, 'POST, OPTIONS');
});

test('a path of its own is not taken for the parameter of another', async (t) => {
  const wire = await startWire(t);
  const response = await call(wire, { path: '/api/v1/things/search', headers: loggedIn });
  assert.equal(response.status, 405);
  assert.equal(response.headers.allow, 'POST, OPTIONS');
});

test('OPTIONS on a known path is 204 with its methods, on an unknown one 404', async (t) => {
  const wire = await startWire(t);
  const known = await call(wire, { method: 'OPTIONS', path: '/api/v1/things' });
  assert.equal(known.status, 204);
  assert.equal(known.headers.allow, 'POST, OPTIONS');
  assert.equal(known.text, '');
  const unknown = await call(wire, { method: 'OPTIONS', path: '/api/v1/nothing' });
  assert.equal(unknown.status, 404);
  const server = await call(wire, { method: 'OPTIONS', path: '*' });
  assert.equal(server.status, 204);
  assert.match(String(server.headers.allow), /GET.*POST|POST.*GET/);
});

test('HEAD is answered as GET, without the body', async (t) => {
  const wire = await startWire(t);
  const get = await call(wire, { path: '/api/v1/codes/123' });
  const head = await call(wire, { method: 'HEAD', path: '/api/v1/codes/123' });
  assert.equal(head.status, 200);
  assert.equal(head.text, '');
  assert.equal(head.headers['content-length'], get.headers['content-length']);
});

test('malformed percent-encoding is 400, in the path and in the query', async (t) => {
  const wire = await startWire(t);
  const strict = ['?a=100%', '?%ff=1', '?note=%E0%A4%A'].map((query) => `/api/v1/things${query}`);
  for (const path of ['/api/v1/codes/%zz', '/api/v1/codes/%ff', ...strict]) {
    const method = strict.includes(path) ? 'POST' : 'GET';
    const response = await call(wire, { path, method, headers: loggedIn, body: '{}' });
    assert.equal(response.status, 400, path);
    assert.deepEqual(response.json, { message: 'The request could not be read.' });
  }
});

test('operations and contract that differ are refused, each mismatch by name', () => {
  const contract = parseContract(smallContract);
  const table = { ...operationTable({}) } as Record<string, unknown>;
  delete table['getThing'];
  table['flyAway'] = { access: 'public', run: () => undefined };
  table['createThing'] = { access: 'public', run: () => undefined };
  table['addNote'] = { access: 'token', run: () => undefined };
  table['receiveEvent'] = { access: 'session', run: () => undefined };
  assert.throws(
    () => operationRoutes(table as never, contract),
    (error: Error) =>
      [
        'getThing is in the contract and has no operation',
        'flyAway is not in the contract',
        'createThing is public, in the contract token',
        'addNote is token, in the contract public',
        'receiveEvent is session, in the contract secret',
      ].every((mismatch) => error.message.includes(mismatch)),
  );
});
