/** The one place that reads the time. Tests own it; nothing else may call `Date.now` or a timer. */

/** 24 hours; a day of a calendar may have another length. */
export const dayMs = 24 * 60 * 60_000;

export interface Clock {
  now(): Date;
  /** Calls `work` once after `delayMs`; returns what takes it back. It keeps no process alive. */
  after(delayMs: number, work: () => void): () => void;
}

/** Lets the event loop turn once: what has come over sockets is read before it goes on. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
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
