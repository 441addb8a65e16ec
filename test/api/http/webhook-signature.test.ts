/** Events need a signature, and may need an address, when the configuration says so. */
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { requireAllowedAddress } from '../../../src/http/webhook-signature.ts';
import { startTestApp, type TestResponse } from '../../support/app.ts';

const key = randomBytes(24);
const older = 'an-older-secret-of-more-than-32-characters';
const app = await startTestApp({
  environment: {
    JOBS: 'off',
    WEBHOOK_SIGNING_SECRET: `whsec_${key.toString('base64')},${older}`,
  },
});

interface Signing {
  readonly id?: string;
  readonly secret?: Buffer | string;
  /** In seconds from now. */
  readonly age?: number;
  readonly signedBody?: string;
  readonly others?: string;
}

let events = 0;

function post(signing: Signing = {}, headers: Record<string, string> = {}): Promise<TestResponse> {
  const { id = 'msg_1', secret = key, age = 0, others = '' } = signing;
  const body = JSON.stringify({ event: 'CONTA_CRIADA', nth: (events += 1) });
  const timestamp = String(Math.floor(app.clock.now().getTime() / 1_000) - age);
  const signed = `${id}.${timestamp}.${signing.signedBody ?? body}`;
  const signature = createHmac('sha256', secret).update(signed).digest('base64');
  return app.call('/webhooks/provider', {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `${others}v1,${signature}`,
      ...headers,
    },
  });
}

test('an event with a signature of either secret is taken', async () => {
  for (const signing of [{}, { secret: older }, { others: 'v1a,xyz v1,AAAA ' }, { age: 299 }]) {
    assert.equal((await post(signing)).status, 200);
  }
});

test('any other event is 401, and nothing of it is stored', async () => {
  const stored = () => app.rows('select id from webhook_events order by id');
  const before = await stored();
  const refused: readonly [Signing, Record<string, string>?][] = [
    [{ secret: randomBytes(24) }],
    [{ signedBody: '{}' }],
    [{ age: 301 }],
    [{ age: -301 }],
    [{}, { 'webhook-id': 'msg_2' }],
    [{}, { 'webhook-timestamp': '0' }],
    [{}, { 'webhook-signature': '' }],
    [{}, { 'webhook-signature': 'v1,' }],
    [{ id: '' }],
  ];
  for (const [signing, headers] of refused) {
    const response = await post(signing, headers);
    assert.equal(response.status, 401, JSON.stringify([signing, headers]));
    assert.deepEqual(response.body, { message: 'The webhook secret is missing or wrong.' });
  }
  assert.deepEqual(await stored(), before);
});

test('only the addresses that are listed may post, where some are', async () => {
  const listing = await startTestApp({
    environment: {
      JOBS: 'off',
      TRUST_PROXY_HOPS: '1',
      WEBHOOK_ALLOWED_ADDRESSES: '203.0.113.0/24,198.51.100.7',
    },
  });
  for (const [address, status] of [
    ['203.0.114.7', 401],
    ['203.0.113.7', 200],
    ['198.51.100.7', 200],
  ] as const) {
    const from = { method: 'POST', body: {}, headers: { 'x-forwarded-for': address } };
    assert.equal((await listing.call('/webhooks/provider', from)).status, status, address);
  }
});

test('networks and addresses are distinguished', () => {
  const allowed = ['203.0.113.7', '198.51.100.0/24', '2001:db8:1::/48'];
  for (const address of ['203.0.113.7', '198.51.100.200', '2001:db8:1:2::/64']) {
    requireAllowedAddress(allowed, address);
  }
  for (const address of ['203.0.113.8', '198.51.101.1', '2001:db8:2:2::/64', '']) {
    assert.throws(() => requireAllowedAddress(allowed, address), {
      code: 'WEBHOOK_SECRET_REFUSED',
    });
  }
});
