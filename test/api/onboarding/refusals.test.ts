/** What every route of an application refuses alike: ids of nothing, and too many of them. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import {
  startTestApp,
  type TestResponse,
  type TestApp,
  type TestRequest,
} from '../../support/app.ts';
import { rawConnection } from '../http/wire.ts';
import { makePdf } from '../../support/documents.ts';
import { fieldPart, filePart, formType, makeForm } from '../../support/forms.ts';
import { addressBody, newPerson, register } from './applicants.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });

const document = makeForm(fieldPart('1'), filePart(makePdf('a document')));

const post = { method: 'POST' };

/** Every route with an application's id, with a request that is in order. */
const routes: readonly (readonly [path: string, request: TestRequest])[] = [
  ['', {}],
  ['/address', { body: addressBody }],
  ['/documents', { body: document, headers: { 'content-type': formType } }],
  ['/proposal', post],
  ['/electronic-validation', post],
  ['/electronic-validation/confirm', post],
  ['/prova-vida', post],
  ['/kyc', {}],
  ['/sync', post],
];

function at(server: TestApp, id: string): Promise<TestResponse[]> {
  return Promise.all(
    routes.map(([path, request]) => server.call(`/onboarding/${id}${path}`, request)),
  );
}

test('404 alike on every route for an id that names nothing, in either form', async () => {
  await register(app);
  const ids = [randomUUID(), 'not-a-uuid', '17', `${randomUUID()}0`, '%00'];
  for (const id of ids) {
    for (const response of await at(app, id)) {
      assert.equal(response.status, 404);
      assert.deepEqual(response.body, { message: 'Not found.' });
    }
  }
});

test("the user's id, and the session of the proof of life, are no application's id", async () => {
  const { id, user_id: userId } = await register(app);
  const { body } = await app.call(`/onboarding/${id}/prova-vida`, { method: 'POST' });
  for (const other of [String(userId), body.application.prova_vida.session_id]) {
    assert.equal((await app.call(`/onboarding/${other}`)).status, 404);
  }
});

test('an id in capitals names the same application', async () => {
  const { id } = await register(app);
  const { status, body } = await app.call(`/onboarding/${id.toUpperCase()}`);
  assert.equal(status, 200);
  assert.equal(body.id, id);
});

test('405 for a method that a route has not', async () => {
  const { id } = await register(app);
  for (const [path, { method = 'GET', body }] of routes) {
    const isPost = method === 'POST' || body !== undefined;
    const response = await app.call(`/onboarding/${id}${path}`, {
      method: isPost ? 'GET' : 'POST',
    });
    assert.equal(response.status, 405, path);
  }
});

test('415 for a body that is no JSON, 400 for JSON that is broken', async () => {
  const { id } = await register(app);
  for (const path of ['address', 'proposal', 'electronic-validation']) {
    const text = { body: 'x=1', headers: { 'content-type': 'text/plain' } };
    assert.equal((await app.call(`/onboarding/${id}/${path}`, text)).status, 415);
    assert.equal((await app.call(`/onboarding/${id}/${path}`, { body: '{' })).status, 400);
  }
});

const faulty: readonly (readonly [path: string, body: unknown, fields: string[]])[] = [
  ['address', {}, ['bairro', 'cep', 'cidade', 'estado', 'logradouro', 'numero']],
  ['address', { ...addressBody, cep: '123' }, ['cep']],
  ['address', { ...addressBody, estado: 'SPX', numero: ' ' }, ['estado', 'numero']],
  ['address', { ...addressBody, estado: 'XX' }, ['estado']],
  ['address', { ...addressBody, complemento: 7 }, ['complemento']],
  ['proposal', { tipo: '', valor_solicitado: -1 }, ['tipo', 'valor_solicitado']],
  ['proposal', { valor_solicitado: 1.005, observacoes: 7 }, ['observacoes', 'valor_solicitado']],
  ['electronic-validation', { tipo: 'SMS' }, ['tipo']],
  ['electronic-validation/confirm', { codigo: '', tipo: 1.5 }, ['codigo', 'tipo']],
  ['electronic-validation/confirm', { codigo: 'x'.repeat(21) }, ['codigo']],
];

for (const [path, body, fields] of faulty) {
  test(`422 on ${path} names ${fields.join(', ')}`, async () => {
    const { id } = await register(app);
    const response = await app.call(`/onboarding/${id}/${path}`, { body });
    assert.equal(response.status, 422);
    assert.deepEqual(Object.keys(response.body.errors).sort(), fields);
    const after = await app.call(`/onboarding/${id}`);
    assert.deepEqual(
      new Set(after.body.steps.slice(1).map((one: { status: string }) => one.status)),
      new Set(['pending']),
    );
  });
}

