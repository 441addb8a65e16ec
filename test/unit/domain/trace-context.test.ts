import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { beginTrace, continueTrace as goOn } from '../../../src/domain/trace-context.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';
const parent = `00-${traceId}-${parentId}-01`;

const form = /^00-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})$/;

const continueTrace = (headers: Readonly<Record<string, unknown>>) =>
  goOn(headers, (id) => `digest of ${id}`);

describe('a trace that begins here', () => {
  it('has ids of its own, is not sampled, and has no state', () => {
    const [one, other] = [beginTrace(), beginTrace()];
    assert.deepEqual(
      { ...form.exec(one.traceparent)?.groups },
      { traceId: one.traceId, spanId: one.spanId, flags: '00' },
    );
    assert.notEqual(one.traceId, other.traceId);
    assert.notEqual(one.spanId, other.spanId);
    assert.ok(!('tracestate' in one));
  });
});

describe('a trace that a caller has begun', () => {
  it('goes on under its id, which the log does not have, with a parent of our own each time', () => {
    const spans = Array.from({ length: 3 }, () => continueTrace({ traceparent: parent }));
    for (const span of spans) {
      assert.equal(span.traceId, `digest of ${traceId}`);
      assert.equal(span.traceparent, `00-${traceId}-${span.spanId}-01`);
      assert.ok(!('tracestate' in span));
    }
    assert.equal(new Set([parentId, ...spans.map(({ spanId }) => spanId)]).size, 4);
  });

  for (const [parentFlags, flags] of [
    ['00', '00'],
    ['01', '01'],
    ['02', '00'],
    ['ff', '01'],
  ]) {
    it(`with the flags ${parentFlags} goes on with ${flags}: only one flag is defined`, () => {
      const span = continueTrace({ traceparent: `00-${traceId}-${parentId}-${parentFlags}` });
      assert.match(span.traceparent, new RegExp(`-${flags}$`));
    });
  }

  for (const traceparent of [
    `01-${traceId}-${parentId}-01`,
    `cc-${traceId}-${parentId}-01-what-the-future-brings`,
    `cc-${traceId}-${parentId}-01-`,
  ]) {
    it(`of a later version is continued in ours: ${traceparent}`, () => {
      const span = continueTrace({ traceparent });
      assert.equal(span.traceparent, `00-${traceId}-${span.spanId}-01`);
    });
  }

  for (const traceparent of [
    undefined,
    '',
    'x',
    ['a', 'b'],
    `${parent}, ${parent}`,
    `${parent}-`,
    `${parent}-01`,
    ` ${parent}`,
    `ff-${traceId}-${parentId}-01`,
    `cc-${traceId}-${parentId}-01.what`,
    `cc-${traceId}-${parentId}-0`,
    `00-${traceId.toUpperCase()}-${parentId}-01`,
    `00-${traceId.slice(1)}-${parentId}-01`,
    `00-${traceId}0-${parentId}-01`,
    `00-${traceId}-${parentId}-1`,
    `00-${traceId}-${parentId}-0g`,
    `00-${'0'.repeat(32)}-${parentId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `0-${traceId}-${parentId}-01`,
    `00_${traceId}_${parentId}_01`,
  ]) {
    it(`is not taken from ${JSON.stringify(traceparent)}: a new one begins`, () => {
      const span = continueTrace({ traceparent, tracestate: 'a=1' });
      assert.doesNotMatch(span.traceId, /digest/);
      assert.match(span.traceparent, form);
      assert.ok(!('tracestate' in span), 'the state belongs to the trace that is not continued');
    });
  }
});

describe('the state of a trace', () => {
  const members = (count: number) => Array.from({ length: count }, (_, index) => `k${index}=1`);

  for (const tracestate of [
    'rojo=00f067aa0ba902b7',
    'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE',
    ' a=1 ,\tb=2 , ,c=3',
    '1tenant/a@system-b=v',
    'a_-*/z= starts with a blank!"#$%&\'()*+-./:;<>?@[\\]^_`{|}~',
    members(32).join(','),
    `a=${'v'.repeat(256)}`,
    `${'k'.repeat(256)}=1`,
    `a=${'v'.repeat(256)},bb=${'v'.repeat(250)}`,
  ]) {
    it(`is passed on as it came: ${tracestate.slice(0, 60)}`, () => {
      assert.equal(continueTrace({ traceparent: parent, tracestate }).tracestate, tracestate);
    });
  }

  for (const tracestate of [
    '',
    ' , ',
    ['a=1'],
    'a',
    'a=',
    '=1',
    'a =1',
    'A=1',
    '1a=1',
    'a=1=2',
    'a=é',
    'a=1,a=2',
    'tenant@=1',
    `tenant@${'s'.repeat(15)}=1`,
    `${'t'.repeat(242)}@s=1`,
    `${'k'.repeat(257)}=1`,
    `a=${'v'.repeat(257)}`,
    members(33).join(','),
    `a=${'v'.repeat(255)},b=${'v'.repeat(255)}`,
  ]) {
    it(`is dropped: ${JSON.stringify(tracestate).slice(0, 60)}`, () => {
      const span = continueTrace({ traceparent: parent, tracestate });
      assert.ok(!('tracestate' in span));
      assert.equal(span.traceId, `digest of ${traceId}`, 'the trace goes on without it');
    });
  }
});
