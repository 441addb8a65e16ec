/**
 * A bounded queue that serves the waiting networks in turn: many requests of one network do not
 * delay those of another.
 */

export interface Waiter {
  readonly network: string;
  begin(): void;
  /** Ends the wait without a turn. */
  refuse(): void;
}

/** A queue of one process, and of one kind of work. */
export class FairQueue {
  readonly #limit: number;
  /** The next network first; its waiters in the order of arrival. */
  readonly #networks = new Map<string, Set<Waiter>>();
  #size = 0;

  /** @param limit the largest number of waiters. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Adds a waiter. When the queue is full, the network with the most waiters loses its last one.
   * @returns false when no network has more waiters than that of the new one would have.
   */
  add(waiter: Waiter): boolean {
    const { network } = waiter;
    if (this.#size >= this.#limit && !this.#makeRoom(network)) return false;
    const beside = this.#networks.get(network) ?? new Set();
    this.#networks.set(network, beside.add(waiter));
    this.#size += 1;
    return true;
  }

  delete(waiter: Waiter): void {
    const beside = this.#networks.get(waiter.network);
    if (!beside?.delete(waiter)) return;
    this.#size -= 1;
    if (beside.size === 0) this.#networks.delete(waiter.network);
  }

  /** Removes the next waiter; its network goes behind the others. */
  take(): Waiter | null {
    const [next] = this.#networks;
    if (!next) return null;
    const [network, beside] = next;
    const [waiter] = beside;
    if (!waiter) return null;
    this.delete(waiter);
    if (beside.size === 0) return waiter;
    this.#networks.delete(network);
    this.#networks.set(network, beside);
    return waiter;
  }

  #makeRoom(network: string): boolean {
    const groups = [...this.#networks.values()];
    const most = Math.max(0, ...groups.map(({ size }) => size));
    if (most <= (this.#networks.get(network)?.size ?? 0) + 1) return false;
    const last = [...(groups.find(({ size }) => size === most) ?? [])].at(-1);
    if (!last) return false;
    this.delete(last);
    last.refuse();
    return true;
  }
}
