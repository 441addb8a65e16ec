/** A request's place in a trace: what is logged of it, and what operations pass on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loggedDigest } from '../../../src/security/sealing.ts';
import { call, startWire } from './wire.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parent = `00-${traceId}-00f067aa0ba902b7-01`;

const code = { path: '/api/v1/codes/123' };

test("a caller's ids are logged as digests: every line of the request has them", async (t) => {
  const wire = await startWire(t, {
    runs: {
      readCode({ request }) {
        request.log.info('inside');
        throw new TypeError('broken');
      },
    },
  });
  const headers = { traceparent: parent, tracestate: 'rojo=1,congo=2', 'X-Request-Id': 'r-1' };
  await call(wire, { ...code, headers });
  const digest = (id: string): string => loggedDigest(wire.context.sealer, id);
  const [{ requestId: own } = {}] = wire.lines;
  assert.deepEqual(
    wire.lines.map(({ msg }) => msg),
    ['inside', 'the request failed', 'request'],
  );
  assert.match(String(own), /^[\da-f]{8}-/);
  assert.deepEqual(
    wire.lines.map(({ requestId, requestIdDigest, traceId: logged }) => {
      return { requestId, requestIdDigest, traceId: logged };
    }),
    wire.lines.map(() => {
      return { requestId: own, requestIdDigest: digest('r-1'), traceId: digest(traceId) };
    }),
  );
  assert.doesNotMatch(JSON.stringify(wire.lines), /rojo|congo|r-1/);
  assert.ok(!JSON.stringify(wire.lines).includes(traceId));
});

test('what operations pass on names this request as the parent', async (t) => {
  const wire = await startWire(t);
  const headers = { traceparent: parent, tracestate: 'rojo=1,congo=2', 'X-Request-Id': 'r-1' };
  await call(wire, { ...code, headers });
  const { requestId, trace } = wire.calls[0]?.request.callOptions ?? {};
  const { spanId } = wire.lines.at(-1) ?? {};
  assert.equal(requestId, wire.lines.at(-1)?.['requestId']);
  assert.deepEqual(trace, {
    traceId: loggedDigest(wire.context.sealer, traceId),
    spanId,
    parentSpanId: '00f067aa0ba902b7',
    traceparent: `00-${traceId}-${String(spanId)}-01`,
    tracestate: 'rojo=1,congo=2',
  });
  assert.ok(!parent.includes(String(spanId)));
});

test('headers that came twice are read as the one they make', async (t) => {
  const wire = await startWire(t);
  const twice = { traceparent: [parent, parent], tracestate: 'a=1' };
  await call(wire, { ...code, headers: twice });
  const begun = wire.calls[0]?.request.callOptions.trace;
  assert.ok(begun && !begun.traceparent.includes(traceId));
  const states = { traceparent: parent, tracestate: ['a=1', 'b=2'] };
  await call(wire, { ...code, headers: states });
  assert.equal(wire.calls[1]?.request.callOptions.trace?.tracestate, 'a=1, b=2');
});

test('without a valid one each request begins a trace of its own', async (t) => {
  const wire = await startWire(t);
  await call(wire, { ...code, headers: { traceparent: 'nonsense', tracestate: 'a=1' } });
  await call(wire, { ...code });
  await call(wire, { path: '/nowhere' });
  const ids = wire.lines.map(({ traceId: logged }) => String(logged));
  assert.equal(new Set(ids).size, 3);
  for (const id of ids) assert.match(id, /^[0-9a-f]{32}$/);
  assert.ok(!('tracestate' in (wire.calls[0]?.request.callOptions.trace ?? {})));
});
