/** Which `Host` a request may name: a rebound name of another does not reach a local service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call, rawConnection, startWire } from './wire.ts';

const foreign = [
  'attacker.example',
  'attacker.example:3000',
  'localhost.attacker.example',
  'notlocalhost',
  '127.0.0.1.attacker.example',
  '127.0.0.1@attacker.example',
  '[::1].attacker.example',
  '2130706433',
  '0x7f000001',
  '127.1',
];

const own = [
  'localhost',
  'LOCALHOST:8080',
  'localhost.',
  'app.localhost:3000',
  '127.0.0.1',
  '127.9.9.9:1',
  '[::1]:3000',
  '192.168.1.20:3000',
  '10.0.2.2:3000',
  '[fe80::1]',
  'Phone.Lan:3000',
  'bank',
];

test('in local a name of others is 421, for pages, for the API and for health alike', async (t) => {
  const wire = await startWire(t, { config: { appEnv: 'local' } });
  for (const path of ['/health/live', '/metrics', '/api/v1/things', '/no/such/path']) {
    for (const host of foreign) {
      const response = await call(wire, { path, headers: { Host: host } });
      assert.equal(response.status, 421, `${path} ${host}`);
      assert.match(response.json.message ?? '', /ALLOWED_HOSTS/);
    }
  }
  assert.equal(wire.calls.length, 0);
});

test('in local localhost, every address, HOST and ALLOWED_HOSTS pass, on any port', async (t) => {
  const config = { appEnv: 'local', allowedHosts: ['phone.lan', 'BANK'] } as const;
  const wire = await startWire(t, { config });
  for (const host of own) {
    const response = await call(wire, { path: '/health/live', headers: { Host: host } });
    assert.equal(response.status, 200, host);
  }
  const old = await rawConnection(wire);
  old.send('GET /health/live HTTP/1.0\r\n\r\n');
  assert.match(await old.closed(), /^HTTP\/1\.1 200 /);
});

test('anywhere else the proxy in front is responsible for the name', async (t) => {
  for (const appEnv of ['test', 'staging', 'production'] as const) {
    const wire = await startWire(t, { config: { appEnv } });
    const headers = { Host: 'api.bank.example' };
    assert.equal((await call(wire, { path: '/health/live', headers })).status, 200, appEnv);
  }
});