/** The routes that read a body of JSON. */
const withBody = ['address', 'proposal', 'electronic-validation', 'electronic-validation/confirm'];

test('an unknown application is answered 404 without a byte of the body', async () => {
  for (const id of [randomUUID(), 'not-a-uuid']) {
    for (const path of withBody) {
      const client = await rawConnection({ port: app.context.listening.port });
      client.send(
        `POST /api/v1/onboarding/${id}/${path} HTTP/1.1\r\nHost: x\r\n` +
          'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n',
      );
      const response = await client.receive('Not found.');
      assert.match(response, /^HTTP\/1\.1 404 /);
      client.socket.destroy();
    }
  }
});

test('a faulty body for an unknown application is 404', async () => {
  for (const path of withBody) {
    const address = `/onboarding/${randomUUID()}/${path}`;
    for (const body of ['{', '[]', 'x'.repeat(100_000)]) {
      assert.equal((await app.call(address, { body })).status, 404);
    }
  }
});

const throttled = await startTestApp({
  environment: { JOBS: 'off', THROTTLE_ADDRESS_PER_MINUTE: '30', TRUST_PROXY_HOPS: '1' },
});

const from = (address: string) => ({ 'x-forwarded-for': address });

test('after sixty misses within a minute an address is answered 429 for further misses', async () => {
  const { body } = await throttled.call('/onboarding/pf', { body: newPerson() });
  const known = `/onboarding/${body.id}`;
  const headers = from('198.51.100.7');
  for (let miss = 0; miss < 60; miss += 1) {
    const id = miss % 2 === 0 ? randomUUID() : `no-uuid-${miss}`;
    const response = await throttled.call(`/onboarding/${id}`, { headers });
    assert.equal(response.status, 404);
  }
  const unknown = `/onboarding/${randomUUID()}`;
  const misses: [path: string, request: TestRequest][] = [
    [unknown, { headers }],
    ['/onboarding/no-uuid', { headers }],
    ['/onboarding/no-uuid/address', { headers, body: addressBody }],
    [`${unknown}/kyc`, { headers }],
    [`${unknown}/address`, { headers, body: addressBody }],
  ];
  for (const [path, request] of misses) {
    const response = await throttled.call(path, request);
    assert.equal(response.status, 429);
    assert.equal(response.headers.get('retry-after'), '60');
    assert.deepEqual(Object.keys(response.body), ['message']);
  }
  for (const path of [known, `${known}/kyc`]) {
    assert.equal((await throttled.call(path, { headers })).status, 200);
  }
  const step = await throttled.call(`${known}/address`, { headers, body: addressBody });
  assert.equal(step.status, 201);
  assert.equal((await throttled.call(known, { headers: from('198.51.100.8') })).status, 200);
  await throttled.clock.advance(60_000);
  assert.equal((await throttled.call(known, { headers })).status, 200);
});

test('of misses at once, at most sixty are answered as misses', async () => {
  const headers = from('198.51.100.9');
  const responses = await Promise.all(
    Array.from({ length: 70 }, () =>
      throttled.call(`/onboarding/${randomUUID()}/kyc`, { headers }),
    ),
  );
  const misses = responses.filter(({ status }) => status === 404);
  assert.equal(misses.length, 60);
  assert.ok(responses.every(({ status }) => status === 404 || status === 429));
});

for (const path of ['/onboarding/pf', '/accounts/pf']) {
  test(`${path} takes thirty requests a minute from one address`, async () => {
    const headers = from(`203.0.113.${path.length}`);
    for (let request = 0; request < 30; request += 1) {
      assert.equal((await throttled.call(path, { body: {}, headers })).status, 422);
    }
    const refused = await throttled.call(path, { body: newPerson(), headers });
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    const other = await throttled.call(path, { body: {}, headers: from('203.0.113.200') });
    assert.equal(other.status, 422);
  });
}

test('the thirty are shared by whatever registers', async () => {
  const headers = from('203.0.113.99');
  const paths = ['/onboarding/pf', '/accounts/pf', '/accounts/pj'];
  for (let request = 0; request < 30; request += 1) {
    const path = paths[request % paths.length] ?? '';
    const { status } = await throttled.call(path, { body: {}, headers });
    assert.equal(status, path === '/accounts/pj' ? 501 : 422);
  }
  for (const path of paths) {
    assert.equal((await throttled.call(path, { body: {}, headers })).status, 429, path);
  }
});

const wide = await startTestApp({
  environment: { JOBS: 'off', THROTTLE_ADDRESS_PER_MINUTE: '600', TRUST_PROXY_HOPS: '1' },
});

/** Counts to 29 what has been counted twice. */
const skipToLast = (counter: string) =>
  wide.rows(`update throttle_counters set attempts = 29 where key like $1 and attempts = 2`, [
    `${counter}:%`,
  ]);

