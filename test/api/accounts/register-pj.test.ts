/** Registration of a company: reserved, 501 whatever the request. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp } from '../../support/app.ts';

const app = await startTestApp({
  environment: {
    JOBS: 'off',
    THROTTLE_ADDRESS_PER_MINUTE: '30',
    // The header below says where a test calls from, so that each has its own address.
    TRUST_PROXY_HOPS: '1',
  },
});

const company = {
  name: 'Ana Souza',
  company_name: 'Souza Padaria Ltda',
  email: 'contato@example.com',
  password: 'correct horse battery',
  password_confirmation: 'correct horse battery',
  document: '12ABC34501DE35',
  phone: '+5511999990001',
};

const notImplemented = {
  code: 'NOT_IMPLEMENTED',
  message: 'This service is not available yet.',
};

const bodies: readonly (readonly [what: string, body: unknown])[] = [
  ['a valid body', company],
  ['no field', {}],
  ['no body', undefined],
  ['invalid fields', { ...company, document: '1', email: 'contato' }],
  ['unknown fields', { ...company, trade_name: 'Padaria' }],
  ['a text that is not JSON', '{'],
  ['a body of 20 KB', { ...company, name: 'x'.repeat(20_000) }],
];

for (const [what, body] of bodies) {
  test(`501 for ${what}, and nothing is stored`, async () => {
    const response = await app.call('/accounts/pj', { method: 'POST', body });
    assert.equal(response.status, 501);
    assert.deepEqual(response.body, notImplemented);
    assert.deepEqual(await app.rows('select id from users'), []);
  });
}

test('501 for a form', async () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const response = await app.call('/accounts/pj', { method: 'POST', body: 'name=Ana', headers });
  assert.equal(response.status, 501);
});

test('501 is worded in Portuguese for those who prefer it', async () => {
  const headers = { 'accept-language': 'pt-BR' };
  const response = await app.call('/accounts/pj', { method: 'POST', body: company, headers });
  assert.equal(response.status, 501);
  assert.equal(response.body.message, 'Este serviço ainda não está disponível.');
});

test('429 at the thirty-first request from one address within a minute', async () => {
  const register = (address: string) =>
    app.call('/accounts/pj', {
      method: 'POST',
      body: company,
      headers: { 'x-forwarded-for': address },
    });
  for (let n = 0; n < 30; n += 1) assert.equal((await register('198.51.100.7')).status, 501);
  const response = await register('198.51.100.7');
  assert.equal(response.status, 429);
  assert.deepEqual(Object.keys(response.body), ['message']);
  assert.equal(response.headers.get('retry-after'), '60');
  assert.equal((await register('203.0.113.1')).status, 501, 'from another address');
  await app.clock.advance(60_000);
  assert.equal((await register('198.51.100.7')).status, 501, 'a minute later');
});
