/**
 * Loaded into the process of a measured server (`--import`): reports the longest delay of its event
 * loop, on request through the channel to its parent.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const resolutionMs = 5;
const delay = monitorEventLoopDelay({ resolution: resolutionMs });
delay.enable();

process.on('message', (message) => {
  if (message === 'reset') delay.reset();
  // `delay` records the time between two ticks: subtract the regular interval.
  if (message === 'read') process.send?.({ maxMs: Math.max(0, delay.max / 1e6 - resolutionMs) });
});
// A killed benchmark must not leave a server running.
process.once('disconnect', () => process.exit());
process.channel?.unref();
