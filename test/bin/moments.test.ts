import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { moment, timeOf } from '../../bin/moments.ts';
import { manualClock } from '../support/clock.ts';

// Whoever sits elsewhere types the times that the tables show.
process.env['TZ'] = 'America/Sao_Paulo';

const clock = manualClock();
const read = (text: string): string => timeOf(moment(text), clock);

describe('a time that was typed', () => {
  const cases: readonly (readonly [typed: string, time: string])[] = [
    ['2026-11-22', '2026-11-22T00:00:00.000Z'],
    ['2026-11-22 15:00', '2026-11-22T15:00:00.000Z'],
    ['2026-11-22T15:00:30', '2026-11-22T15:00:30.000Z'],
    ['2026-11-22 15:00:30.25', '2026-11-22T15:00:30.250Z'],
    ['2026-11-22 15:00Z', '2026-11-22T15:00:00.000Z'],
    ['2026-11-22 15:00-03:00', '2026-11-22T18:00:00.000Z'],
  ];
  for (const [typed, time] of cases) {
    it(`${typed} is ${time}, wherever it is typed`, () => assert.equal(read(typed), time));
  }

  it('may be how long ago', () => {
    const now = clock.now().getTime();
    assert.equal(read('2h'), new Date(now - 2 * 3_600_000).toISOString());
  });

  for (const typed of ['yesterday', '2026-13-01', '2026-11-22 25:00', '15:00', '2x']) {
    it(`${typed} is none`, () => assert.throws(() => moment(typed), /It must be a time such as/));
  }
});
