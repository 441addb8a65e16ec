/** The only code that reads the time or sets timers, so that tests can replace the clock. */

import { MessageChannel } from 'node:worker_threads';

/** 24 hours; a calendar day may differ. */
export const dayMs = 24 * 60 * 60_000;

export interface Clock {
  now(): Date;
  /**
   * Calls `work` once after `delayMs`. The timer does not keep the process alive.
   * @returns a function that cancels it.
   */
  after(delayMs: number, work: () => void): () => void;
}

/** Calls `work` in the next turn of the event loop, after pending socket events. */
export function inNextTurn(work: () => void): void {
  setImmediate(work);
}

/** Resolves in the next turn. */
export function nextTurn(): Promise<void> {
  return new Promise(inNextTurn);
}

/**
 * A time limit in real time, for one thing after another. To restart it costs far less than a new
 * timer. It does not keep the process alive.
 * @returns a function that starts it, again if it runs: `late` is called once at its end.
 */
export function restartable(limitMs: number, late: () => void): () => void {
  let timer: NodeJS.Timeout | null = null;
  return () => {
    if (timer === null) timer = setTimeout(late, limitMs).unref();
    else timer.refresh();
  };
}

/** Waits `delayMs` on a clock, or less when the signal aborts; it never rejects. */
export function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = (): void => {
      cancel();
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const cancel = clock.after(delayMs, finish);
    signal?.addEventListener('abort', finish, { once: true });
  });
}

export const systemClock: Clock = {
  now: () => new Date(),
  after(delayMs, work) {
    const timer = setTimeout(work, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Keeps the process from ending while work waits on a clock, whose timers keep nothing alive. */
export async function keepAlive<Result>(work: () => Promise<Result>): Promise<Result> {
  const { port1: port } = new MessageChannel();
  port.ref();
  try {
    return await work();
  } finally {
    port.close();
  }
}
