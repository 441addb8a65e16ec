const setMachineTimer = globalThis.setTimeout;

/** Longer than what a test waits for on the machine's clock, in milliseconds. */
const longMs = 1000;

function setTimer(work: () => void, delayMs = 0, ...values: []): unknown {
  if (delayMs === 0) return setImmediate(work);
  const timer = setMachineTimer(work, delayMs, ...values);
  return delayMs > longMs ? timer.unref() : timer;
}

/**
 * Makes timers of zero milliseconds end at the next turn of the event loop. cockatiel's retry
 * policy sets one before each further attempt, on the machine's clock; a test that owns the clock
 * could not wait for it.
 *
 * A long timer does not keep the process alive: the embedded database leaves the one of its
 * `statement_timeout` behind when it is closed.
 */
export function runZeroTimersAtNextTurn(): void {
  globalThis.setTimeout = Object.assign(setTimer, setMachineTimer);
}
