const setMachineTimer = globalThis.setTimeout;

/** Longer than any wait of a test on the machine's clock, in milliseconds. */
const longMs = 1000;

function setTimer(work: () => void, delayMs = 0, ...values: []): unknown {
  if (delayMs === 0) return setImmediate(work);
  const timer = setMachineTimer(work, delayMs, ...values);
  return delayMs > longMs ? timer.unref() : timer;
}

/**
 * Makes timers of zero milliseconds fire at the next turn of the event loop. cockatiel's retry
 * policy sets such a timer on the machine's clock before each retry, and a test with a manual clock
 * could not wait for it.
 *
 * Long timers no longer keep the process alive: the embedded database leaves the timer of its
 * `statement_timeout` running when it is closed.
 */
export function runZeroTimersAtNextTurn(): void {
  globalThis.setTimeout = Object.assign(setTimer, setMachineTimer);
}
