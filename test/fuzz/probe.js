/**
 * Loaded into the service that is fuzzed (`--import`): tells the longest stretch of work that held
 * its event loop, and what its heap holds once it is collected.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const tickMs = 2;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

let cpu = process.threadCpuUsage();
let at = performance.now();
let longestMs = 0;

/** A stretch counts with the thread's time on the processor: others may have had the processor. */
function look() {
  const { user, system } = process.threadCpuUsage(cpu);
  const wallMs = performance.now() - at;
  longestMs = Math.max(longestMs, Math.min(wallMs, (user + system) / 1_000));
  cpu = process.threadCpuUsage();
  at = performance.now();
}

setInterval(look, tickMs).unref();

process.on('message', (message) => {
  if (message === 'reset') {
    look();
    longestMs = 0;
  }
  if (message === 'read') {
    look();
    process.send?.({ maxMs: longestMs });
  }
  if (message === 'heap') {
    for (let run = 0; run < 3; run += 1) collect();
    process.send?.({ heapMb: process.memoryUsage().heapUsed / 2 ** 20 });
  }
});
process.once('disconnect', () => process.exit());
process.channel?.unref();
