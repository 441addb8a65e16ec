/** A reverse proxy that the configuration does not know of is noticed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call, startWire, type Wire } from './wire.ts';

function warnings(wire: Wire): unknown[] {
  return wire.lines.filter(({ setting }) => setting === 'TRUST_PROXY_HOPS').map(({ msg }) => msg);
}

const forwarded = { 'X-Forwarded-For': '203.0.113.7' };
const get = { path: '/api/v1/codes/123' };

test('the first request with X-Forwarded-For and no trusted proxy is warned of, once', async (t) => {
  const wire = await startWire(t);
  await call(wire, get);
  assert.deepEqual(warnings(wire), []);
  for (let request = 0; request < 3; request += 1) await call(wire, { ...get, headers: forwarded });
  assert.equal(warnings(wire).length, 1);
  assert.match(String(warnings(wire)[0]), /X-Forwarded-For/);
  assert.equal(JSON.stringify(wire.lines).includes('203.0.113.7'), false);
});

test('a proxy that is trusted is not warned of', async (t) => {
  const wire = await startWire(t, { config: { appEnv: 'production', trustProxyHops: 1 } });
  await call(wire, { ...get, headers: forwarded });
  assert.deepEqual(warnings(wire), []);
});

for (const appEnv of ['staging', 'production'] as const) {
  test(`a start in ${appEnv} says what TRUST_PROXY_HOPS=0 means`, async (t) => {
    const wire = await startWire(t, { config: { appEnv, trustProxyHops: 0 } });
    assert.match(String(warnings(wire)[0]), /behind a TLS proxy all clients count as one address/);
  });
}
