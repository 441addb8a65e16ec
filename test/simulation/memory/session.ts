/** One statement under way: its commands, and what is to be done at its end. */

/** What sessions ask of the database. */
interface Sequences {
  nextValue(sequence: string): number;
}

export class Session {
  readonly database: Sequences;
  /** Now, in microseconds since 1970. */
  readonly nowUs = Date.now() * 1_000;
  readonly #told = new Map<string, readonly [string, string]>();
  #checks: (() => void)[] = [];
  #commands = 0;

  constructor(database: Sequences) {
    this.database = database;
  }

  nextCommand(): number {
    this.#commands += 1;
    return this.#commands;
  }

  /** Tells whoever listens, at the commit; what is told twice is told once. */
  notify(channel: string, payload: string): void {
    this.#told.set(`${channel}\0${payload}`, [channel, payload]);
  }

  get notifications(): Iterable<readonly [string, string]> {
    return this.#told.values();
  }

  /** Is checked when the statement has done all else. */
  later(check: () => void): void {
    this.#checks.push(check);
  }

  /** @throws where a row names another one that is not there. */
  check(): void {
    while (this.#checks.length > 0) {
      const checks = this.#checks;
      this.#checks = [];
      for (const check of checks) check();
    }
  }
}
