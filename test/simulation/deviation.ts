/** A part of the service that was broken on purpose, to see that the invariants notice. */
import type { Clock } from '../../src/clock.ts';
import type { Database } from '../../src/db/database.ts';
import type { JobTable } from '../../src/jobs/job.ts';
import type { Provider } from '../../src/provider/provider.ts';
import type { Policy } from './bank/policy.ts';
import type { SendOperation } from './clients.ts';
import type { FaultProfile } from './fault-profile.ts';
import type { Intake } from './webhooks.ts';

/** What is different from the service as it is. */
export interface Deviation {
  readonly db?: (db: Database) => Database;
  /** Around the provider's HTTP API, below time-outs and retries. */
  readonly wire?: (wire: Provider) => Provider;
  /** Around what the operations have, above all else. */
  readonly provider?: (provider: Provider, clock: Clock) => Provider;
  readonly jobs?: JobTable;
  readonly intake?: Intake;
  readonly send?: SendOperation;
  /** Trouble in which the difference shows soon; otherwise each seed brings its own. */
  readonly profile?: Partial<FaultProfile>;
  readonly policy?: Partial<Policy>;
  /** Clients (`ana`) and what they want (`send ana/key-1`) that are left out of the history. */
  readonly leftOut?: ReadonlySet<string>;
}

export interface Mutation {
  /** What is wrong with the service now. */
  readonly name: string;
  readonly deviation: Deviation;
  /** The seed to begin with, where few seeds notice it. */
  readonly firstSeed?: number;
}
