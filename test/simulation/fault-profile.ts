/** The fault profile of a seed: how often each kind of fault occurs. */
import type { Chance } from './chance.ts';
import type { Order } from './scheduler.ts';

/** Probabilities from 0 to 1, except where a comment gives a unit. */
export interface FaultProfile {
  /** A process is killed before one of its steps. */
  readonly deaths: number;
  /** A process is stopped gracefully before one of its steps. */
  readonly stops: number;
  /** A statement to the database fails, before or after its execution. */
  readonly databaseFaults: number;
  /** An attempt of a call to the bank fails. */
  readonly attemptFaults: number;
  /** The next timer fires although steps are waiting. */
  readonly stalls: number;
  readonly order: Order;
  /** A request of the app or its response is lost. */
  readonly lostMessages: number;
  /** The app sends a second request concurrently. */
  readonly impatience: number;
  /** A notice of the bank is posted again, in the same or another form. */
  readonly repeatedNotices: number;
  /** A notice of the bank is never posted. */
  readonly lostNotices: number;
  /** The longest delay of a notice, in milliseconds. */
  readonly slowestNoticeMs: number;
  /** How long an executed payment is missing from the bank's statement, in milliseconds. */
  readonly statementLagMs: number;
  /** A forged event contradicts a settled transaction. */
  readonly contradictions: number;
  /** A forged event whose amount or ids match no payment arrives in a step. */
  readonly mismatches: number;
  /** A notification of the database is lost. */
  readonly lostNotifications: number;
  /** The app logs in again without a reason. */
  readonly renewals: number;
  /** A step begins an outage, a read-only window or a full disk of the database. */
  readonly databaseWindows: number;
  /** The database refuses a statement with an SQLSTATE. */
  readonly refusals: number;
  /** A statement is executed after the process has stopped waiting for it. */
  readonly lateCommits: number;
  /** A step begins a failover that loses the newest commits; at most one in a history. */
  readonly failovers: number;
  /** The largest clock skew of a process, in milliseconds. */
  readonly clockSkewMs: number;
  /** The clock of a process jumps before one of its steps. */
  readonly clockJumps: number;
  /** A process is frozen before one of its steps. */
  readonly freezes: number;
  /** The most payments that a user requests concurrently; 0: a few. */
  readonly burst: number;
}

export const noFaults: FaultProfile = {
  deaths: 0,
  stops: 0,
  databaseFaults: 0,
  attemptFaults: 0,
  stalls: 0,
  order: 'any',
  lostMessages: 0,
  impatience: 0,
  repeatedNotices: 0,
  lostNotices: 0,
  slowestNoticeMs: 1_000,
  statementLagMs: 0,
  contradictions: 0,
  mismatches: 0,
  lostNotifications: 0,
  renewals: 0,
  databaseWindows: 0,
  refusals: 0,
  lateCommits: 0,
  failovers: 0,
  clockSkewMs: 0,
  clockJumps: 0,
  freezes: 0,
  burst: 0,
};

/**
 * Draws the fault profile of a seed. Each fault is absent in many seeds and frequent in some: with
 * all faults at once, few payments get far enough to meet the next fault.
 */
export function drawFaultProfile(chance: Chance): FaultProfile {
  const some = (...levels: [number, ...number[]]): number => chance.pick(levels);
  return {
    deaths: some(0, 0, 0.005, 0.02, 0.05),
    stops: some(0, 0, 0.005),
    databaseFaults: some(0, 0, 0, 0.02, 0.05),
    attemptFaults: some(0, 0.2, 0.5, 0.8),
    stalls: some(0, 0.01, 0.05, 0.15),
    order: chance.pick(['any', 'any', 'oldest', 'newest']),
    lostMessages: some(0, 0.1, 0.3),
    impatience: some(0, 0.3, 0.7),
    repeatedNotices: some(0, 0.3, 0.8),
    lostNotices: some(0, 0, 0.3),
    slowestNoticeMs: some(50, 5_000, 180_000),
    statementLagMs: some(0, 0, 60_000, 600_000),
    contradictions: some(0, 0, 0.3, 0.8),
    mismatches: some(0, 0, 0.02, 0.05),
    lostNotifications: some(0, 0, 0.3),
    renewals: some(0, 0, 0.3),
    databaseWindows: some(0, 0, 0.005, 0.02),
    refusals: some(0, 0, 0.02, 0.08),
    lateCommits: some(0, 0, 0.02, 0.05),
    failovers: some(0, 0, 0, 0.01),
    clockSkewMs: some(0, 0, 30_000, 300_000),
    clockJumps: some(0, 0, 0.01),
    freezes: some(0, 0, 0.01),
    burst: some(0, 0, 0, 0, 0, 8, 20),
  };
}
