/** The id of an application is a secret: the log does not have it, whatever the caller calls it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp } from '../support/app.ts';
import { register, type Shown } from './applicants.ts';

const app = await startTestApp({
  environment: { ONBOARDING_LOCAL_ONLY: 'false', JOBS: 'off' },
});

const { id }: Shown = await register(app);
const bare = id.replaceAll('-', '');

const paths = [`/onboarding/${id}`, `/onboarding/%${id.charCodeAt(0).toString(16)}${id.slice(1)}`];

for (const path of [...paths, `/onboarding/${id}/kyc`, `/onboarding/${id}/nowhere`]) {
  test(`as a request id it is answered and not logged: ${path.replaceAll(/[\da-f-]{20,}/g, '…')}`, async () => {
    for (const given of [
      id,
      bare,
      id.toUpperCase(),
      `req-${id}.1`,
      `${bare.slice(0, 9)}:${bare.slice(9)}`,
    ]) {
      const from = app.logLines.length;
      const answer = await app.call(path, { headers: { 'x-request-id': given } });
      assert.equal(answer.headers.get('x-request-id'), given);
      const log = app.logLines.slice(from).join('\n');
      assert.ok(log.includes('"requestId"'));
      assert.ok(!log.includes(given) && !log.includes(id) && !log.includes(bare), given);
    }
  });
}

test('as a trace id it is not logged: another trace begins', async () => {
  for (const [path, isKept] of [
    [`/onboarding/${id}`, false],
    ['/onboarding/cep/01310100', true],
  ] as const) {
    const from = app.logLines.length;
    const traceparent = `00-${bare}-00f067aa0ba902b7-01`;
    await app.call(path, { headers: { traceparent, tracestate: 'a=1' } });
    const log = app.logLines.slice(from).join('\n');
    assert.match(log, /"traceId":"[0-9a-f]{32}"/);
    assert.equal(log.includes(bare), isKept, path);
  }
});

test('any other id is logged as it is', async () => {
  for (const given of ['r-1', `${id.slice(0, -1)}_`, '0d5a5ec1-5299-4247-8725-529982247250']) {
    const from = app.logLines.length;
    await app.call(`/onboarding/${id}`, { headers: { 'x-request-id': given } });
    assert.ok(app.logLines.slice(from).join('\n').includes(`"requestId":"${given}"`));
  }
});
