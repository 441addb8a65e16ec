/** Times in the forms in which banks write them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTimeMs } from '../../../src/provider/written-times.ts';

const forms: readonly (readonly [value: unknown, moment: string])[] = [
  ['2026-06-30', '2026-06-30T03:00:00Z'],
  ['2026/06/30', '2026-06-30T03:00:00Z'],
  ['2026-06-30 10:00', '2026-06-30T13:00:00Z'],
  ['2026-06-30T10:00:00.123-03', '2026-06-30T13:00:00.123Z'],
  ['20260630', '2026-06-30T03:00:00Z'],
  ['20260630100000', '2026-06-30T13:00:00Z'],
  [20260630100000, '2026-06-30T13:00:00Z'],
  ['20260630T100000Z', '2026-06-30T10:00:00Z'],
  ['30/06/2026', '2026-06-30T03:00:00Z'],
  ['30/06/26', '2026-06-30T03:00:00Z'],
  ['30/06/2026 9:00:00', '2026-06-30T12:00:00Z'],
  ['30/06/2026 9:00', '2026-06-30T12:00:00Z'],
  ['06/30/2026 10:00:00', '2026-06-30T13:00:00Z'],
  ['05/06/2026', '2026-06-05T03:00:00Z'],
  ['202606301000', '2026-06-30T13:00:00Z'],
  ['20260630100000123', '2026-06-30T13:00:00Z'],
  ['Tue, 30 Jun 2026 10:00:00 GMT', '2026-06-30T10:00:00Z'],
  [1782813600, '2026-06-30T10:00:00Z'],
  ['1782813600000', '2026-06-30T10:00:00Z'],
  [1782813600000000, '2026-06-30T10:00:00Z'],
  ['1782813600000000000', '2026-06-30T10:00:00Z'],
  [[2026, 6, 30], '2026-06-30T03:00:00Z'],
  [[2026, 6, 30, 10, 0, 0], '2026-06-30T13:00:00Z'],
];

for (const [value, moment] of forms) {
  test(`${JSON.stringify(value)} is ${moment}`, () => {
    assert.equal(new Date(readTimeMs(value)).toISOString(), new Date(moment).toISOString());
  });
}

test('what is no time is before every time', () => {
  for (const value of [
    '',
    'soon',
    0,
    20,
    true,
    null,
    {},
    [],
    [1],
    '2026',
    '99999999',
    '32/13/26',
  ]) {
    assert.equal(readTimeMs(value), Number.NEGATIVE_INFINITY, JSON.stringify(value));
  }
});
