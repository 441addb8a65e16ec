/** Decides which charges may be FAILED because they have expired, and which must be. */
import type { ExpiryNotice } from '../bank/later-notices.ts';
import type { Charge } from '../bank/ledger.ts';
import type { Delivery } from '../delivery.ts';
import type { Scheduler } from '../scheduler.ts';
import type { LostCommits } from './lost-commits.ts';

interface Tracked {
  readonly charge: Charge;
  readonly hash: string;
  readonly delivery: Delivery;
}

/** The time from the expiry of a charge until the sweep fails it. */
const graceMs = 24 * 60 * 60_000;

/** The tolerance: more than the clock skew of a process, plus some sweeps. */
const marginMs = 15 * 60_000;

export class Expiries {
  readonly #scheduler: Scheduler;
  readonly #lost: LostCommits;
  readonly #tracked: Tracked[] = [];
  #stored: ReadonlySet<string> = new Set();

  constructor({ scheduler, lost }: { readonly scheduler: Scheduler; readonly lost: LostCommits }) {
    this.#scheduler = scheduler;
    this.#lost = lost;
  }

  /** @returns the delivery of the notice, to be updated. */
  posted({ charge }: ExpiryNotice, hash: string): Delivery {
    const delivery: Delivery = { state: 'under_way' };
    this.#tracked.push({ charge, hash, delivery });
    return delivery;
  }

  /** Sets the hashes of the stored events; call it before the checks at rest. */
  learn(hashes: ReadonlySet<string>): void {
    this.#stored = hashes;
  }

  /** Whether the charge may be FAILED: an event reports its expiry, or the time has passed. */
  mayHaveEnded(charge: Charge): boolean {
    const { expiresAtMs } = charge;
    const isReported = this.#tracked.some((one) => one.charge === charge);
    const isOver = expiresAtMs !== null && this.#scheduler.nowMs > expiresAtMs + graceMs - marginMs;
    return isReported || isOver;
  }

  /** The reason why the charge must no longer be open; null when it may be. */
  whyEnded(charge: Charge): string | null {
    const { expiresAtMs } = charge;
    const isReported = this.#tracked.some((one) => one.charge === charge && this.#isTaken(one));
    if (isReported) return 'an event reports that it has expired';
    const isOver = expiresAtMs !== null && this.#scheduler.nowMs > expiresAtMs + graceMs + marginMs;
    return isOver ? 'it has expired more than a day ago' : null;
  }

  #isTaken({ delivery, hash }: Tracked): boolean {
    const isAcknowledged = delivery.state === 'acknowledged' && this.#lost.failedOverAt === null;
    return isAcknowledged || this.#stored.has(hash);
  }
}
