/** The trace of a request arrives at the provider with each of its calls; a job's is its own. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sweepPix } from '../../../../src/settlement/sweep-pix.ts';
import { loggedDigest } from '../../../../src/security/sealing.ts';
import { givenCustomer } from '../../../support/factories.ts';
import { passUntil } from '../../../support/passing-time.ts';
import { startSandboxedApp } from '../../../support/sandboxed-app.ts';

const app = await startSandboxedApp({
  JOBS: 'off',
  PROVIDER_RETRIES: '1',
  PROVIDER_STATEMENT_FINAL: 'true',
});
const { token } = await givenCustomer(app);

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';
const traced = {
  traceparent: `00-${traceId}-${parentId}-01`,
  tracestate: 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE',
  'X-Request-Id': 'r-1',
};

interface Line {
  readonly msg: string;
  readonly requestId?: string;
  readonly traceId?: string;
  readonly spanId?: string;
}

function logged(message: string): Line[] {
  const lines = app.logLines.map((line) => JSON.parse(line) as Line);
  return lines.filter(({ msg }) => msg === message);
}

describe('the calls that a request makes', () => {
  it('carry its trace with a new parent, its state unchanged, at every attempt', async () => {
    app.sandbox.calls.clear();
    app.sandbox.queueFaults('payments:5xx-before#1');
    const sent = await passUntil(
      app.clock,
      app.call('/pix/send', {
        token,
        key: 'traced',
        body: { pix_key: 'bruno@example.com', amount: 1 },
        headers: traced,
      }),
    );
    assert.equal(sent.body.status, 'PROCESSING');
    const { spanId, requestId: own } = logged('request').at(-1) ?? {};
    assert.match(String(spanId), /^[0-9a-f]{16}$/);
    assert.notEqual(spanId, parentId);
    const calls = app.sandbox.calls.list();
    assert.deepEqual(
      calls.map(({ path }) => path),
      ['keys/dict', 'payments', 'payments'],
    );
    for (const { requestId, traceparent, tracestate } of calls) {
      assert.equal(requestId, own);
      assert.equal(traceparent, `00-${traceId}-${spanId}-01`);
      assert.equal(tracestate, traced.tracestate);
    }
  });

  it('are logged under its trace', async () => {
    const { requestId: own, traceId: digest } = logged('request').at(-1) ?? {};
    assert.equal(digest, loggedDigest(app.context.sealer, traceId));
    const calls = logged('provider call').filter(({ requestId }) => requestId === own);
    assert.deepEqual(
      calls.map((line) => line.traceId),
      [digest, digest],
    );
  });

  it('carry a trace of their own request when the caller has none', async () => {
    app.sandbox.calls.clear();
    await app.call('/accounts/balance', { token });
    await app.call('/accounts/balance', { token, headers: { traceparent: 'nonsense' } });
    const calls = app.sandbox.calls.list();
    const spans = logged('request').slice(-2);
    assert.deepEqual(
      calls.map(({ traceparent, tracestate }) => [traceparent, tracestate]),
      spans.map((line) => [`00-${line.traceId}-${line.spanId}-00`, null]),
    );
    assert.equal(new Set(calls.map(({ traceparent }) => traceparent)).size, 2);
  });
});

describe('the calls that a job makes', () => {
  it('carry a trace that begins with its run, because no request caused it', async () => {
    app.sandbox.queueFaults('payments:5xx-after#2');
    const body = { pix_key: 'bruno@example.com', amount: 2 };
    const sent = app.call('/pix/send', { token, key: 'lost', body, headers: traced });
    assert.equal((await passUntil(app.clock, sent)).headers.get('pix-outcome'), 'unknown');
    app.sandbox.calls.clear();
    const job = { id: '7', kind: 'sweep-pix', payload: {}, attempt: 1, worker: 'test' };
    await passUntil(app.clock, sweepPix.run(app.context, job));
    await passUntil(app.clock, sweepPix.run(app.context, job));
    const [first, ...others] = app.sandbox.calls.list();
    assert.equal(first?.path, 'account/statement');
    assert.equal(first.requestId, 'job-7');
    assert.match(first.traceparent ?? '', /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    assert.ok(!first.traceparent?.includes(traceId));
    assert.equal(first.tracestate, null);
    assert.deepEqual(others, [], 'the first run has settled it');
  });
});
