/** A start waits for a database that is away, as it is while a server restarts or is full. */
import { pause, systemClock } from './clock.ts';
import type { AppOptions } from './compose.ts';
import type { Config } from './config/config.ts';
import { isDatabaseAway } from './db/unavailable.ts';
import { createLog } from './log.ts';
import { errorParts, startFailure } from './operator/failure-message.ts';

/** How long a start waits for the database. */
const longestWaitMs = 60_000;

const firstPauseMs = 250;
const longestPauseMs = 5_000;

/** How often a start that waits says so. */
const remindMs = 10_000;

/**
 * Starts something on the configured database, again and again while the database is away, for up
 * to a minute. What an attempt that fails has opened is closed.
 * @param work one attempt; it gets the options with the log that this function writes to.
 * @throws Error what an attempt threw: at once unless it says that the database is away.
 */
export async function startPatiently<Started>(
  config: Config,
  options: AppOptions,
  work: (options: AppOptions, parts: AsyncDisposableStack) => Promise<Started>,
): Promise<Started> {
  const { clock = systemClock, unwanted } = options;
  const log = options.log ?? createLog({ level: config.logLevel, pretty: process.stdout.isTTY });
  const beganMs = clock.now().getTime();
  let pauseMs = firstPauseMs;
  let remindAtMs = beganMs;
  for (;;) {
    const parts = new AsyncDisposableStack();
    try {
      return await work({ ...options, log }, parts);
    } catch (error) {
      await parts.disposeAsync();
      const nowMs = clock.now().getTime();
      const leftMs = beganMs + longestWaitMs - nowMs;
      const isAway = config.databaseUrl !== undefined && errorParts(error).some(isDatabaseAway);
      if (!isAway || leftMs <= 0 || unwanted?.aborted) throw error;
      if (nowMs >= remindAtMs) {
        remindAtMs = nowMs + remindMs;
        const facts = { reason: startFailure(error, config.databaseUrl), error };
        log.warn(
          { ...facts, leftSeconds: Math.ceil(leftMs / 1_000) },
          'the start waits for the database',
        );
      }
      await pause(clock, Math.min(pauseMs, leftMs), unwanted);
      if (unwanted?.aborted) throw error;
      pauseMs = Math.min(2 * pauseMs, longestPauseMs);
    }
  }
}
