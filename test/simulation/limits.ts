/** The limits of sends by day and by night. */
import type { Config } from '../../src/config/config.ts';
import { centsFromDecimal } from '../../src/domain/money.ts';
import { limitPeriod, nightHours } from '../../src/domain/spending-limits.ts';
import { Chance } from './chance.ts';
import type { LimitChange } from './limit-client.ts';
import type { ExecutedStatement } from './oracle/accounts.ts';
import type { Store } from './store.ts';

export type Limits = Config['pixLimits'];

/** One seed in five has limits. */
const share = 5;

/** Draws the limits of a seed, from a separate random sequence. */
export function drawLimits(seed: number): Limits {
  if (seed % share !== 0) return { day: null, night: null };
  const chance = new Chance(seed + 1);
  const amounts = [null, 1_000, 2_550, 5_000, 10_000, 100_000] as const;
  return { day: chance.pick(amounts), night: chance.pick(amounts) };
}

/** One seed in twenty changes limits; each of them has limits of the bank. */
const changing = { of: 20, rest: 15 } as const;

/**
 * Draws the changes of a customer, from a separate random sequence.
 * @param place the number of the customer.
 */
export function drawLimitChanges(seed: number, place: number): readonly LimitChange[] {
  if (seed % changing.of !== changing.rest) return [];
  const chance = new Chance(seed + place + 2);
  return Array.from({ length: chance.between(0, 2) }, () => {
    const amount = chance.pick([null, 0, 5, 25.5, 100] as const);
    return chance.happens(0.5) ? { day: amount, night: amount } : { night: amount };
  });
}

interface LimitCheckOptions {
  readonly store: Store;
  readonly limits: Limits;
  readonly violated: (text: string) => void;
}

interface SentRow {
  readonly id: string;
  readonly status: string;
  readonly user_id: number;
  readonly created_at: Date;
}

/** The beginning of the names of the statements that store a send. */
const reserving = 'pix-reserve-send';

/** What counts: money that may have left, and a failed send from its correction on. */
const readSpent = `
  select amount from pix_transactions
   where user_id = $1 and created_at >= $2 and operation = 'SEND' and status <> 'FAILED'`;

/**
 * Checks each new send in the step that stores it: the sum of its period does not exceed the limit.
 * A correction may exceed it later, because the money has left already.
 */
export class LimitCheck {
  readonly #options: LimitCheckOptions;
  readonly #stored = new Set<unknown>();

  constructor(options: LimitCheckOptions) {
    this.#options = options;
  }

  /** A statement has been executed, and no other one since. */
  async statementExecuted({ name, written }: ExecutedStatement): Promise<void> {
    const { day, night } = this.#options.limits;
    if ((day === null && night === null) || !name.startsWith(reserving)) return;
    for (const row of written as unknown as readonly SentRow[]) {
      // The statement finds its own row if it is repeated after a lost response, and a closed key.
      if (!this.#stored.has(row.id) && row.status !== 'FAILED') await this.#check(row);
      this.#stored.add(row.id);
    }
  }

  async #check({ user_id: userId, created_at: createdAt }: SentRow): Promise<void> {
    const { limits, store, violated } = this.#options;
    const [hour] = nightHours;
    const { isNight, beganAt } = limitPeriod(createdAt, hour);
    const period = isNight ? 'night' : 'day';
    const own = await this.#ownLimit(userId, period, createdAt);
    const limit = lower(limits[period], own);
    const spent = await store.rows<{ amount: string }>(readSpent, [userId, beganAt]);
    const sum = spent.reduce((total, { amount }) => total + (centsFromDecimal(amount) ?? 0), 0);
    if (limit !== null && sum > limit) {
      violated(`a limit was exceeded: user ${userId} has sent ${sum} centavos of ${limit}`);
    }
  }

  /** What the customer has set, as it is in force; null: nothing. */
  async #ownLimit(userId: number, period: 'day' | 'night', now: Date): Promise<number | null> {
    const [own] = await this.#options.store.rows<OwnRow>(
      `select own_${period} as value, own_${period}_next as next, own_${period}_next_at as next_at
         from pix_limits where user_id = $1`,
      [userId],
    );
    if (!own) return null;
    const amount = own.next_at !== null && own.next_at <= now ? own.next : own.value;
    return amount === null ? null : centsFromDecimal(amount);
  }
}

interface OwnRow {
  readonly value: string | null;
  readonly next: string | null;
  readonly next_at: Date | null;
}

function lower(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}
