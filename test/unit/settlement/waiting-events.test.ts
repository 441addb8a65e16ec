import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pauseAfter } from '../../../src/settlement/waiting-events.ts';

const minuteMs = 60_000;

const pauses = [
  ['an event that came during the look', { waitedMs: -5 }, 1_000],
  ['a young event', { waitedMs: 10_000 }, 1_000],
  ['an event of two minutes', { waitedMs: 2 * minuteMs }, 2_000],
  ['an event of a day', { waitedMs: 24 * 60 * minuteMs }, 15_000],
  ['a young event, after a slow look', { waitedMs: 0, tookMs: 100 }, 2_000],
  ['a young event, after the clock was set', { waitedMs: 0, tookMs: minuteMs }, 5_000],
  ['an event of a day, after a slow look', { waitedMs: 24 * 60 * minuteMs, tookMs: 100 }, 15_000],
  ['a part of the events', { waitedMs: 24 * 60 * minuteMs, tookMs: 3, isPart: true }, 60],
  ['a part, after a slow look', { waitedMs: 0, tookMs: minuteMs, isPart: true }, 5_000],
] as const;

for (const [title, look, pauseMs] of pauses) {
  test(`the pause for ${title}: ${pauseMs} ms`, () => {
    assert.equal(pauseAfter({ tookMs: 0, isPart: false, ...look }), pauseMs);
  });
}
