/** The periods of limits, and how a limit changes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  changeClassLimit,
  changeLimit,
  changeNightHour,
  limitPeriod,
  readByPayee,
  writeByPayee,
  type StoredByPayee,
} from '../../../src/domain/spending-limits.ts';

describe('the period of an instant in São Paulo', () => {
  for (const [instant, hour, isNight, beganAt, endHour, nextDayAt, nextNightAt] of [
    ['2026-05-24T09:00:00.000Z', 20, false, '24T09', 20, '25T09', '24T23'],
    ['2026-05-24T08:59:59.999Z', 20, true, '23T23', 6, '24T09', '24T23'],
    ['2026-05-24T08:59:59.999Z', 22, true, '24T01', 6, '24T09', '25T01'],
    ['2026-05-24T22:59:59.999Z', 20, false, '24T09', 20, '25T09', '24T23'],
    ['2026-05-24T23:00:00.000Z', 20, true, '24T23', 6, '25T09', '25T23'],
    ['2026-05-24T23:00:00.000Z', 22, false, '24T09', 22, '25T09', '25T01'],
    ['2026-05-25T01:00:00.000Z', 22, true, '25T01', 6, '25T09', '26T01'],
    // Midnight in São Paulo does not end the night.
    ['2026-05-25T03:00:00.000Z', 20, true, '24T23', 6, '25T09', '25T23'],
  ] as const) {
    test(`${instant} with nights from ${hour}`, () => {
      const at = (time: string) => new Date(`2026-05-${time}:00:00.000Z`);
      assert.deepEqual(limitPeriod(new Date(instant), hour), {
        isNight,
        beganAt: at(beganAt),
        endHour,
        nextDayAt: at(nextDayAt),
        nextNightAt: at(nextNightAt),
      });
    });
  }

  test('an instant has the same period whatever instant was before', () => {
    const day = limitPeriod(new Date('2026-05-24T12:00:00.000Z'), 20);
    const night = limitPeriod(new Date('2026-05-25T02:00:00.000Z'), 20);
    const last = (period: { readonly nextDayAt: Date }) => period.nextDayAt.getTime() - 1;
    for (const [instant, period] of [
      [night.beganAt.getTime() - 1, day],
      [night.beganAt.getTime(), night],
      [day.beganAt.getTime(), day],
      [last(night), night],
      [night.beganAt.getTime() - 1, day],
    ] as const) {
      assert.deepEqual(limitPeriod(new Date(instant), 20), period);
    }
    assert.notDeepEqual(limitPeriod(new Date(last(night) + 1), 20), night);
    assert.notDeepEqual(limitPeriod(new Date(day.beganAt.getTime() - 1), 20), day);
  });

  test('a night in which daylight saving time began has nine hours', () => {
    const night = limitPeriod(new Date('2018-11-04T07:00:00.000Z'), 20);
    assert.deepEqual(
      [night.isNight, night.beganAt, night.nextDayAt],
      [true, new Date('2018-11-03T23:00:00.000Z'), new Date('2018-11-04T08:00:00.000Z')],
    );
    const day = limitPeriod(night.nextDayAt, 20);
    assert.deepEqual([day.isNight, day.beganAt], [false, night.nextDayAt]);
  });
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
  });

  test('replaces a raise that waits', () => {
    const raised = { value: 300, next: 400, nextAt: tomorrow };
    assert.deepEqual(changeLimit(raised, 300, defaults), fixed(300));
    const later = { ...defaults, now: new Date(now.getTime() + 1) };
    const other = { value: 300, next: 401, nextAt: new Date(tomorrow.getTime() + 1) };
    assert.deepEqual(changeLimit(raised, 401, later), other);
  });

  test('does not delay a raise that waits when it is requested again', () => {
    const raised = { value: 300, next: 400, nextAt: tomorrow };
    const later = { ...defaults, now: new Date(now.getTime() + 1) };
    assert.deepEqual(changeLimit(raised, 400, later), raised);
    const toDefault = { value: 300, next: null, nextAt: tomorrow };
    assert.deepEqual(changeLimit(toDefault, null, later), toDefault);
  });
});

describe('a change of the limit of a class of payees', () => {
  const unset = { ...fixed(null), sharedUntil: null };
  const facts = { now, sharedCents: 500, maximumCents: 1_000 };

  test('applies at once when it is less, and leaves the shared sum after 24 hours', () => {
    const set = { ...fixed(300), sharedUntil: tomorrow };
    assert.deepEqual(changeClassLimit(unset, 300, facts), set);
    const later = { ...facts, now: new Date(now.getTime() + 1) };
    assert.deepEqual(changeClassLimit(set, 200, later), { ...set, value: 200 });
  });

  test('is apart at once where the customer has no shared limit', () => {
    const alone = { ...facts, sharedCents: null };
    assert.deepEqual(changeClassLimit(unset, 900, alone), { ...fixed(900), sharedUntil: null });
  });

  test('waits for 24 hours when it is more than the shared limit', () => {
    const raised = { value: null, next: 501, nextAt: tomorrow, sharedUntil: null };
    assert.deepEqual(changeClassLimit(unset, 501, facts), raised);
    const again = { ...facts, now: new Date(now.getTime() + 1) };
    assert.deepEqual(changeClassLimit(raised, 501, again), raised);
  });

  test('the shared limit covers the class again: at once if it is less, or after 24 hours', () => {
    const set = { ...fixed(600), sharedUntil: null };
    assert.deepEqual(changeClassLimit(set, null, facts), unset);
    const low = { ...fixed(400), sharedUntil: null };
    assert.deepEqual(changeClassLimit(low, null, facts), {
      ...low,
      next: null,
      nextAt: tomorrow,
    });
  });
});

test('what is stored by payee is read as it is in force', () => {
  const set = { value: 100, next: 200, nextAt: tomorrow, sharedUntil: tomorrow };
  const unset = { ...fixed(null), sharedUntil: null };
  const limits = {
    company: { day: set, night: unset },
    own: { day: unset, night: { ...fixed(0), sharedUntil: null } },
  };
  const text = writeByPayee(limits);
  assert.ok(text);
  const stored = JSON.parse(text) as StoredByPayee;
  assert.deepEqual(readByPayee(stored, now), limits);
  assert.deepEqual(readByPayee(stored, tomorrow).company.day, {
    ...fixed(200),
    sharedUntil: null,
  });
  const nothing = { day: unset, night: unset };
  assert.equal(writeByPayee({ company: nothing, own: nothing }), null);
  assert.deepEqual(readByPayee(null, now), { company: nothing, own: nothing });
});

test('a change of the hour of the night waits for 24 hours, and back it does not', () => {
  const hour = { value: 20, next: 20, nextAt: null } as const;
  const changed = changeNightHour(hour, 22, now);
  assert.deepEqual(changed, { value: 20, next: 22, nextAt: tomorrow });
  assert.deepEqual(changeNightHour(changed, 22, tomorrow), changed);
  assert.deepEqual(changeNightHour(changed, 20, now), hour);
});
