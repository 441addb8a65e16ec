/** A customer's device: what survives the end of the app, and what its open tabs share. */
import type { Locks, Storage } from '../../../contract/client/index.ts';
import type { Owner, Scheduler } from '../scheduler.ts';

export interface DeviceOptions {
  readonly scheduler: Scheduler;
  /** How likely the storage fails to keep a value. */
  readonly fullDisks: () => number;
}

/** A tab that waits for a lock, or has it. */
interface Holder {
  readonly tab: Owner;
  begin(): void;
}

export class Device {
  readonly #options: DeviceOptions;
  readonly #items = new Map<string, string>();
  /** By name, the holder of each lock first. */
  readonly #queues = new Map<string, readonly Holder[]>();

  constructor(options: DeviceOptions) {
    this.#options = options;
  }

  /** The storage, as a tab uses it. */
  storageOf(tab: Owner): Storage {
    const { scheduler, fullDisks } = this.#options;
    return {
      getItem: (name) => this.#items.get(name) ?? null,
      // The app may die before this step, and then nothing is stored.
      setItem: (name, value) =>
        new Promise<void>((resolve, reject) => {
          const run = (): string | undefined => {
            if (scheduler.chance.happens(fullDisks())) {
              scheduler.count('app: a full disk');
              reject(new Error('the disk is full'));
              return 'full';
            }
            this.#items.set(name, value);
            resolve();
            return undefined;
          };
          scheduler.submit({ owner: tab, label: `${tab.name} stores its payments`, run });
        }),
    };
  }

  /** The locks, as a tab uses them. */
  locksOf(tab: Owner): Locks {
    return {
      request: async (name, work) => {
        await this.#acquire(name, tab);
        try {
          await work();
        } finally {
          this.#release(name, tab);
        }
      },
    };
  }

  /** A tab has died: it has no locks any more. */
  died(tab: Owner): void {
    for (const [name, [holder]] of this.#queues) {
      this.#queues.set(
        name,
        this.#waiting(name).filter((one) => one.tab !== tab),
      );
      if (holder?.tab === tab) this.#waiting(name)[0]?.begin();
    }
  }

  async #acquire(name: string, tab: Owner): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const queue = this.#waiting(name);
    this.#queues.set(name, [...queue, { tab, begin: resolve }]);
    if (queue.length === 0) resolve();
    await promise;
  }

  #release(name: string, tab: Owner): void {
    const [holder, ...others] = this.#waiting(name);
    if (holder?.tab !== tab) return;
    this.#queues.set(name, others);
    others[0]?.begin();
  }

  #waiting(name: string): readonly Holder[] {
    return this.#queues.get(name) ?? [];
  }
}
