import type { Clock } from '../../src/clock.ts';
import { runZeroTimersAtNextTurn } from './zero-timers.ts';

runZeroTimersAtNextTurn();

/** A clock that moves only when a test moves it. */
export interface ManualClock extends Clock {
  /**
   * Advances the time by `ms`. The timers that become due fire in order, each at its own time,
   * timers set by them included. Before the next timer, pending work gets some event-loop turns.
   */
  advance(ms: number): Promise<void>;
  /**
   * Advances the time at once, as for a process that was suspended: each timer that has become due
   * fires once. Two loops that look every five seconds look once each, not 720 times an hour.
   */
  skip(ms: number): Promise<void>;
  /** Advances the time to the next timer, and fires it; without a timer, nothing happens. */
  advanceToNext(): Promise<void>;
}

interface Timer {
  readonly dueMs: number;
  readonly work: () => void;
}

/** The event-loop turns that pending work gets: more than any chain of promises here needs. */
const turns = 5;

/**
 * Creates a clock that moves only by `advance`.
 *
 * @param start the initial time.
 */
export function manualClock(start: Date = new Date('2026-05-24T12:00:00.000Z')): ManualClock {
  let nowMs = start.getTime();
  const timers = new Set<Timer>();
  return {
    now: () => new Date(nowMs),
    after(delayMs, work) {
      const timer = { dueMs: nowMs + Math.max(0, delayMs), work };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    async advance(ms) {
      const untilMs = nowMs + ms;
      await comeToRest();
      for (let timer = nextDue(timers, untilMs); timer; timer = nextDue(timers, untilMs)) {
        timers.delete(timer);
        nowMs = Math.max(nowMs, timer.dueMs);
        timer.work();
        await comeToRest();
      }
      nowMs = Math.max(nowMs, untilMs);
    },
    async skip(ms) {
      await comeToRest();
      nowMs += ms;
      await this.advance(0);
    },
    async advanceToNext() {
      const next = nextDue(timers, Infinity);
      if (next) await this.advance(Math.max(0, next.dueMs - nowMs));
    },
  };
}

/** The earliest timer due by `untilMs`; of two at the same time, the one that was set first. */
function nextDue(timers: ReadonlySet<Timer>, untilMs: number): Timer | null {
  let next: Timer | null = null;
  for (const timer of timers) {
    if (timer.dueMs <= untilMs && (next === null || timer.dueMs < next.dueMs)) next = timer;
  }
  return next;
}

async function comeToRest(): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
