/** The id of an application is a secret: the log does not have it, whatever the caller calls it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { continueTrace } from '../../../src/domain/trace-context.ts';
import { withoutSecret } from '../../../src/http/exchange.ts';
import { startTestApp } from '../../support/app.ts';
import { register, type Shown } from './applicants.ts';

const app = await startTestApp({
  environment: { ONBOARDING_LOCAL_ONLY: 'false', JOBS: 'off' },
});

const { id }: Shown = await register(app);
const bare = id.replaceAll('-', '');

const paths = [`/onboarding/${id}`, `/onboarding/%${id.charCodeAt(0).toString(16)}${id.slice(1)}`];

for (const path of [...paths, `/onboarding/${id}/kyc`, `/onboarding/${id}/nowhere`]) {
  test(`as a request id it is answered and not logged: ${path.replaceAll(/[\da-f-]{20,}/g, '…')}`, async () => {
    for (const requestId of [
      id,
      bare,
      id.toUpperCase(),
      `req-${id}.1`,
      `${bare.slice(0, 9)}:${bare.slice(9)}`,
    ]) {
      const from = app.logLines.length;
      const response = await app.call(path, { headers: { 'x-request-id': requestId } });
      assert.equal(response.headers.get('x-request-id'), requestId);
      const log = app.logLines.slice(from).join('\n');
      assert.ok(log.includes('"requestId"'));
      assert.ok(!log.includes(requestId) && !log.includes(id) && !log.includes(bare), requestId);
    }
  });
}

test('as a trace id it is not logged', async () => {
  const from = app.logLines.length;
  const traceparent = `00-${bare}-00f067aa0ba902b7-01`;
  await app.call(`/onboarding/${id}`, { headers: { traceparent, tracestate: 'a=1' } });
  const log = app.logLines.slice(from).join('\n');
  assert.match(log, /"traceId":"[0-9a-f]{32}"/);
  assert.ok(!log.includes(bare));
});

test('as a trace id it does not reach the provider: another trace begins', () => {
  const trace = continueTrace({ traceparent: `00-${bare}-00f067aa0ba902b7-01` }, () => 'digest');
  for (const path of paths) {
    assert.ok(!withoutSecret(trace, path).traceparent.includes(bare), path);
  }
  assert.equal(withoutSecret(trace, '/onboarding/cep/01310100'), trace);
});
