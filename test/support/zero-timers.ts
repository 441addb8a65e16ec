const setMachineTimer = globalThis.setTimeout;

function setTimer(work: () => void, delayMs?: number, ...values: []): unknown {
  return delayMs === 0 ? setImmediate(work) : setMachineTimer(work, delayMs, ...values);
}

/**
 * Makes timers of zero milliseconds end at the next turn of the event loop. cockatiel's retry
 * policy sets one before each further attempt, on the machine's clock; a test that owns the clock
 * could not wait for it.
 */
export function runZeroTimersAtNextTurn(): void {
  globalThis.setTimeout = Object.assign(setTimer, setMachineTimer);
}
