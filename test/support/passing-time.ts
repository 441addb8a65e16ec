/** Waiting on a clock of one's own for what takes time: hanging providers, back-offs. */
import type { ManualClock } from './clock.ts';
import { serverUrl } from './db.ts';

/** More turns of the event loop than what really travels needs to get anywhere and back. */
const turnsOfRest = 50;

/** And no faster than this: a server or a thread that answers does not count our turns. */
const restMs = serverUrl === undefined ? 1 : 30;

/** Longer than any back-off. */
const stepMs = 1_000;

/** A time-out of one attempt at the provider that what really travels does not run into. */
export const unhurriedTimeoutMs = 60_000;

/** Lets the time pass in steps until an answer has come. */
export async function passUntil<T>(clock: ManualClock, answer: Promise<T>): Promise<T> {
  let isThere = false;
  let passedAt = performance.now();
  const noted = answer.finally(() => (isThere = true));
  for (let turns = 1; !isThere; turns += 1) {
    if (turns >= turnsOfRest && performance.now() - passedAt >= restMs) {
      await clock.advance(stepMs);
      turns = 0;
      passedAt = performance.now();
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  return noted;
}
