/** The limits of sends by day and by night. */
import type { Config } from '../../src/config/config.ts';
import { centsFromDecimal } from '../../src/domain/money.ts';
import { limitPeriod, nightHours } from '../../src/domain/pix-limits.ts';
import { Chance } from './chance.ts';
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

interface SentRow {
  readonly user_id: number;
  readonly amount: string;
  readonly created_at: Date;
}

/**
 * The sums that exceed a limit, as sentences. Not counted are the old payment of a seed, and sends
 * that were corrected: while they were FAILED, others could be sent in their place.
 */
export async function exceededLimits(store: Store, limits: Limits): Promise<string[]> {
  if (limits.day === null && limits.night === null) return [];
  const sent = await store.rows<SentRow>(
    `select user_id, amount, created_at from pix_transactions
      where operation = 'SEND' and status <> 'FAILED' and created_at > '2026-05-20'
        and corrected_at is null`,
  );
  const [hour] = nightHours;
  const periods = Map.groupBy(sent, (row) => {
    const { isNight, beganAt } = limitPeriod(row.created_at, hour);
    return `${row.user_id} ${isNight ? 'night' : 'day'} ${beganAt.toISOString()}`;
  });
  return [...periods].flatMap(([name, rows]) => {
    const limit = limits[name.includes('night') ? 'night' : 'day'];
    const sum = rows.reduce((total, { amount }) => total + (centsFromDecimal(amount) ?? 0), 0);
    return limit === null || sum <= limit ? [] : [`user ${name}: ${sum} centavos of ${limit}`];
  });
}
