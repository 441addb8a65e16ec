/** Which accounts are blocked, as the database has committed it, and what may not happen then. */
import type { Scheduler } from '../scheduler.ts';

export interface AccountsOptions {
  readonly scheduler: Scheduler;
  readonly violated: (text: string) => void;
}

/** A statement that the database has carried out. */
export interface CarriedOut {
  readonly name: string;
  readonly parameters: readonly unknown[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** The transactions that it has stored or moved without answering them. */
  readonly written: readonly Readonly<Record<string, unknown>>[];
}

export class Accounts {
  readonly #options: AccountsOptions;
  readonly #blocked = new Set<number>();
  /** The step at which an account was last made ACTIVE again. */
  readonly #unblockedAt = new Map<number, number>();

  constructor(options: AccountsOptions) {
    this.#options = options;
  }

  /** The users whose account is blocked. */
  get blocked(): readonly number[] {
    return [...this.#blocked];
  }

  carriedOut({ name, parameters, rows, written }: CarriedOut): void {
    if (name === 'ops-account-move-status' && rows.length > 0) {
      this.#moved(Number(parameters[0]), parameters[2] === 'BLOCKED');
    }
    if (name !== 'pix-step' || parameters[1] !== 'PAYING') return;
    for (const row of written) {
      if (!this.#blocked.has(Number(row['user_id']))) continue;
      this.#options.violated('a payment began while its account was blocked');
    }
  }

  /** Whether an account was blocked at any time since a step. */
  wasBlockedSince(userId: number, step: number): boolean {
    return this.#blocked.has(userId) || (this.#unblockedAt.get(userId) ?? -1) >= step;
  }

  #moved(userId: number, isBlocked: boolean): void {
    const { scheduler } = this.#options;
    scheduler.count(isBlocked ? 'accounts blocked' : 'accounts unblocked');
    if (isBlocked) {
      this.#blocked.add(userId);
    } else {
      this.#blocked.delete(userId);
      this.#unblockedAt.set(userId, scheduler.taken);
    }
  }
}
