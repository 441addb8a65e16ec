import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { isDatabaseUnavailable } from '../../../src/db/unavailable.ts';
import { call, startWire } from './wire.ts';

function coded(code: string): Error {
  return Object.assign(new Error('failed'), { code });
}

const unreachable = [
  ...['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT'].map(coded),
  ...['08000', '08006', '08P01', '53300', '53100', '57P01', '57P02', '57P03'].map(coded),
  new Error('Connection terminated'),
  new Error('Connection terminated unexpectedly'),
  new Error('Connection terminated due to connection timeout'),
  new Error('timeout exceeded when trying to connect'),
  Object.assign(new AggregateError([coded('ECONNREFUSED')]), { code: 'ECONNREFUSED' }),
];

test('an unreachable database differs from a wrong statement', () => {
  for (const error of unreachable) assert.ok(isDatabaseUnavailable(error), String(error));
  const others = [
    ...['23505', '42601', '57014', '57P04', '40001', 'ERR_INVALID_ARG_TYPE'].map(coded),
    new Error('something else'),
    new UniqueConstraintViolationException(coded('23505')),
    'ECONNREFUSED',
    null,
    undefined,
  ];
  for (const error of others) assert.ok(!isDatabaseUnavailable(error), String(error));
});

/** Unreachable; then a lock, a statement, a deadlock and a conflict that PostgreSQL ended. */
for (const code of ['ECONNREFUSED', '55P03', '57014', '40P01', '40001']) {
  test(`a database that fails with ${code} is 503 with Retry-After, and logged`, async (t) => {
    const wire = await startWire(t, { runs: { readCode: () => Promise.reject(coded(code)) } });
    const response = await call(wire, { path: '/api/v1/codes/123' });
    assert.equal(response.status, 503);
    assert.match(String(response.headers['retry-after']), /^\d+$/);
    assert.match(String(response.json.message), /temporarily unavailable/);
    const requestId = response.headers['x-request-id'];
    assert.ok(
      wire.lines.some((line) => line['level'] === 'error' && line['requestId'] === requestId),
    );
  });
}
