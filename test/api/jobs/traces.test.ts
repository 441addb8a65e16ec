/** The spans of a service, as an OpenTelemetry collector receives them over HTTP. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deliverAppEvent } from '../../../src/app-events/deliver-app-event.ts';
import { JobRuns } from '../../../src/jobs/runner.ts';
import { startCollector, type CollectedSpan } from '../../support/collector.ts';
import { onlyOnServer } from '../../support/open-database.ts';
import { confirmed, startSettlingApp } from './settling.ts';

const collector = await startCollector();
const app = await startSettlingApp({
  environment: {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector',
    OTEL_SERVICE_NAME: 'ponte-test',
    APP_EVENTS_URL: `${collector.url}/events`,
    APP_EVENTS_SECRET: `whsec_${'A'.repeat(32)}`,
  },
});

const { token, email } = app.customer;
const payee = 'ana@example.com';
const callersId = '4bf92f3577b34da6a3ce929d0e0e4736';
const unrecordedId = '5bf92f3577b34da6a3ce929d0e0e4736';
const callersSpan = '00f067aa0ba902b7';

async function sendAs(traceId: string, flags: string): Promise<string> {
  const { status, body } = await app.call('/pix/send', {
    token,
    key: `send-${traceId}`,
    body: { pix_key: payee, amount: 3 },
    headers: { traceparent: `00-${traceId}-${callersSpan}-${flags}` },
  });
  assert.equal(status, 200);
  return body.transaction_id;
}

const send = await app.givenSend();
await app.receive(confirmed({ endToEnd: send.end_to_end }));
const runs = new JobRuns({
  context: app.context,
  jobs: { 'deliver-app-event': deliverAppEvent },
  random: () => 0.5,
});
const payload = { id: `pix_${send.id}` };
await runs.run({ id: '1', kind: 'deliver-app-event', payload, attempt: 1, worker: 'test' });
const continued = await sendAs(callersId, '01');
const unrecorded = await sendAs(unrecordedId, '00');
await app.context.tracing?.stop();

const spans = collector.spans();
const traceOf = (id: string): string => id.replaceAll('-', '');
const spansOf = (traceId: string): CollectedSpan[] =>
  spans.filter((span) => span.traceId === traceId);

/** The only span of this name in a trace. */
function spanOf(traceId: string, name: string): CollectedSpan {
  const found = spansOf(traceId).filter((span) => span.name === name);
  assert.equal(
    found.length,
    1,
    `${name} of ${spansOf(traceId)
      .map((span) => span.name)
      .join()}`,
  );
  return found[0] as CollectedSpan;
}

describe('the trace of a send', () => {
  it('has the id of the transaction, from the request to the delivery of its result', () => {
    const trace = traceOf(send.id);
    const request = spanOf(trace, 'POST /api/v1/pix/send');
    assert.equal(request.parentSpanId, undefined);
    assert.equal(request.attributes['http.response.status_code'], 200);
    assert.equal(request.attributes['ponte.transaction.id'], send.id);
    for (const name of ['lookUpKey', 'pay', 'settle', 'deliver pix.completed']) {
      assert.equal(spanOf(trace, name).parentSpanId, request.spanId, name);
    }
    assert.equal(spanOf(trace, 'pay').attributes['ponte.outcome'], 'accepted');
  });

  it("is continued by the app's backend", () => {
    const trace = traceOf(send.id);
    const { spanId } = spanOf(trace, 'deliver pix.completed');
    const event = collector.events.find(
      ({ headers }) => headers['webhook-id'] === `pix_${send.id}`,
    );
    assert.equal(event?.headers['traceparent'], `00-${trace}-${spanId}-01`);
  });

  it("is the caller's where the caller has one, and links to the transaction's", () => {
    const request = spanOf(callersId, 'POST /api/v1/pix/send');
    assert.equal(request.parentSpanId, callersSpan);
    assert.equal(spanOf(callersId, 'pay').parentSpanId, request.spanId);
    const first = spanOf(traceOf(continued), 'POST /api/v1/pix/send');
    assert.equal(first.parentSpanId, undefined);
    assert.deepEqual(first.links, [{ traceId: callersId, spanId: request.spanId }]);
  });

  it('is not recorded where the caller says so', () => {
    assert.deepEqual(spansOf(unrecordedId), []);
    assert.notEqual(unrecorded, '');
  });
});

describe('the spans', () => {
  it('are those of the service, with the headers of the settings', () => {
    assert.deepEqual(collector.serviceNames(), ['ponte-test']);
    assert.deepEqual([...new Set(collector.authorizations)], ['Bearer collector']);
  });

  it('include the runs of jobs', () => {
    const [run, ...others] = spans.filter(({ name }) => name === 'job deliver-app-event');
    assert.deepEqual([run?.attributes['ponte.job.id'], others], ['1', []]);
  });

  it('include the batches of statements', onlyOnServer, () => {
    const batch = spans.find(({ name }) => name === 'pix-reserve-send');
    assert.equal(batch?.attributes['db.operation.batch.size'], 1);
  });

  it('have no personal data', () => {
    const text = collector.text();
    const secrets = [email, payee, '52998224725', 'Maria', token, send.end_to_end];
    assert.deepEqual(
      secrets.filter((secret) => text.includes(secret)),
      [],
    );
    assert.ok(spans.length > 10);
  });
});
