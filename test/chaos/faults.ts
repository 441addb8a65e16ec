/** The faults of the processes and of the database, and their repair. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Chance } from '../simulation/chance.ts';
import type { DatabaseProxy } from '../support/database-proxy.ts';
import type { Cluster } from './cluster.ts';
import type { Processes } from './processes.ts';

export interface Victims {
  readonly processes: Processes;
  readonly cluster: Cluster;
  /** The proxy between the processes and the cluster. */
  readonly proxy: DatabaseProxy;
  readonly chance: Chance;
  /** The longest duration of a fault. */
  readonly maxMs: number;
}

/** Causes a fault and repairs it. */
type Fault = (victims: Victims) => Promise<void>;

/** PostgreSQL's response when it has no connection left: too many clients already. */
const tooManyConnections = '53300';

function whileIn({ chance, maxMs }: Victims): Promise<void> {
  return pause(500 + chance.delayMs(maxMs));
}

export const faults = {
  async 'SIGKILL of a process'(victims) {
    const nth = victims.chance.below(victims.processes.size);
    await victims.processes.kill(nth);
    await whileIn(victims);
    await victims.processes.restart(nth);
  },
  async 'SIGSTOP of a process'(victims) {
    const nth = victims.chance.below(victims.processes.size);
    victims.processes.signal(nth, 'SIGSTOP');
    await whileIn(victims);
    victims.processes.signal(nth, 'SIGCONT');
  },
  async 'rolling restart'({ processes }) {
    for (let nth = 0; nth < processes.size; nth += 1) {
      await processes.stop(nth);
      await processes.restart(nth);
    }
  },
  async 'restart of PostgreSQL'(victims) {
    await victims.cluster.stop('fast');
    await whileIn(victims);
    await victims.cluster.start();
  },
  async 'crash of PostgreSQL'(victims) {
    await victims.cluster.stop('immediate');
    await whileIn(victims);
    await victims.cluster.start();
  },
  async 'terminated connections'(victims) {
    await victims.proxy.cut();
    await whileIn(victims);
    await victims.proxy.mend();
  },
  async 'half-open connections'(victims) {
    victims.proxy.hold();
    await whileIn(victims);
    await victims.proxy.mend();
  },
  async 'stalled PostgreSQL'(victims) {
    const thaw = victims.cluster.freeze();
    await whileIn(victims);
    thaw();
  },
  async 'full connections'(victims) {
    victims.proxy.refuse(tooManyConnections);
    // A process with open connections would keep using them: restart it, so that it needs new ones.
    await victims.processes.kill(0);
    const restarted = victims.processes.restart(0);
    await whileIn(victims);
    await victims.proxy.mend();
    await restarted;
  },
  async 'read-only database'(victims) {
    await victims.cluster.setReadOnly(true);
    await whileIn(victims);
    await victims.cluster.setReadOnly(false);
  },
  async 'synchronous failover'({ cluster }) {
    await cluster.failOver();
  },
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;

export const faultNames = Object.keys(faults) as [FaultName, ...FaultName[]];
