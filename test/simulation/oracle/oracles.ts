/** The oracles of a history, composed. */
import type { Ledger } from '../bank/ledger.ts';
import type { Policy } from '../bank/policy.ts';
import type { Hazards } from '../hazards.ts';
import type { Limits } from '../limits.ts';
import type { Sealer } from '../../../src/security/sealing.ts';
import type { Names } from '../names.ts';
import { maxClockSkewMs } from '../process-faults.ts';
import type { Scheduler } from '../scheduler.ts';
import type { FaultProfile } from '../fault-profile.ts';
import { Charges } from './charges.ts';
import { Disputes } from './disputes.ts';
import { Evidence } from './evidence.ts';
import { Expiries } from './expiries.ts';
import { Intents } from './intents.ts';
import { Receipts } from './receipts.ts';
import { Refunds } from './refunds.ts';
import { Oracle } from './oracle.ts';
import type { ReadRows } from './stored-disputes.ts';

export interface OraclesOptions {
  readonly ledger: Ledger;
  readonly policy: Policy;
  readonly hazards: Hazards;
  readonly names: Names;
  readonly scheduler: Scheduler;
  readonly limits: Limits;
  readonly sealer: Sealer;
  /** The faults of the history, before they end. */
  readonly profile: FaultProfile;
  /** Runs a statement of the simulation itself. */
  readonly rows: ReadRows;
}

export class Oracles {
  readonly evidence: Evidence;
  readonly oracle: Oracle;
  readonly receipts: Receipts;
  readonly charges: Charges;
  readonly refunds: Refunds;
  readonly expiries: Expiries;
  readonly intents: Intents;
  readonly disputes: Disputes;

  constructor(options: OraclesOptions) {
    const { ledger, policy, hazards, names, scheduler, profile } = options;
    this.evidence = new Evidence({ ledger, policy, hazards, scheduler });
    const { evidence } = this;
    const { lost } = evidence;
    const clockSkewMs = maxClockSkewMs(profile);
    this.oracle = new Oracle({ ...options, evidence, clockSkewMs });
    this.intents = new Intents({ oracle: this.oracle, scheduler, lost });
    const { accounts } = this.oracle;
    const violated = (text: string): void => this.oracle.violated(text);
    this.receipts = new Receipts({ ledger, names, scheduler, violated, lost });
    const { receipts } = this;
    const { returns } = this.oracle;
    this.refunds = new Refunds({ ledger, names, scheduler, violated, lost, returns });
    this.expiries = new Expiries({ scheduler, lost });
    const { expiries } = this;
    const keepsLeases = clockSkewMs === 0 && profile.freezes === 0;
    this.disputes = new Disputes({ ...options, evidence, keepsLeases, violated });
    this.charges = new Charges({
      ledger,
      names,
      scheduler,
      violated,
      receipts,
      expiries,
      accounts,
      lost,
    });
  }
}
