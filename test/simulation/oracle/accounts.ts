/** Tracks which accounts are blocked in the database; no payment may begin on a blocked account. */
import type { CallParameters } from '../../../src/db/batcher.ts';
import type { Scheduler } from '../scheduler.ts';

export interface AccountsOptions {
  readonly scheduler: Scheduler;
  readonly violated: (text: string) => void;
}

/** A statement that the database has executed. */
export interface ExecutedStatement {
  readonly name: string;
  /** The parameters of each call. */
  readonly calls: readonly CallParameters[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** The transactions that it has stored or moved without returning them. */
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

  statementExecuted({ name, calls, rows, written }: ExecutedStatement): void {
    const [first] = calls;
    if (name === 'ops-account-move-status' && rows.length > 0) {
      this.#moved(Number(first?.['userId']), first?.['to'] === 'BLOCKED');
    }
    if (name !== 'pix-step') return;
    const moved = rows.map(({ ordinal }) => calls[Number(ordinal) - 1]);
    const paying = moved.filter((call) => call?.['toPhase'] === 'PAYING');
    const begun = new Set(paying.map((call) => call?.['id']));
    for (const { id, user_id: userId } of written) {
      if (!begun.has(id) || !this.#blocked.has(Number(userId))) continue;
      this.#options.violated('a payment began while its account was blocked');
    }
  }

  /** Whether an account was blocked at any time since a step. */
  wasBlockedSince(userId: number, step: number): boolean {
    return this.#blocked.has(userId) || (this.#unblockedAt.get(userId) ?? -1) >= step;
  }

  /** Replaces the blocked accounts: a failover may have lost an operator's change. */
  rolledBack(blocked: readonly { readonly user_id: number }[]): void {
    const { scheduler } = this.#options;
    for (const userId of this.#blocked) this.#unblockedAt.set(userId, scheduler.taken);
    this.#blocked.clear();
    for (const { user_id: userId } of blocked) this.#blocked.add(userId);
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
