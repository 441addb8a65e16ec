/**
 * The logins that wait for their hash. Each line, such as the logins of one e-mail, hashes one
 * login at a time. How many wait is bounded by e-mail with address, and by the process: a further
 * login takes the place of one that waits, so that nobody keeps the others out by being early.
 */
import { randomInt } from 'node:crypto';
import { pause, type Clock } from '../clock.ts';
import { HeldPlaces } from './held-places.ts';

/** The logins that wait for one e-mail and address. */
const perPlace = 5;

/** The logins that wait in a lane: fewer in all than the connections that a process accepts. */
const perLane = 100;

/**
 * At known addresses; elsewhere for their turn; elsewhere for a place of their address. The logins
 * of one lane take no place of another.
 */
type Lane = 'customers' | 'strangers' | 'places';

export interface Waiting {
  readonly lane: Lane;
  /** The e-mail and the address of the login. */
  readonly place: string;
  /** The network of the address: when the lane is full, the one with the most logins yields. */
  readonly network: string;
  /** The lowest goes first, and yields last; equal ones are chosen at random. */
  readonly rank: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /**
   * Asks whether the next login of the line may begin.
   * @param isFirst whether this login has opened the line, so that what it has read is new.
   * @returns 0 to begin; otherwise the time until it may ask again, in ms.
   */
  mayBegin(isFirst: boolean): Promise<number>;
}

export interface Turn {
  /** Whether others stood in the line, or the login has waited: what it has read may be old. */
  readonly hasWaited: boolean;
  /**
   * Ends the turn.
   * @param isUsed false: the login was not hashed, and the next one begins in its place.
   */
  end(isUsed: boolean): void;
}

interface Waiter extends Omit<Waiting, 'rank'> {
  rank: number;
  /** Ends the wait: with a turn, without one, or with an error of {@link Waiting.mayBegin}. */
  leave(result: Turn | null | { readonly error: unknown }): void;
}

/** The lines of one process. */
export class LoginLines {
  /** The places of their addresses that logins of strangers hold. */
  readonly heldPlaces = new HeldPlaces();
  readonly #clock: Clock;
  readonly #lines = new Map<string, Set<Waiter>>();
  readonly #waiting = new Set<Waiter>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The number of logins that wait in a lane; without one, in all. */
  count(lane?: Lane): number {
    if (lane === undefined) return this.#waiting.size;
    return this.#inLane(lane).length;
  }

  /**
   * Waits in the line of a key.
   * @returns the turn; null when the wait has ended without one.
   * @throws what {@link Waiting.mayBegin} throws.
   */
  take(key: string, waiting: Waiting): Promise<Turn | null> {
    if (waiting.signal.aborted || !this.#makeRoom(waiting)) return Promise.resolve(null);
    const { promise, resolve, reject } = Promise.withResolvers<Turn | null>();
    const open = this.#lines.get(key);
    const line = open ?? new Set();
    const give = (): void => waiter.leave(null);
    const waiter: Waiter = {
      ...waiting,
      leave: (result) => {
        line.delete(waiter);
        this.#waiting.delete(waiter);
        waiting.signal.removeEventListener('abort', give);
        if (result !== null && 'error' in result) reject(result.error);
        else resolve(result);
      },
    };
    line.add(waiter);
    this.#waiting.add(waiter);
    waiting.signal.addEventListener('abort', give, { once: true });
    if (!open) {
      this.#lines.set(key, line);
      void this.#serve(key, line);
    }
    return promise;
  }

  /** Puts the waiting logins of a network behind the others of the line. */
  demote(key: string, network: string): void {
    for (const waiter of this.#lines.get(key) ?? []) {
      if (waiter.network === network) waiter.rank = Math.max(waiter.rank, 1);
    }
  }

  /**
   * Removes a login at random where the new one would be too many.
   * @returns false when all others go before the new one.
   */
  #makeRoom({ place, lane, rank }: Waiting): boolean {
    const there = [...this.#waiting].filter((waiter) => waiter.place === place);
    if (there.length >= perPlace) {
      pickOne(there)?.leave(null);
      return true;
    }
    const beside = this.#inLane(lane);
    if (beside.length < perLane) return true;
    const highest = Math.max(...beside.map((waiter) => waiter.rank));
    if (rank > highest) return false;
    pickOne(largestGroups(beside.filter((waiter) => waiter.rank === highest)))?.leave(null);
    return true;
  }

  #inLane(lane: Lane): readonly Waiter[] {
    return [...this.#waiting].filter((waiter) => waiter.lane === lane);
  }

  /** Gives one turn after the other, until nobody waits. */
  async #serve(key: string, line: Set<Waiter>): Promise<void> {
    let isFirst = true;
    try {
      for (let [head] = line; head; [head] = line) {
        const waitMs = await head.mayBegin(isFirst);
        if (waitMs > 0) await pause(this.#clock, waitMs);
        else await giveTurns(line, !isFirst || line.size > 1);
        isFirst = false;
      }
    } catch (error) {
      for (const waiter of line) waiter.leave({ error });
    } finally {
      this.#lines.delete(key);
    }
  }
}

/** Gives turns until one is used. */
async function giveTurns(line: ReadonlySet<Waiter>, hasWaited: boolean): Promise<void> {
  while (line.size > 0) {
    if (await giveTurn(line, hasWaited)) return;
  }
}

/** @returns whether the turn was used. */
function giveTurn(line: ReadonlySet<Waiter>, hasWaited: boolean): Promise<boolean> {
  const lowest = Math.min(...[...line].map(({ rank }) => rank));
  const next = pickOne([...line].filter(({ rank }) => rank === lowest));
  return new Promise((end) => next?.leave({ hasWaited, end }));
}

/** The waiting logins of the networks that have the most. */
function largestGroups(waiting: Iterable<Waiter>): readonly Waiter[] {
  const groups = [...Map.groupBy(waiting, ({ network }) => network).values()];
  const most = Math.max(...groups.map(({ length }) => length));
  return groups.filter(({ length }) => length === most).flat();
}

function pickOne<Item>(items: readonly Item[]): Item | undefined {
  return items.length === 0 ? undefined : items[randomInt(items.length)];
}
