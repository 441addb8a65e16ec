/**
 * Loaded into the fuzzed service (`--import`): reports the longest time that work blocked its event
 * loop, and the size of its heap after a collection.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const tickMs = 2;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

let cpu = process.threadCpuUsage();
let at = performance.now();
let maxMs = 0;

/** Counts at most the thread's CPU time: other processes may have used the processor. */
function measure() {
  const { user, system } = process.threadCpuUsage(cpu);
  const wallMs = performance.now() - at;
  maxMs = Math.max(maxMs, Math.min(wallMs, (user + system) / 1_000));
  cpu = process.threadCpuUsage();
  at = performance.now();
}

setInterval(measure, tickMs).unref();

process.on('message', (message) => {
  if (message === 'reset') {
    measure();
    maxMs = 0;
  }
  if (message === 'read') {
    measure();
    process.send?.({ maxMs });
  }
  if (message === 'heap') {
    for (let run = 0; run < 3; run += 1) collect();
    process.send?.({ heapMb: process.memoryUsage().heapUsed / 2 ** 20 });
  }
});
process.once('disconnect', () => process.exit());
process.channel?.unref();
