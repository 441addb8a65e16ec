/** Measures how long synchronous work blocks the event loop, on a machine with other load. */

/** Coverage counts every executed block, which makes loops over a body several times slower. */
const measuresCoverage = process.env['NODE_V8_COVERAGE'] !== undefined;

/** The longest that any request may block the event loop, in milliseconds. */
export const maxHeldMs = measuresCoverage ? 200 : 20;

const runs = 12;

/** If the best run exceeds the limit by this factor, noise is not the cause: no further run. */
const hopeless = 15;

/**
 * Runs the work until one run is under the limit, at most {@link runs} times.
 * @returns the milliseconds of the best run. A run over the limit counts with the CPU time of this
 *   thread, if that is less: other processes may have used the CPU in the meantime. It counts less
 *   if the machine is slower at that moment than the one on which the limit was set.
 */
export function heldMs(work: () => void): number {
  let best = Infinity;
  for (let run = 0; run < runs && best >= maxHeldMs; run += 1) {
    const { wallMs, cpuMs } = measure(work);
    best = Math.min(best, wallMs < maxHeldMs ? wallMs : Math.min(wallMs, cpuMs) / slowness());
    if (best > hopeless * maxHeldMs) break;
  }
  return best;
}

function measure(work: () => void): { readonly wallMs: number; readonly cpuMs: number } {
  const cpu = process.threadCpuUsage();
  const start = performance.now();
  work();
  const wallMs = performance.now() - start;
  const { user, system } = process.threadCpuUsage(cpu);
  return { wallMs, cpuMs: (user + system) / 1_000 };
}

/** A text whose parsing takes so many milliseconds where the limit was set. */
const known = { text: JSON.stringify(Array.from({ length: 20_000 }, (_, n) => ({ n }))), ms: 4 };

/** How much slower than that machine this one is now: 1 to 4. */
function slowness(): number {
  const parse = () => measure(() => void JSON.parse(known.text)).wallMs;
  return Math.min(4, Math.max(1, Math.min(parse(), parse()) / known.ms));
}