test('an address registers thirty people a minute, and may correct its faults beside', async () => {
  const [headers, other] = [from('203.0.113.97'), from('203.0.113.96')];
  const paths = ['/onboarding/pf', '/accounts/pf'] as const;
  for (let nth = 0; nth < 40; nth += 1) {
    assert.equal((await wide.call(paths[nth % 2] ?? '', { body: {}, headers })).status, 422);
  }
  for (let nth = 0; nth < 3; nth += 1) {
    const body = newPerson();
    assert.equal((await wide.call(paths[nth % 2] ?? '', { body, headers })).status, 201);
    if (nth === 1) await skipToLast('registration-hash');
  }
  for (const path of paths) {
    const refused = await wide.call(path, { body: newPerson(), headers });
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get('retry-after'), '60');
    assert.equal((await wide.call(path, { body: newPerson(), headers: other })).status, 201);
  }
  await wide.clock.advance(60_000);
  assert.equal((await wide.call(paths[0], { body: newPerson(), headers })).status, 201);
});

test('CEPs are counted apart: thirty a minute from one address', async () => {
  const headers = from('203.0.113.98');
  for (let request = 0; request < 30; request += 1) {
    const response = await throttled.call('/onboarding/cep/01310100', { headers });
    assert.equal(response.status, 200);
  }
  const refused = await throttled.call('/onboarding/cep/01310100', { headers });
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get('retry-after'), '60');
  const registration = await throttled.call('/onboarding/pf', { body: {}, headers });
  assert.equal(registration.status, 422);
});

const strict = await startTestApp({
  environment: { JOBS: 'off', THROTTLE_ADDRESS_PER_MINUTE: '3', TRUST_PROXY_HOPS: '1' },
});

let addresses = 0;

/** An address that nothing else comes from. */
function anywhere(): ReturnType<typeof from> {
  addresses += 1;
  return from(`198.51.101.${addresses}`);
}

async function applicant(): Promise<string> {
  const request = { body: newPerson(), headers: anywhere() };
  return (await strict.call('/onboarding/pf', request)).body.id;
}

/** Every step, the synchronisation and the decision included. */
const steps = routes.filter(([path]) => path !== '');

for (const [path, request] of steps) {
  test(`the steps of an application are counted, from any address: ${path}`, async () => {
    const id = await applicant();
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const proposal = { ...post, headers: anywhere() };
      assert.equal((await strict.call(`/onboarding/${id}/proposal`, proposal)).status, 202);
    }
    const give = () => {
      const headers = { ...request.headers, ...anywhere() };
      return strict.call(`/onboarding/${id}${path}`, { ...request, headers });
    };
    const refused = await give();
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get('retry-after'), '60');
    assert.equal((await strict.call(`/onboarding/${id}`)).status, 200);
    await strict.clock.advance(60_000);
    assert.notEqual((await give()).status, 429);
  });
}

test('an application takes thirty steps a minute, however wide the limit of an address', async () => {
  const { body } = await wide.call('/onboarding/pf', { body: newPerson() });
  const give = () => wide.call(`/onboarding/${body.id}/proposal`, post);
  for (let nth = 0; nth < 3; nth += 1) {
    assert.equal((await give()).status, 202);
    if (nth === 1) await skipToLast('onboarding-step');
  }
  assert.equal((await give()).status, 429);
});

test('an address takes the steps of ten applications, and misses do not count', async () => {
  const headers = from('203.0.113.78');
  const others = await Promise.all(Array.from({ length: 10 }, applicant));
  for (const id of [randomUUID(), ...others]) {
    const proposal = { ...post, headers };
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const { status } = await strict.call(`/onboarding/${id}/proposal`, proposal);
      assert.equal(status, others.includes(id) ? 202 : 404);
    }
  }
  const sync = `/onboarding/${await applicant()}/sync`;
  assert.equal((await strict.call(sync, { ...post, headers })).status, 429);
  assert.equal((await strict.call(sync, { ...post, headers: anywhere() })).status, 202);
});

test('no throttle where throttles are lifted', async () => {
  for (let miss = 0; miss < 65; miss += 1) {
    assert.equal((await app.call(`/onboarding/${randomUUID()}`)).status, 404);
  }
});

test('after thirty documents within a minute an address is answered 429, whatever it sends', async () => {
  const headers = { ...from('198.51.100.77'), 'content-type': 'multipart/form-data; boundary=x' };
  const path = `/onboarding/${randomUUID()}/documents`;
  const send = () => throttled.call(path, { method: 'POST', body: '--x--\r\n', headers });
  for (let sent = 0; sent < 30; sent += 1) assert.equal((await send()).status, 404);
  const refused = await send();
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
});
