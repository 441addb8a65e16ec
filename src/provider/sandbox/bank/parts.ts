/** What the parts of the bank share. */
import type { Clock } from '../../../clock.ts';
import type { Accounts } from './accounts.ts';
import type { State } from './state.ts';
import type { Webhooks } from './webhooks.ts';

export interface BankParts {
  readonly state: State;
  readonly accounts: Accounts;
  readonly webhooks: Webhooks;
  readonly clock: Clock;
  /** The bank's identifier (ISPB): its end-to-end ids and return ids begin with it. */
  readonly ispb: string;
  /**
   * Milliseconds from a payment to its webhook. 0: nothing happens by itself, and no charge is
   * reported as expired.
   */
  readonly settleMs: number;
}
