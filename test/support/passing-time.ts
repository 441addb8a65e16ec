/** Advances a manual clock until a slow operation ends: a hanging provider, a back-off. */
import type { ManualClock } from './clock.ts';
import { serverUrl } from './db.ts';
import { pauseAfter } from './eventually.ts';

/** More event-loop turns than a real round trip (HTTP, database) needs. */
const turnsOfRest = 50;

/** The least real time between two steps: a server or a thread may need more than our turns. */
const restMs = serverUrl === undefined ? 1 : 30;

/** Longer than any back-off. */
const stepMs = 1_000;

/** A time-out of one provider attempt that is too long for a real round trip to exceed. */
export const unhurriedTimeoutMs = 60_000;

/** Advances the clock in steps until the response arrives. */
export async function passUntil<T>(
  clock: ManualClock,
  response: Promise<T>,
  step = stepMs,
): Promise<T> {
  let isThere = false;
  let passedAt = performance.now();
  const noted = response.finally(() => (isThere = true));
  for (let turns = 1; !isThere; turns += 1) {
    if (turns >= turnsOfRest && performance.now() - passedAt >= restMs) {
      await clock.advance(step);
      turns = 0;
      passedAt = performance.now();
    }
    await pauseAfter(turns);
  }
  return noted;
}
