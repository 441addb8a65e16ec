/** The processes that run: how many, when they die or are replaced, and when they come back. */
import type { Owner, Scheduler } from './scheduler.ts';
import type { Service } from './service.ts';
import type { Weather } from './weather.ts';

export interface FleetOptions {
  readonly scheduler: Scheduler;
  readonly weather: () => Weather;
  /** How many processes there are to be at once. */
  readonly size: number;
  readonly create: (owner: Owner) => Service;
  /** Told of a process that has died. */
  readonly buried: (owner: Owner) => void;
}

/** Mostly a process is started again at once; at times what it has left is stale by then. */
const awayMs = [2_000, 2_000, 20_000, 200_000] as const;

export class Fleet {
  readonly #options: FleetOptions;
  readonly #services = new Map<Owner, Service>();
  readonly #owner: Owner = { name: 'fleet' };
  #started = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  start(): void {
    while (this.#services.size < this.#options.size) this.#launch();
  }

  /** @returns a process that takes requests, or null. */
  pick(): Service | null {
    const [first, ...others] = [...this.#services.values()].filter(({ isOpen }) => isOpen);
    return first ? this.#options.scheduler.chance.pick([first, ...others]) : null;
  }

  /** How many processes take requests. */
  get open(): number {
    return [...this.#services.values()].filter(({ isOpen }) => isOpen).length;
  }

  get isComplete(): boolean {
    return this.open === this.#options.size;
  }

  /** The history is over: nobody goes on. */
  abandon(): void {
    for (const owner of this.#services.keys()) this.#options.scheduler.bury(owner);
  }

  /** Something is about to happen to a process: it may be its death or its end. */
  strike(owner: Owner): void {
    const { scheduler, weather } = this.#options;
    const service = this.#services.get(owner);
    if (!service) return;
    if (scheduler.chance.happens(weather().deaths)) this.#kill(owner, service);
    else if (service.isOpen && scheduler.chance.happens(weather().stops)) {
      void this.#replace(owner, service);
    }
  }

  #launch(): void {
    this.#started += 1;
    const owner = { name: `P${this.#started}` };
    const service = this.#options.create(owner);
    this.#services.set(owner, service);
    this.#options.scheduler.note(`${owner.name} starts`);
    service.start().catch(() => {
      // It cannot start without the database: it ends, and is started again.
      if (this.#services.has(owner)) this.#kill(owner, service);
    });
  }

  #kill(owner: Owner, service: Service): void {
    const { scheduler } = this.#options;
    scheduler.count('deaths');
    scheduler.note(`${owner.name} dies`);
    this.#bury(owner, service);
    const { chance } = scheduler;
    scheduler.after(this.#owner, chance.delayMs(chance.pick(awayMs)), () => this.start());
  }

  /** It finishes what it has begun, then the next one takes its place. */
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
