/**
 * What an operation, a job and a command have at hand. It is made once, by `compose.ts` or, where
 * no provider is needed, by `local.ts`, and passed down; nothing is shared by import.
 */
import type { Clock } from './clock.ts';
import type { Config } from './config/config.ts';
import type { Database } from './db/database.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Provider } from './provider/provider.ts';
import type { AccessTokens } from './auth/access-tokens.ts';
import type { Passwords } from './auth/passwords.ts';
import type { Sealer } from './security/sealing.ts';
import type { JobHandOver } from './jobs/queue.ts';
import type { LargeEvents } from './settlement/large-events.ts';
import type { UnstoredOutcomes } from './pix/unstored-outcomes.ts';
import type { UploadSlots } from './onboarding/upload-slots.ts';
import type { UsedUpWindows } from './auth/used-up-windows.ts';

/** What needs no provider has at hand; a command that has none cannot call one by mistake. */
export interface LocalContext {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly db: Database;
  readonly accessTokens: AccessTokens;
  readonly passwords: Passwords;
  readonly sealer: Sealer;
  /** What this process knows of limits that are used up. */
  readonly usedUp: UsedUpWindows;
  /** Aborts when the service begins to stop: nobody waits on from then. */
  readonly stopping: AbortSignal;
}

export interface Context extends LocalContext {
  readonly provider: Provider;
  readonly uploads: UploadSlots;
  /** What this process knows of payments and the database has not stored. */
  readonly outcomes: UnstoredOutcomes;
  /** The job loop of this process, if it has one. */
  readonly jobs: JobHandOver;
  /** The places of this process for events with very many items. */
  readonly largeEvents: LargeEvents;
  /** The configured port; once the service listens, the one that `PORT=0` has come to. */
  readonly listening: { port: number };
}
