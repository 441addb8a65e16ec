/** Polls for the work of another party, such as a loop or a server, without a guessed delay. */
import assert from 'node:assert/strict';

/** Longer than any condition takes on a busy machine; only a failing test waits that long. */
const patienceMs = 60_000;

/** The turns of the event loop that work of this process needs. */
const turnsOfWork = 50;

/** Until the next look: a turn, and later a millisecond, in which another party can work. */
export function pauseAfter(looks: number): Promise<void> {
  return new Promise((resolve) => {
    if (looks < turnsOfWork) setImmediate(resolve);
    else setTimeout(resolve, 1);
  });
}

/**
 * Polls a condition.
 *
 * @param look returns a truthy value as soon as the condition holds.
 * @param what describes the condition in the error message.
 * @throws AssertionError after a minute.
 */
export async function eventually<T>(
  look: () => T | Promise<T>,
  what: string,
): Promise<NonNullable<T>> {
  const deadline = performance.now() + patienceMs;
  for (let looks = 0; ; looks += 1) {
    const seen = await look();
    if (seen) return seen;
    assert(performance.now() < deadline, `waited in vain for ${what}`);
    await pauseAfter(looks);
  }
}
