import type { Clock } from '../../src/clock.ts';
import { runZeroTimersAtNextTurn } from './zero-timers.ts';

runZeroTimersAtNextTurn();

/** A clock that moves only when a test moves it. */
export interface ManualClock extends Clock {
  /**
   * Moves the time on by `ms`. The timers that become due fire in order, each at its own time, and
   * so do those that they set; between two of them, what they set going may come to rest.
   */
  advance(ms: number): Promise<void>;
}

interface Timer {
  readonly dueMs: number;
  readonly work: () => void;
}

/** How many turns of the event loop work gets to come to rest: more than any chain here takes. */
const TURNS = 5;

/**
 * Makes a clock that does not move by itself.
 *
 * @param start what it shows at first.
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
  };
}

/** The earliest timer that is due by then; of two at the same time, the one that was set first. */
function nextDue(timers: ReadonlySet<Timer>, untilMs: number): Timer | null {
  let next: Timer | null = null;
  for (const timer of timers) {
    if (timer.dueMs <= untilMs && (next === null || timer.dueMs < next.dueMs)) next = timer;
  }
  return next;
}

async function comeToRest(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
