/** All that holds a history against what is true. */
import type { Ledger } from '../bank/ledger.ts';
import type { Policy } from '../bank/policy.ts';
import type { Hazards } from '../hazards.ts';
import type { Limits } from '../limits.ts';
import type { Sealer } from '../../../src/security/sealing.ts';
import type { Names } from '../names.ts';
import { mostClockSkewMs } from '../process-faults.ts';
import type { Scheduler } from '../scheduler.ts';
import type { Weather } from '../weather.ts';
import { Charges } from './charges.ts';
import { Evidence } from './evidence.ts';
import { Expiries } from './expiries.ts';
import { Receipts } from './receipts.ts';
import { Refunds } from './refunds.ts';
import { Truth } from './truth.ts';

export interface OracleOptions {
  readonly ledger: Ledger;
  readonly policy: Policy;
  readonly hazards: Hazards;
  readonly names: Names;
  readonly scheduler: Scheduler;
  readonly limits: Limits;
  readonly sealer: Sealer;
  /** The faults of the history, before they end. */
  readonly weather: Weather;
}

export class Oracle {
  readonly evidence: Evidence;
  readonly truth: Truth;
  readonly receipts: Receipts;
  readonly charges: Charges;
  readonly refunds: Refunds;
  readonly expiries: Expiries;

  constructor(options: OracleOptions) {
    const { ledger, policy, hazards, names, scheduler } = options;
    this.evidence = new Evidence({ ledger, policy, hazards, scheduler });
    const { evidence } = this;
    const { lost } = evidence;
    this.truth = new Truth({ ...options, evidence, clockSkewMs: mostClockSkewMs(options.weather) });
    const { accounts } = this.truth;
    const violated = (text: string): void => this.truth.violated(text);
    this.receipts = new Receipts({ ledger, names, scheduler, violated, lost });
    const { receipts } = this;
    this.refunds = new Refunds({ ledger, names, scheduler, violated, lost });
    this.expiries = new Expiries({ scheduler, lost });
    const { expiries } = this;
    this.charges = new Charges({
      ...{ ledger, names, scheduler, violated, receipts, expiries, accounts, lost },
    });
  }
}
