/** The processes of the service: their number, deaths, replacements and restarts. */
import { maxClockSkewMs, ProcessFaults } from './process-faults.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import type { Service } from './service.ts';
import type { FaultProfile } from './fault-profile.ts';

export interface ProcessesOptions {
  readonly scheduler: Scheduler;
  readonly profile: () => FaultProfile;
  /** The number of concurrent processes. */
  readonly size: number;
  readonly create: (owner: Owner) => Service;
  /** Called for each process that has died. */
  readonly buried: (owner: Owner) => void;
}

/** The longest pauses before a restart: after the last one the process's open work is stale. */
const maxAwayMs = [2_000, 2_000, 20_000, 200_000] as const;

/** The delay before a process that could not start is started again. */
const restartMs = 5_000;

/** The probability that a frozen process gets no request: a health check has detected it. */
const refusedByFrozen = 0.8;

export class Processes {
  /** The largest clock skew of a process, in milliseconds. */
  readonly clockSkewMs: number;
  readonly #options: ProcessesOptions;
  readonly #faults: ProcessFaults;
  readonly #services = new Map<Owner, Service>();
  readonly #owner: Owner = { name: 'processes' };
  #started = 0;

  constructor(options: ProcessesOptions) {
    this.#options = options;
    this.clockSkewMs = maxClockSkewMs(options.profile());
    this.#faults = new ProcessFaults(options);
  }

  start(): void {
    while (this.#services.size < this.#options.size) this.#launch();
  }

  /** @returns a process that accepts requests, or null; a frozen one seems to accept them. */
  pick(): Service | null {
    const { scheduler } = this.#options;
    const [first, ...others] = [...this.#services].filter(([, { isOpen }]) => isOpen);
    if (!first) return null;
    const [owner, service] = scheduler.chance.pick([first, ...others]);
    return scheduler.isFrozen(owner) && scheduler.chance.happens(refusedByFrozen) ? null : service;
  }

  /** The number of processes that accept requests. */
  get open(): number {
    return [...this.#services.values()].filter(({ isOpen }) => isOpen).length;
  }

  get isComplete(): boolean {
    const { scheduler, size } = this.#options;
    return this.open === size && ![...this.#services.keys()].some((one) => scheduler.isFrozen(one));
  }

  /** Corrects the clocks of the processes. */
  endFaults(): void {
    this.#faults.endFaults();
  }

  /** The history is over: no process continues. */
  abandon(): void {
    for (const owner of this.#services.keys()) this.#options.scheduler.bury(owner);
  }

  /** A process is about to run a step: it may die or stop before it. */
  strike(owner: Owner): void {
    const { scheduler, profile } = this.#options;
    const service = this.#services.get(owner);
    if (!service) return;
    if (scheduler.chance.happens(profile().deaths)) this.#kill(owner, service);
    else if (service.isOpen && scheduler.chance.happens(profile().stops)) {
      void this.#replace(owner, service);
    }
    this.#faults.strike(owner);
  }

  #launch(): void {
    this.#started += 1;
    const owner = { name: `P${this.#started}` };
    const service = this.#options.create(owner);
    this.#faults.started(owner);
    this.#services.set(owner, service);
    const { scheduler } = this.#options;
    scheduler.note(`${owner.name} starts`);
    service.start().catch(() => {
      // Without the database a process cannot start: it exits, and is started again later.
      if (!this.#services.has(owner)) return;
      scheduler.count('failed starts');
      this.#end(owner, service, restartMs);
    });
  }

  #kill(owner: Owner, service: Service): void {
    const { scheduler } = this.#options;
    scheduler.count('deaths');
    scheduler.note(`${owner.name} dies`);
    const { chance } = scheduler;
    this.#end(owner, service, chance.delayMs(chance.pick(maxAwayMs)));
  }

  #end(owner: Owner, service: Service, awayMs: number): void {
    this.#bury(owner, service);
    this.#options.scheduler.after(this.#owner, awayMs, () => this.start());
  }

  /** The process completes its open work, then the next one replaces it. */
  async #replace(owner: Owner, service: Service): Promise<void> {
    const { scheduler } = this.#options;
    scheduler.count('stops');
    scheduler.note(`${owner.name} stops`);
    await service.stop();
    while (!service.isIdle) await scheduler.sleep(owner, 100);
    if (!this.#services.has(owner)) return;
    scheduler.note(`${owner.name} has stopped`);
    this.#bury(owner, service);
    this.start();
  }

  #bury(owner: Owner, service: Service): void {
    this.#services.delete(owner);
    this.#options.scheduler.bury(owner);
    this.#options.buried(owner);
    service.die();
  }
}
