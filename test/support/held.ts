/** Measures how long synchronous work blocks the event loop, on a machine with other load. */

/** Coverage counts every executed block, which makes loops over a body several times slower. */
const measuresCoverage = process.env['NODE_V8_COVERAGE'] !== undefined;

/** The longest that any request may block the event loop, in milliseconds. */
export const maxHeldMs = measuresCoverage ? 200 : 20;

const runs = 12;

/** If the best run exceeds the limit by this factor, noise is not the cause: no further run. */
const hopeless = 15;

/**
 * Runs the work until one run is under the limit, at most `RUNS` times.
 * @returns the milliseconds of the best run. A run over the limit counts with the CPU time of this
 *   thread, if that is less: other processes may have used the CPU in the meantime.
 */
export function heldMs(work: () => void): number {
  let best = Infinity;
  for (let run = 0; run < runs && best >= maxHeldMs; run += 1) {
    const cpu = process.threadCpuUsage();
    const start = performance.now();
    work();
    const wallMs = performance.now() - start;
    const { user, system } = process.threadCpuUsage(cpu);
    const ms = wallMs < maxHeldMs ? wallMs : Math.min(wallMs, (user + system) / 1_000);
    best = Math.min(best, ms);
    if (best > hopeless * maxHeldMs) break;
  }
  return best;
}
