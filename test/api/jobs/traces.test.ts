/** The spans of a service, as an OpenTelemetry collector receives them over HTTP. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { calendarDay } from '../../../src/domain/calendar.ts';
import { deliverAppEvent } from '../../../src/app-events/deliver-app-event.ts';
import { JobRuns } from '../../../src/jobs/runner.ts';
import { startCollector, type CollectedSpan } from '../../support/collector.ts';
import { onlyOnServer } from '../../support/open-database.ts';
import { findStatementUser } from '../../../src/settlement/reconciliation-repository.ts';
import { reconcileUser } from '../../../src/settlement/reconcile-user.ts';
import { sweepPix } from '../../../src/settlement/sweep-pix.ts';
import { logIn } from '../../support/factories.ts';
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

const dayMs = 24 * 60 * 60_000;
const dynamicCharge = { type: 'dynamic', amount: 20, expiration_qr: 3_600 };
const charge = (await app.charge(app.customer, dynamicCharge)).body.transaction_id as string;
await app.clock.advance(dayMs + 2 * 3_600_000);
const later = { ...app.customer, token: await logIn(app, email) };
const overdue = (await app.send(later, { pix_key: payee, amount: 4 })).body.transaction_id;
await app.clock.advance(15 * 60_000);
const sweepTrace = app.context.tracing?.begin() ?? assert.fail();
const sweepJob = { id: '2', kind: 'sweep-pix', payload: {}, attempt: 1, worker: 'test' } as const;
await sweepPix.run(app.context, { ...sweepJob, trace: sweepTrace });
const reconciled = (await findStatementUser(app.context, app.customer.id)) ?? assert.fail();
const reconcileTrace = app.context.tracing?.begin() ?? assert.fail();
const today = calendarDay(app.clock.now());
const options = { trace: reconcileTrace };
await reconcileUser(app.context, reconciled, { first: today, last: today, options });
await app.context.tracing?.stop();

const spans = collector.spans();
const toTraceId = (id: string): string => id.replaceAll('-', '');
const listSpans = (traceId: string): CollectedSpan[] =>
  spans.filter((span) => span.traceId === traceId);

/** The only span of this name in a trace. */
function findSpan(traceId: string, name: string): CollectedSpan {
  const found = listSpans(traceId).filter((span) => span.name === name);
  assert.equal(found.length, 1, name);
  return found[0] as CollectedSpan;
}

describe('the trace of a send', () => {
  it('has the id of the transaction, from the request to the delivery of its result', () => {
    const trace = toTraceId(send.id);
    const request = findSpan(trace, 'POST /api/v1/pix/send');
    assert.equal(request.parentSpanId, undefined);
    assert.equal(request.attributes['http.response.status_code'], 200);
    assert.equal(request.attributes['ponte.transaction.id'], send.id);
    for (const name of ['lookUpKey', 'pay', 'settle', 'deliver pix.completed']) {
      assert.equal(findSpan(trace, name).parentSpanId, request.spanId, name);
    }
    assert.equal(findSpan(trace, 'pay').attributes['ponte.outcome'], 'accepted');
  });

  it("is continued by the app's backend", () => {
    const trace = toTraceId(send.id);
    const { spanId } = findSpan(trace, 'deliver pix.completed');
    const event = collector.events.find(
      ({ headers }) => headers['webhook-id'] === `pix_${send.id}`,
    );
    assert.equal(event?.headers['traceparent'], `00-${trace}-${spanId}-01`);
  });

  it("is the caller's where the caller has one, and links to the transaction's", () => {
    const request = findSpan(callersId, 'POST /api/v1/pix/send');
    assert.equal(request.parentSpanId, callersSpan);
    assert.equal(findSpan(callersId, 'pay').parentSpanId, request.spanId);
    const first = findSpan(toTraceId(continued), 'POST /api/v1/pix/send');
    assert.equal(first.parentSpanId, undefined);
    assert.deepEqual(first.links, [{ traceId: callersId, spanId: request.spanId }]);
  });

  it('is not recorded where the caller says so', () => {
    assert.deepEqual(listSpans(unrecordedId), []);
    assert.notEqual(unrecorded, '');
  });
});

describe('the trace of a charge', () => {
  it('has the id of the transaction, from the request to the sweep that ends it', () => {
    const trace = toTraceId(charge);
    const request = findSpan(trace, 'POST /api/v1/pix/charge');
    assert.equal(request.parentSpanId, undefined);
    assert.equal(request.attributes['ponte.transaction.id'], charge);
    for (const name of ['createDynamicCharge', 'sweep']) {
      assert.equal(findSpan(trace, name).parentSpanId, request.spanId, name);
    }
  });
});

describe('what reads a statement', () => {
  it('is a span of the sweep, and of the trace of each payment that it settles', () => {
    const ofSweep = listSpans(sweepTrace.traceId);
    const reads = ofSweep.filter(({ name }) => name === 'sweep a statement');
    assert.ok(reads.length > 0);
    for (const read of reads) {
      assert.equal(read.parentSpanId, sweepTrace.spanId);
      assert.ok(Number(read.attributes['ponte.orders']) > 0);
      const calls = ofSweep.filter(({ name }) => name === 'statement');
      assert.ok(calls.some(({ parentSpanId }) => parentSpanId === read.spanId));
    }
    assert.ok(findSpan(toTraceId(overdue), 'settle by statement'));
  });

  it('is a span of the reconciliation', () => {
    const read = findSpan(reconcileTrace.traceId, 'reconcile a statement');
    assert.equal(read.parentSpanId, reconcileTrace.spanId);
    assert.equal(findSpan(reconcileTrace.traceId, 'statement').parentSpanId, read.spanId);
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
