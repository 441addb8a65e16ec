import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  parseDay,
  parseDuration,
  parseTime,
  resolvePeriod,
  resolveTime,
} from '../../../bin/options.ts';
import { manualClock } from '../../support/clock.ts';

// The zone of this machine must not matter: tables show UTC.
process.env['TZ'] = 'America/Sao_Paulo';

const clock = manualClock();
const read = (text: string): string => resolveTime(parseTime(text), clock);

describe('a typed time', () => {
  const cases: readonly (readonly [typed: string, time: string])[] = [
    ['2026-11-22', '2026-11-22T00:00:00.000Z'],
    ['2026-11-22 15:00', '2026-11-22T15:00:00.000Z'],
    ['2026-11-22T15:00:30', '2026-11-22T15:00:30.000Z'],
    ['2026-11-22 15:00:30.25', '2026-11-22T15:00:30.250Z'],
    ['2026-11-22 15:00Z', '2026-11-22T15:00:00.000Z'],
    ['2026-11-22 15:00-03:00', '2026-11-22T18:00:00.000Z'],
  ];
  for (const [typed, time] of cases) {
    it(`${typed} is ${time}, in every zone`, () => assert.equal(read(typed), time));
  }

  it('can be an age', () => {
    const now = clock.now().getTime();
    assert.equal(read('2h'), new Date(now - 2 * 3_600_000).toISOString());
  });

  for (const typed of [
    'yesterday',
    '2026-13-01',
    '2026-02-30',
    '2026-02-30 15:00',
    '0001-01-01',
    '2026-11-22 25:00',
    '15:00',
    '2x',
  ]) {
    it(`${typed} is refused`, () =>
      assert.throws(() => parseTime(typed), /It must be a time such as/));
  }
});

describe('a typed period', () => {
  const period = (since: string, until: string) =>
    resolvePeriod({ since: parseTime(since), until: parseTime(until) }, clock);

  it('has the bounds that were typed', () => {
    const since = read('2026-11-21');
    assert.deepEqual(period('2026-11-21', '2026-11-21'), { since, until: since });
    assert.deepEqual(resolvePeriod({}, clock), {});
    assert.deepEqual(resolvePeriod({ since: parseTime('2026-11-21') }, clock), { since });
  });

  it('that ends before it begins is refused, such as ages in the wrong order', () => {
    for (const [since, until] of [
      ['1h', '2h'],
      ['2026-11-22', '2026-11-21'],
    ] as const) {
      assert.throws(() => period(since, until), /--until is before --since/);
    }
  });
});

describe('a typed age', () => {
  for (const [typed, ms] of [
    ['90s', 90_000],
    ['36500d', 36_500 * 86_400_000],
  ] as const) {
    it(`${typed} is ${ms} ms`, () => assert.equal(parseDuration(typed), ms));
  }

  for (const typed of ['36501d', '999999d', '10', '-1d', '1w', '']) {
    it(`'${typed}' is refused`, () => {
      assert.throws(() => parseDuration(typed), /2h or 7d, up to 36500d\./);
    });
  }

  it('that is too long is no time either', () =>
    assert.throws(() => parseTime('999999d'), /up to 36500d/));
});

describe('a typed day', () => {
  it('is a day that exists', () => assert.equal(parseDay('2024-02-29'), '2024-02-29'));

  for (const typed of ['2026-02-29', '2026-2-1', 'yesterday', '20261121', '0001-01-01', '']) {
    it(`'${typed}' is refused`, () =>
      assert.throws(() => parseDay(typed), /It must be a day such as/));
  }
});
