/** The periods of limits, and how a limit changes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  changeLimit,
  changeNightHour,
  limitPeriod,
  timedValue,
} from '../../../src/domain/spending-limits.ts';

describe('the period of an instant in São Paulo', () => {
  for (const [instant, hour, isNight, beganAt, endHour] of [
    ['2026-05-24T09:00:00.000Z', 20, false, '2026-05-24T09:00:00.000Z', 20],
    ['2026-05-24T08:59:59.999Z', 20, true, '2026-05-23T23:00:00.000Z', 6],
    ['2026-05-24T08:59:59.999Z', 22, true, '2026-05-24T01:00:00.000Z', 6],
    ['2026-05-24T22:59:59.999Z', 20, false, '2026-05-24T09:00:00.000Z', 20],
    ['2026-05-24T23:00:00.000Z', 20, true, '2026-05-24T23:00:00.000Z', 6],
    ['2026-05-24T23:00:00.000Z', 22, false, '2026-05-24T09:00:00.000Z', 22],
    ['2026-05-25T01:00:00.000Z', 22, true, '2026-05-25T01:00:00.000Z', 6],
    // Midnight in São Paulo does not end the night.
    ['2026-05-25T03:00:00.000Z', 20, true, '2026-05-24T23:00:00.000Z', 6],
    // Daylight saving time began at midnight, so this night had nine hours.
    ['2018-11-04T07:00:00.000Z', 20, true, '2018-11-03T23:00:00.000Z', 6],
    ['2018-11-04T08:00:00.000Z', 20, false, '2018-11-04T08:00:00.000Z', 20],
  ] as const) {
    test(`${instant} with nights from ${hour}`, () => {
      const period = limitPeriod(new Date(instant), hour);
      assert.deepEqual(period, { isNight, beganAt: new Date(beganAt), endHour });
    });
  }
});

const now = new Date('2026-05-24T12:00:00.000Z');
const tomorrow = new Date('2026-05-25T12:00:00.000Z');
const fixed = (value: number | null) => ({ value, next: null, nextAt: null });

describe('a change of a limit', () => {
  const defaults = { now, defaultCents: 500 };

  test('applies at once when it is a reduction, also of the default', () => {
    assert.deepEqual(changeLimit(fixed(300), 200, defaults), fixed(200));
    assert.deepEqual(changeLimit(fixed(null), 499, defaults), fixed(499));
    assert.deepEqual(changeLimit(fixed(600), null, defaults), fixed(null));
    assert.deepEqual(changeLimit(fixed(null), 0, { now, defaultCents: null }), fixed(0));
  });

  test('waits for 24 hours when it is a raise, also to the default', () => {
    const raised = { value: 300, next: 301, nextAt: tomorrow };
    assert.deepEqual(changeLimit(fixed(300), 301, defaults), raised);
    assert.deepEqual(changeLimit(fixed(300), null, defaults), { ...raised, next: null });
    assert.equal(timedValue(raised, new Date(tomorrow.getTime() - 1)), 300);
    assert.equal(timedValue(raised, tomorrow), 301);
  });

  test('replaces a raise that waits, and begins with one that has come', () => {
    const raised = { value: 300, next: 400, nextAt: tomorrow };
    assert.deepEqual(changeLimit(raised, 300, defaults), fixed(300));
    assert.deepEqual(changeLimit({ ...raised, nextAt: now }, 350, defaults), fixed(350));
  });
});

test('a change of the hour of the night waits for 24 hours, and back it does not', () => {
  const hour = { value: 20, next: 20, nextAt: null } as const;
  const changed = changeNightHour(hour, 22, now);
  assert.deepEqual(changed, { value: 20, next: 22, nextAt: tomorrow });
  assert.deepEqual(changeNightHour(changed, 20, now), hour);
});
