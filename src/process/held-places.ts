/**
 * The logins of strangers that this process is deciding. Each holds a place of its address and of
 * the networks that contain it: a right password gives the place back, anything else uses it up.
 */
export class HeldPlaces {
  readonly #held = new Map<string, number>();
  #releases = 0;
  readonly #waiting = new Set<{ readonly names: readonly string[]; begin(): void }>();

  /** The places that are held of an address or a network. */
  count(name: string): number {
    return this.#held.get(name) ?? 0;
  }

  /** How often places were given up: what was read before the last time may be old. */
  get releases(): number {
    return this.#releases;
  }

  /** Holds a place of each name. */
  hold(names: readonly string[]): void {
    for (const name of names) this.#held.set(name, this.count(name) + 1);
  }

  /** Gives the places up. */
  release(names: readonly string[]): void {
    this.#releases += 1;
    for (const name of names) {
      const left = this.count(name) - 1;
      if (left > 0) this.#held.set(name, left);
      else this.#held.delete(name);
    }
    for (const waiter of this.#waiting) {
      if (waiter.names.some((name) => names.includes(name))) waiter.begin();
    }
  }

  /** Resolves when a place of one of the names is given up. */
  whenReleased(names: readonly string[]): Promise<void> {
    return new Promise((resolve) => {
      const waiter = {
        names,
        begin: () => {
          this.#waiting.delete(waiter);
          resolve();
        },
      };
      this.#waiting.add(waiter);
    });
  }
}
