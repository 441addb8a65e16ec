/**
 * Turns of the event loop without the event loop: a turn of Node's own also asks the operating
 * system for input, which took a tenth of the time of a simulation.
 */

/** The callbacks that wait for a turn, in order. */
const waiting: (() => void)[] = [];

const setMachineImmediate = globalThis.setImmediate;

/** Runs the ticks and microtasks that are due, as Node does after each callback of its loop. */
const runTicks = Reflect.get(process, '_tickCallback') as () => void;

/** After so many callbacks the event loop has a turn: messages and signals arrive in time. */
const callbacksAtOnce = 1_000;

let isScheduled = false;

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setMachineImmediate(runWaiting);
}

function runWaiting(): void {
  try {
    for (let left = callbacksAtOnce; left > 0; left -= 1) {
      const work = waiting.shift();
      if (!work) return;
      work();
      runTicks();
    }
  } finally {
    isScheduled = false;
    if (waiting.length > 0) schedule();
  }
}

function setImmediateInProcess(work: (...values: unknown[]) => void, ...values: unknown[]): object {
  waiting.push(() => work(...values));
  schedule();
  return {};
}

/** Replaces `setImmediate`: callbacks run in the same order, with their ticks and microtasks. */
export function takeTurnsInProcess(): void {
  globalThis.setImmediate = Object.assign(setImmediateInProcess, setMachineImmediate) as never;
}

/** Whether a callback waits for a turn. */
export function awaitsTurn(): boolean {
  return waiting.length > 0;
}
