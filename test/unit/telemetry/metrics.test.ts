import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { register } from 'prom-client';
import { breakerStates, createMetrics } from '../../../src/telemetry/metrics.ts';

describe('the metrics', () => {
  it('show the counts and measurements, by name and label', async () => {
    const metrics = createMetrics();
    metrics.requests.observe({ operation: 'sendPix', status: '200' }, 0.02);
    metrics.databaseQueries.inc(3);
    metrics.providerCalls.observe({ method: 'pay', status_class: '5xx' }, 4);
    metrics.breakerState.set({ lane: 'money' }, breakerStates.open);
    metrics.webhookEvents.inc({ result: 'duplicate' });
    metrics.jobs.inc({ kind: 'settle', result: 'done' });
    metrics.pixAnomalies.inc();
    metrics.pixUnreadEvents.inc();
    metrics.unknownOutcomes.inc();
    metrics.defects.inc({ kind: 'unhandled_rejection' });
    const text = await metrics.registry.metrics();
    for (const line of [
      'ponte_http_request_seconds_bucket{le="0.025",operation="sendPix",status="200"} 1',
      'ponte_http_request_seconds_bucket{le="0.01",operation="sendPix",status="200"} 0',
      'ponte_database_queries_total 3',
      'ponte_provider_call_seconds_sum{method="pay",status_class="5xx"} 4',
      'ponte_provider_breaker_state{lane="money"} 2',
      'ponte_webhook_events_total{result="duplicate"} 1',
      'ponte_jobs_total{kind="settle",result="done"} 1',
      'ponte_pix_anomalies_total 1',
      'ponte_pix_unread_events_total 1',
      'ponte_pix_unknown_outcomes_total 1',
      'ponte_defects_total{kind="unhandled_rejection"} 1',
      'ponte_defects_total{kind="uncaught_exception"} 0',
    ]) {
      assert.ok(text.split('\n').includes(line), line);
    }
  });

  it('show the delay of the event loop and the memory', async () => {
    const text = await createMetrics().registry.metrics();
    assert.match(text, /^nodejs_eventloop_lag_p99_seconds /m);
    assert.match(text, /^process_resident_memory_bytes /m);
  });

  it('of two services in one process do not add up, nor touch the global registry', async () => {
    const [one, two] = [createMetrics(), createMetrics()];
    one.pixAnomalies.inc();
    assert.match(await two.registry.metrics(), /^ponte_pix_anomalies_total 0$/m);
    assert.equal(await register.metrics(), '\n');
  });
});
