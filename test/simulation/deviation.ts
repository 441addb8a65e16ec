/** A part of the service that is broken on purpose, to prove that an invariant detects it. */
import type { ClientOptions } from '../../contract/client/index.ts';
import type { Clock } from '../../src/clock.ts';
import type { Database } from '../../src/db/database.ts';
import type { JobTable } from '../../src/jobs/job.ts';
import type { Provider } from '../../src/provider/provider.ts';
import type { Apps } from './app/app-faults.ts';
import type { Policy } from './bank/policy.ts';
import type { SendOperation } from './sends.ts';
import type { FaultProfile } from './fault-profile.ts';
import type { Intake } from './webhooks.ts';

/** The replaced parts of the service. */
export interface Deviation {
  readonly db?: (db: Database) => Database;
  /** Wraps the provider's HTTP API, below time-outs and retries. */
  readonly wire?: (wire: Provider) => Provider;
  /** Wraps the provider that the operations use, above all other layers. */
  readonly provider?: (provider: Provider, clock: Clock) => Provider;
  readonly jobs?: JobTable;
  readonly intake?: Intake;
  readonly send?: SendOperation;
  /** Changes the client of the contract by which customers pay. */
  readonly app?: (options: ClientOptions) => ClientOptions;
  /** Faults with which few seeds detect the defect; otherwise each seed draws its faults. */
  readonly profile?: Partial<FaultProfile>;
  readonly policy?: Partial<Policy>;
  readonly apps?: Partial<Apps>;
  /** Whether there are dynamic codes to pay; by default in some seeds. */
  readonly codes?: true;
  /** Whether customers dispute payments; by default in some seeds. */
  readonly disputes?: true;
  /** Clients (`ana`) and their requests (`send ana/key-1`) that are left out of the history. */
  readonly leftOut?: ReadonlySet<string>;
}

export interface Mutation {
  /** The defect of the service. */
  readonly name: string;
  readonly deviation: Deviation;
}

/** Many payments and few faults: few look-ups show the defect. */
export const manyPayments: NonNullable<Deviation['profile']> = {
  burst: 20,
  attemptFaults: 0,
  deaths: 0,
  stops: 0,
  databaseFaults: 0,
  databaseWindows: 0,
  refusals: 0,
  lateCommits: 0,
  failovers: 0,
  freezes: 0,
  lostMessages: 0,
};
