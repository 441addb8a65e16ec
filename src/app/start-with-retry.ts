/** Retries a start while the database is unavailable, for example during a restart. */
import { pause, systemClock } from '../clock.ts';
import type { AppOptions } from './compose.ts';
import type { Config } from '../config/config.ts';
import { isDatabaseAway } from '../db/unavailable.ts';
import { createLog } from '../telemetry/log.ts';
import { errorParts, startFailure } from '../operator/failure-message.ts';

/** How long a start waits for the database. */
const maxWaitMs = 60_000;

const firstPauseMs = 250;
const maxPauseMs = 5_000;

/** How often a waiting start logs a warning. */
const remindMs = 10_000;

/**
 * Runs a start, and repeats it for up to a minute while the database is unavailable. Whatever a
 * failed attempt has opened is closed.
 * @param work one attempt; it receives the options with the log that this function writes to.
 * @throws Error the error of an attempt: at once unless the database is unavailable.
 */
export async function startWithRetry<Started>(
  config: Config,
  options: AppOptions,
  work: (options: AppOptions, parts: AsyncDisposableStack) => Promise<Started>,
): Promise<Started> {
  const { clock = systemClock, cancelled } = options;
  const log =
    options.log ??
    createLog({ level: config.logLevel, pretty: process.stdout.isTTY, clock: systemClock });
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
      const leftMs = beganMs + maxWaitMs - nowMs;
      const isAway = config.databaseUrl !== undefined && errorParts(error).some(isDatabaseAway);
      if (!isAway || leftMs <= 0 || cancelled?.aborted) throw error;
      if (nowMs >= remindAtMs) {
        remindAtMs = nowMs + remindMs;
        const facts = { reason: startFailure(error, config.databaseUrl), error };
        log.warn(
          { ...facts, leftSeconds: Math.ceil(leftMs / 1_000) },
          'the start waits for the database',
        );
      }
      await pause(clock, Math.min(pauseMs, leftMs), cancelled);
      if (cancelled?.aborted) throw error;
      pauseMs = Math.min(2 * pauseMs, maxPauseMs);
    }
  }
}
