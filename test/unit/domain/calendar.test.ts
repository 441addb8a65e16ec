import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { dayRange, type DayError, type DayRange } from '../../../src/domain/calendar.ts';

const fixedNow = new Date('2026-07-15T15:00:00Z');

function range(start: string | undefined, end: string | undefined, now = fixedNow): DayRange {
  const result = dayRange(start, end, now);
  assert.ok(!('errors' in result), JSON.stringify(result));
  return result;
}

function errors(start: string | undefined, end: string | undefined): readonly DayError[] {
  const result = dayRange(start, end, fixedNow);
  assert.ok('errors' in result, JSON.stringify(result));
  return result.errors;
}

function instants({ fromInclusive, toExclusive }: DayRange): string[] {
  return [fromInclusive.toISOString(), toExclusive.toISOString()];
}

describe('dayRange', () => {
  it('includes both days, from midnight to midnight in São Paulo', () => {
    const days = range('2026-03-01', '2026-03-31');
    assert.deepEqual(instants(days), ['2026-03-01T03:00:00.000Z', '2026-04-01T03:00:00.000Z']);
    assert.deepEqual([days.start, days.end], ['2026-03-01', '2026-03-31']);
  });

  it('defaults to today and the 29 days before it', () => {
    const days = range(undefined, undefined);
    assert.deepEqual([days.start, days.end], ['2026-06-16', '2026-07-15']);
    assert.equal(days.toExclusive.getTime() - days.fromInclusive.getTime(), 30 * 86_400_000);
  });

  it('takes today from São Paulo, not from UTC', () => {
    const before = range(undefined, undefined, new Date('2026-07-16T02:59:59.999Z'));
    const after = range(undefined, undefined, new Date('2026-07-16T03:00:00.000Z'));
    assert.deepEqual([before.end, after.end], ['2026-07-15', '2026-07-16']);
  });

  it('takes the 30 days that end at an end given alone', () => {
    assert.equal(range(undefined, '2026-03-10').start, '2026-02-09');
  });

  it('runs to today from a start given alone', () => {
    assert.equal(range('2026-01-01', undefined).end, '2026-07-15');
  });

  it('accepts one day, a day of today, and an end in the future', () => {
    assert.equal(range('2026-07-15', '2026-07-15').start, '2026-07-15');
    assert.equal(range('2026-07-15', '2026-12-31').end, '2026-12-31');
  });

  it('begins a day at 01:00 where daylight saving began at midnight', () => {
    assert.deepEqual(instants(range('2018-11-04', '2018-11-04')), [
      '2018-11-04T03:00:00.000Z',
      '2018-11-05T02:00:00.000Z',
    ]);
  });

  it('counts 25 hours for the day on which daylight saving ended', () => {
    assert.deepEqual(instants(range('2018-02-17', '2018-02-17')), [
      '2018-02-17T02:00:00.000Z',
      '2018-02-18T03:00:00.000Z',
    ]);
  });

  it('accepts 366 days and refuses 367', () => {
    range('2024-01-01', '2024-12-31');
    range('2025-01-01', '2026-01-01');
    assert.deepEqual(errors('2025-01-01', '2026-01-02'), [
      { field: 'start_date', rule: 'too_long' },
    ]);
  });

  it('refuses a start after the end, also after the default end', () => {
    const error = [{ field: 'start_date', rule: 'after_end' }];
    assert.deepEqual(errors('2026-03-02', '2026-03-01'), error);
    assert.deepEqual(errors('2026-07-16', undefined), error);
  });

  for (const text of [
    '2026-02-30',
    '2025-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-4-1',
    '20260401',
    '2026-04-01T00:00:00Z',
    '2026-04-01[u-ca=hebrew]',
    '+002026-04-01',
    '2026-04-01\n',
    '',
  ]) {
    it(`refuses the date ${JSON.stringify(text)} and names its field`, () => {
      assert.deepEqual(errors(text, undefined), [{ field: 'start_date', rule: 'invalid_date' }]);
      assert.deepEqual(errors(undefined, text), [{ field: 'end_date', rule: 'invalid_date' }]);
      assert.deepEqual(errors(text, '2026-04-01'), [{ field: 'start_date', rule: 'invalid_date' }]);
    });
  }

  it('refuses the years before 1970 and after 2100 by a rule of its own', () => {
    for (const text of ['0000-01-01', '1969-12-31', '2101-01-01', '9999-12-31']) {
      assert.deepEqual(errors(undefined, text), [{ field: 'end_date', rule: 'out_of_range' }]);
      assert.deepEqual(errors(text, text), [
        { field: 'start_date', rule: 'out_of_range' },
        { field: 'end_date', rule: 'out_of_range' },
      ]);
    }
    range('1970-01-01', '1970-01-01');
    range('2100-12-31', '2100-12-31');
    range(undefined, '1970-01-01');
  });

  it('names both fields when neither date exists', () => {
    assert.deepEqual(errors('2026-02-30', '2026-04-31'), [
      { field: 'start_date', rule: 'invalid_date' },
      { field: 'end_date', rule: 'invalid_date' },
    ]);
  });

  it('leaves neither a gap nor an overlap between one day and the next', () => {
    const day = fc.date({
      min: new Date('1985-01-01'),
      max: new Date('2030-01-01'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(day, (date) => {
        const today = date.toISOString().slice(0, 10);
        const next = new Date(date.getTime() + 86_400_000).toISOString().slice(0, 10);
        assert.deepEqual(range(today, today).toExclusive, range(next, next).fromInclusive);
      }),
    );
  });
});
