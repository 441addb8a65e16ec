/** Polls for the work of another party, such as a loop or a server, without a guessed delay. */
import assert from 'node:assert/strict';

/** Longer than any condition takes on a busy machine; only a failing test waits that long. */
const patienceMs = 60_000;

/**
 * Polls a condition, once in each turn of the event loop.
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
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    assert(performance.now() < deadline, `waited in vain for ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
