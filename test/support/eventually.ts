/** Waiting for what other parties do, such as a loop or a server: no sleep, no guessed delay. */
import assert from 'node:assert/strict';

/** Longer than anything here takes on a busy machine; only a test that fails waits so long. */
const patienceMs = 60_000;

/**
 * Looks again and again, giving way to the event loop in between.
 *
 * @param look gives something truthy once what is waited for has come about.
 * @param what names it, for the failure.
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
