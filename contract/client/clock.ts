/** Time on a device, whose wall clock anybody may set, and which may sleep. */

export interface Clock {
  now(): Date;
  /** @returns a function that cancels the work. */
  after(delayMs: number, work: () => void): () => void;
  /** Milliseconds since any moment, never set back. By default those of `now`, never backwards. */
  monotonic?(): number;
}

/** The time of a run: the wall clock at its start, and from then on one that nobody sets. */
export class RunClock {
  readonly #clock: Clock;
  readonly #monotonic: () => number;
  readonly #startMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#monotonic = clock.monotonic ? () => clock.monotonic?.() ?? 0 : neverBack(clock);
    this.#startMs = this.wallMs() - this.#monotonic();
  }

  nowMs(): number {
    return this.#startMs + this.#monotonic();
  }

  wallMs(): number {
    return this.#clock.now().getTime();
  }

  after(delayMs: number, work: () => void): () => void {
    return this.#clock.after(delayMs, work);
  }
}

function neverBack(clock: Clock): () => number {
  let last = clock.now().getTime();
  let passed = 0;
  return () => {
    const now = clock.now().getTime();
    passed += Math.max(0, now - last);
    last = now;
    return passed;
  };
}

/**
 * A span of time. It is over as soon as its timer, the time of the run or the wall clock says so: a
 * clock that was set back does not make it longer, nor does a device that has slept.
 */
export class Countdown {
  readonly #clock: RunClock;
  readonly #spanMs: number;
  readonly #startMs: number;
  readonly #startWallMs: number;
  #isOver = false;

  constructor(clock: RunClock, spanMs: number) {
    this.#clock = clock;
    this.#spanMs = spanMs;
    this.#startMs = clock.nowMs();
    this.#startWallMs = clock.wallMs();
    let stop = (): void => undefined;
    this.over = new Promise((resolve) => {
      stop = clock.after(spanMs, () => {
        this.#isOver = true;
        resolve(null);
      });
    });
    this.stop = stop;
  }

  /** Resolves when its timer says that it is over. */
  readonly over: Promise<null>;

  /** Cancels its timer. */
  readonly stop: () => void;

  get leftMs(): number {
    if (this.#isOver) return 0;
    const passedMs = this.#clock.nowMs() - this.#startMs;
    const passedWallMs = this.#clock.wallMs() - this.#startWallMs;
    return Math.max(0, this.#spanMs - Math.max(passedMs, passedWallMs));
  }

  /** Waits, until its end at most. */
  async sleep(ms: number): Promise<void> {
    let cancel = (): void => undefined;
    const slept = new Promise<void>((resolve) => {
      cancel = this.#clock.after(ms, resolve);
    });
    await Promise.race([slept, this.over]);
    cancel();
  }
}

export const systemClock: Clock = {
  now: () => new Date(),
  after(delayMs, work) {
    const timer = setTimeout(work, delayMs);
    return () => clearTimeout(timer);
  },
  monotonic: () => performance.now(),
};
