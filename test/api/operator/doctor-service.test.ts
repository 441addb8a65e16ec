/** What `ponte doctor` reads at `/metrics` of the running service. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { breakerStates, createMetrics } from '../../../src/telemetry/metrics.ts';
import { examineService } from '../../../src/operator/doctor-service.ts';
import type { Finding } from '../../../src/operator/finding.ts';
import { typePonte } from '../../support/command-line.ts';
import { systemClock } from '../../../src/clock.ts';

type Metrics = ReturnType<typeof createMetrics>;

/** The line of a name, after a service has counted this. */
async function found(name: string, count: (metrics: Metrics) => void): Promise<Finding> {
  const metrics = createMetrics();
  count(metrics);
  const findings = examineService(await metrics.registry.metrics(), systemClock.now());
  const finding = findings.find((one) => one.name === name);
  assert.ok(finding, `there is no finding ${name}`);
  return finding;
}

const respond = (
  { requests }: Metrics,
  seconds: number,
  labels: { readonly status?: string; readonly operation?: string } = {},
): void => requests.observe({ operation: 'getMe', status: '200', ...labels }, seconds);

const call = ({ providerCalls }: Metrics, status_class: string): void =>
  providerCalls.observe({ method: 'sendPix', status_class }, 0.1);

const many = (times: number, work: () => void): void => {
  for (let done = 0; done < times; done += 1) work();
};

describe('the running service', () => {
  for (const [name, healthy, unhealthy, says] of [
    [
      'internal errors',
      (m) => respond(m, 1, { status: '503' }),
      (m) => respond(m, 1, { status: '500' }),
      /^1 since its/,
    ],
    [
      'unhandled errors',
      () => undefined,
      (m) => m.defects.inc({ kind: 'uncaught_exception' }),
      /^1 since its start/,
    ],
    [
      'closed connections',
      () => undefined,
      (m) => m.closedConnections.inc({ reason: 'total' }),
      /^1 since its start/,
    ],
    [
      'answer times',
      (m) => {
        many(20, () => respond(m, 0.01));
        many(20, () => respond(m, 29, { operation: 'getPixTransaction' }));
      },
      (m) => many(20, () => respond(m, 4)),
      /^95 % within 5 s since/,
    ],
    [
      'answer times',
      () => undefined,
      (m) => many(20, () => respond(m, 3_600)),
      /^more than 5 % are slower than the slowest that is measured since/,
    ],
    [
      'provider calls',
      (m) => {
        many(20, () => call(m, '2xx'));
        call(m, 'timeout');
      },
      (m) => {
        many(18, () => call(m, '2xx'));
        call(m, 'connect');
      },
      /^1 of 19 failed since/,
    ],
    [
      'circuit breakers',
      (m) => m.breakerState.set({ lane: 'money' }, breakerStates.closed),
      (m) => m.breakerState.set({ lane: 'money' }, breakerStates.open),
      /^open for money/,
    ],
    [
      'unstored outcomes',
      (m) => m.unstoredOutcomes.set(0),
      (m) => m.unstoredOutcomes.set(2),
      /^2 wait$/,
    ],
  ] as readonly [string, (m: Metrics) => void, (m: Metrics) => void, RegExp][]) {
    it(`says what is wrong: ${name}`, async () => {
      assert.equal((await found(name, healthy)).state, 'ok');
      const finding = await found(name, unhealthy);
      assert.equal(finding.state, 'doubtful');
      assert.match(finding.says, says);
      assert.ok(finding.todo);
    });
  }

  it('is doubtful when its metrics cannot be read, and the rest is examined', async () => {
    const { stdout } = await typePonte(['doctor', '--json'], {
      environment: { APP_ENV: 'test', PORT: '1', DATABASE_URL: 'postgres://127.0.0.1:1/ponte' },
    });
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    const service = findings.find(({ name }) => name === 'service');
    assert.equal(service?.state, 'doubtful');
    assert.match(service.says, /^its metrics at http:\/\/127\.0\.0\.1:1\/metrics cannot be read/);
    assert.ok(findings.some(({ name }) => name === 'webhook secret'));
  });
});
