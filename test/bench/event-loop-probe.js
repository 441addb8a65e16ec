/**
 * Loaded before a server that is measured (`--import`), in its process: tells the longest time that
 * its event loop was held up, when it is asked to through the channel to its parent.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const resolutionMs = 5;
const delay = monitorEventLoopDelay({ resolution: resolutionMs });
delay.enable();

process.on('message', (message) => {
  if (message === 'reset') delay.reset();
  // What is recorded is the time between two ticks; the tick itself is not a delay.
  if (message === 'read') process.send?.({ maxMs: Math.max(0, delay.max / 1e6 - resolutionMs) });
});
// A benchmark that was killed leaves no server behind.
process.once('disconnect', () => process.exit());
process.channel?.unref();
