/** Remembers the idempotency keys of orders that this process has claimed or replayed. */
import type { OrderType } from '../domain/pix.ts';

/** Bounds the memory: a key has at most 128 characters. A forgotten key costs a claim. */
const maxKeys = 4_096;

/** The keys of sends and of returns are apart. */
interface SeenKey {
  readonly operation: OrderType;
  readonly idempotencyKey: string;
}

/**
 * The latest keys of one process, in two generations. They are only a hint: the order of a known
 * key is probably in the database, so it is read before the claim.
 */
export class ClaimedKeys {
  #recent = new Map<string, Date>();
  #earlier = new Map<string, Date>();

  /** @returns when this process has seen the order of a key, or null. */
  seenAt(userId: number, key: SeenKey): Date | null {
    const name = claimName(userId, key);
    return this.#recent.get(name) ?? this.#earlier.get(name) ?? null;
  }

  add(userId: number, key: SeenKey, seenAt: Date): void {
    if (this.#recent.size >= maxKeys / 2) {
      this.#earlier = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(claimName(userId, key), seenAt);
  }
}

function claimName(userId: number, { operation, idempotencyKey }: SeenKey): string {
  return `${userId}:${operation}:${idempotencyKey}`;
}
