/** Faults of a process that does not die: its clock is wrong or jumps, or it is frozen. */
import type { Owner, Scheduler } from './scheduler.ts';
import type { FaultProfile } from './fault-profile.ts';

export interface ProcessFaultsOptions {
  readonly scheduler: Scheduler;
  readonly profile: () => FaultProfile;
}

/** From a long garbage collection to a machine that was suspended. */
const freezesMs = [3_000, 30_000, 150_000, 600_000] as const;

/** A clock that jumps is wrong for some time, whatever it was before. */
const leastJumpMs = 60_000;

/** The most that the clock of a process is ahead or behind, in milliseconds. */
export function mostClockSkewMs({ clockSkewMs, clockJumps }: FaultProfile): number {
  return clockJumps > 0 ? Math.max(leastJumpMs, clockSkewMs) : clockSkewMs;
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

  /** A process is about to take a step: its clock may jump, or it may be frozen. */
  strike(process: Owner): void {
    const { scheduler, profile } = this.#options;
    if (scheduler.isBuried(process) || scheduler.isFrozen(process)) return;
    if (scheduler.chance.happens(profile().clockJumps)) {
      scheduler.count('clock jumps');
      this.#setClock(process);
    }
    if (scheduler.chance.happens(profile().freezes)) this.#freeze(process);
  }

  /** From now on the clocks are right; a process that is frozen goes on in its time. */
  endFaults(): void {
    for (const process of this.#processes) this.#options.scheduler.setClock(process, 0);
  }

  #setClock(process: Owner): void {
    const { scheduler, profile } = this.#options;
    const mostMs = mostClockSkewMs(profile());
    if (mostMs === 0) return;
    const offsetMs = scheduler.chance.between(-mostMs, mostMs);
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
