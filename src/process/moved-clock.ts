/**
 * The clock of `APP_ENV=local`, which a developer moves forward to meet what waits: a limit that
 * applies tomorrow, a charge that expires, a blocked login. It never goes back.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';

export interface MovedClock extends Clock {
  /**
   * Moves the time forward. Each timer that is then due fires at once.
   *
   * @param ms how far, in milliseconds; more than 0.
   * @returns the new time.
   */
  advance(ms: number): Date;
}

interface Timer {
  readonly dueMs: number;
  readonly work: () => void;
  cancel: () => void;
}

const fileOf = (dataDir: string): string => join(dataDir, 'clock.json');

/**
 * Opens the clock of a data folder, as far ahead as a developer has moved it: what is stored there
 * is dated by it.
 *
 * @param base the clock that it is ahead of; by default that of the computer.
 * @returns null outside `local`, where no clock can be moved.
 */
export function openMovedClock(
  { appEnv, dataDir }: Pick<Config, 'appEnv' | 'dataDir'>,
  base: Clock = systemClock,
): MovedClock | null {
  return appEnv === 'local' ? moved(dataDir, base) : null;
}

function moved(dataDir: string, base: Clock): MovedClock {
  let aheadMs = readAhead(dataDir);
  const timers = new Set<Timer>();
  const nowMs = (): number => base.now().getTime() + aheadMs;
  const start = (timer: Timer): void => {
    timer.cancel = base.after(timer.dueMs - nowMs(), () => {
      timers.delete(timer);
      timer.work();
    });
  };
  return {
    now: () => new Date(nowMs()),
    after(delayMs, work) {
      const timer: Timer = { dueMs: nowMs() + Math.max(0, delayMs), work, cancel: () => {} };
      timers.add(timer);
      start(timer);
      return () => {
        timers.delete(timer);
        timer.cancel();
      };
    },
    advance(ms) {
      mkdirSync(dataDir, { recursive: true });
      writeFileSync(fileOf(dataDir), JSON.stringify({ aheadMs: aheadMs + ms }));
      aheadMs += ms;
      for (const timer of [...timers].toSorted((one, other) => one.dueMs - other.dueMs)) {
        timer.cancel();
        start(timer);
      }
      return new Date(nowMs());
    },
  };
}

function readAhead(dataDir: string): number {
  try {
    const { aheadMs } = JSON.parse(readFileSync(fileOf(dataDir), 'utf8')) as { aheadMs: unknown };
    return typeof aheadMs === 'number' && aheadMs > 0 ? aheadMs : 0;
  } catch {
    return 0;
  }
}
