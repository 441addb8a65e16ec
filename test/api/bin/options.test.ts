import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseTime, resolveTime } from '../../../bin/options.ts';
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

  for (const typed of ['yesterday', '2026-13-01', '2026-11-22 25:00', '15:00', '2x']) {
    it(`${typed} is refused`, () =>
      assert.throws(() => parseTime(typed), /It must be a time such as/));
  }
});
