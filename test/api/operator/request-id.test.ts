/** Finding a client's request in the log, which does not have the id that the client has sent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp } from '../../support/app.ts';
import { runPonte } from './command-line.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });

test('ponte request-id prints what the log has for the ids that a client has sent', async () => {
  const id = 'retry-of-529.982.247-25';
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const from = app.logLines.length;
  await app.call('/onboarding/cep/01310100', {
    headers: { 'x-request-id': id, traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
  });
  const line = app.logLines.slice(from).find((one) => one.includes('"msg":"request"')) ?? '';
  assert.ok(!line.includes(id) && !line.includes(traceId));
  const { requestIdDigest, traceId: logged } = JSON.parse(line) as Record<string, unknown>;
  for (const [clientId, digest] of [
    [id, requestIdDigest],
    [` ${traceId} `, logged],
  ] as const) {
    const { stdout, code } = await runPonte(app, ['request-id', clientId]);
    assert.equal(code, 0);
    assert.equal(stdout, `${String(digest)}\n`);
  }
  for (const wrong of ['', ' ', 'a b', 'x'.repeat(129)]) {
    assert.equal((await runPonte(app, ['request-id', wrong])).code, 2, wrong);
  }
  const { stdout } = await runPonte(app, ['request-id', id, '--json']);
  assert.deepEqual(JSON.parse(stdout), { digest: requestIdDigest });
});
