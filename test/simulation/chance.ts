/**
 * The only random source of a simulation. Every random choice is drawn from it, in the order of the
 * events, so that a seed determines the whole history.
 */
export class Chance {
  #state: number;

  /** @param seed an integer; different seeds give different sequences. */
  constructor(seed: number) {
    this.#state = seed | 0;
    // Neighbouring seeds begin with similar numbers: skip the first few.
    for (let draw = 0; draw < 4; draw += 1) this.next();
  }

  /** Mulberry32, by Tommy Ettinger: 32 bits of state are enough for one short history. */
  readonly next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };

  /** @returns an integer from 0 up to `count` - 1. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  /** @returns an integer from `least` to `most`. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  happens(probability: number): boolean {
    // An impossible event needs no draw: a history without faults makes none.
    return probability > 0 && this.next() < probability;
  }

  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.below(choices.length)] ?? choices[0];
  }

  /** @returns the same items in another order. */
  shuffled<T>(things: readonly T[]): T[] {
    const left = [...things];
    return things.flatMap(() => left.splice(this.below(left.length), 1));
  }

  /** @returns a delay in milliseconds: often short, sometimes up to `maxMs`. */
  delayMs(maxMs: number): number {
    return Math.floor(maxMs * this.next() ** 4);
  }
}
