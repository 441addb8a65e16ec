/** Faults of a live process: its clock is wrong or jumps, or it is frozen. */
import type { Owner, Scheduler } from './scheduler.ts';
import type { FaultProfile } from './fault-profile.ts';

export interface ProcessFaultsOptions {
  readonly scheduler: Scheduler;
  readonly profile: () => FaultProfile;
}

/** The durations of a freeze, from a long garbage collection to a suspended machine. */
const freezesMs = [3_000, 30_000, 150_000, 600_000] as const;

/** If clocks jump, the limit of their offset is at least this. */
const minJumpMs = 60_000;

/** The largest clock skew of a process, in milliseconds. */
export function maxClockSkewMs({ clockSkewMs, clockJumps }: FaultProfile): number {
  return clockJumps > 0 ? Math.max(minJumpMs, clockSkewMs) : clockSkewMs;
}

export class ProcessFaults {
  readonly #options: ProcessFaultsOptions;
  readonly #owner: Owner = { name: 'host' };
  readonly #processes = new Set<Owner>();

  constructor(options: ProcessFaultsOptions) {
    this.#options = options;
  }

  /** A process starts with the clock of its host. */
  started(process: Owner): void {
    this.#processes.add(process);
    this.#setClock(process);
  }

  /** A process is about to run a step: its clock may jump, or the process may freeze. */
  strike(process: Owner): void {
    const { scheduler, profile } = this.#options;
    if (scheduler.isBuried(process) || scheduler.isFrozen(process)) return;
    if (scheduler.chance.happens(profile().clockJumps)) {
      scheduler.count('clock jumps');
      this.#setClock(process);
    }
    if (scheduler.chance.happens(profile().freezes)) this.#freeze(process);
  }

  /** Corrects all clocks; a frozen process continues when its freeze is over. */
  endFaults(): void {
    for (const process of this.#processes) this.#options.scheduler.setClock(process, 0);
  }

  #setClock(process: Owner): void {
    const { scheduler, profile } = this.#options;
    const maxMs = maxClockSkewMs(profile());
    if (maxMs === 0) return;
    const offsetMs = scheduler.chance.between(-maxMs, maxMs);
    scheduler.setClock(process, offsetMs);
    scheduler.note(`the clock of ${process.name} is ${offsetMs} ms ahead`);
  }

  #freeze(process: Owner): void {
    const { scheduler } = this.#options;
    const durationMs = scheduler.chance.pick(freezesMs);
    scheduler.count(`freezes of ${durationMs / 1_000} s`);
    scheduler.note(`${process.name} is frozen for ${durationMs} ms`);
    scheduler.freeze(process);
    scheduler.after(this.#owner, durationMs, () => {
      scheduler.note(`${process.name} wakes up`);
      scheduler.thaw(process);
    });
  }
}
