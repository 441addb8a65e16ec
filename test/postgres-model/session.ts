/** A running statement: its commands, and the work at its end. */

/** The part of the database that a session uses. */
interface Sequences {
  nextValue(sequence: string): number;
}

export class Session {
  readonly database: Sequences;
  readonly #notifications = new Map<string, readonly [string, string]>();
  #checks: (() => void)[] = [];
  #commands = 0;

  constructor(database: Sequences) {
    this.database = database;
  }

  nextCommand(): number {
    this.#commands += 1;
    return this.#commands;
  }

  /** Notifies the listeners at the commit; equal notifications are sent once. */
  notify(channel: string, payload: string): void {
    this.#notifications.set(`${channel}\0${payload}`, [channel, payload]);
  }

  get notifications(): Iterable<readonly [string, string]> {
    return this.#notifications.values();
  }

  /** Adds a check at the end of the statement. */
  later(check: () => void): void {
    this.#checks.push(check);
  }

  /** Runs the checks. @throws when a row references a missing one. */
  check(): void {
    while (this.#checks.length > 0) {
      const checks = this.#checks;
      this.#checks = [];
      for (const check of checks) check();
    }
  }
}
