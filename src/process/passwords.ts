/**
 * Password hashes: argon2id (RFC 9106) in the thread pool, a few at a time, behind bounded queues.
 * A storm of logins fills its queue and gets BUSY; it does not occupy the pool, which also serves
 * files and name look-ups, and it does not exhaust the memory.
 *
 * Anyone can send guesses and registrations: they have a lane with a share of the places, and never
 * all of them. Logins from a known address have a lane of their own, which goes first. In each
 * queue the networks take turns.
 */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { normalisePassword } from '../domain/text.ts';
import { AppError } from '../errors.ts';
import { FairQueue } from './fair-queue.ts';

export interface PasswordsOptions {
  /** The places of all lanes together. libuv's pool has four threads. */
  readonly concurrency?: number;
  /** The most places of one lane. */
  readonly share?: number;
  /** The logins that may wait in each lane; each takes about 15 ms. */
  readonly queueLimit?: number;
  /** The new passwords that may wait. */
  readonly hashQueueLimit?: number;
}

export interface Passwords {
  /**
   * @param network whose turn it is in; an operator's by default.
   * @returns a PHC string: `$argon2id$v=19$m=19456,t=2,p=1$<nonce>$<tag>`.
   * @throws RangeError when the password has more than 1,024 code units.
   * @throws AppError BUSY when the queue is full.
   */
  hash(password: string, network?: string): Promise<string>;
  /**
   * Verifies a password. If `stored` is null (no such user) or not a valid hash, the result is
   * false after the same time as for a wrong password.
   * @param options `isKnown`: the user has logged in from this address before, or the device has
   *   shown its token; such a login does not wait for the logins of others. `network`: whose turn
   *   it is in. `signal` ends the wait.
   * @throws AppError BUSY when the queue is full, or the signal aborts before the hash begins.
   */
  verify(
    password: string,
    stored: string | null,
    options?: {
      readonly isKnown?: boolean;
      readonly network?: string;
      readonly signal?: AbortSignal;
    },
  ): Promise<boolean>;
  /** Whether a stored hash has other parameters than {@link Passwords.hash} uses. */
  isOld(stored: string): boolean;
  /** The number of running and waiting computations. */
  load(): { readonly running: number; readonly waiting: number };
}

/** OWASP's Password Storage Cheat Sheet: argon2id with 19 MiB, two passes, one lane. */
const currentCost: Cost = { memory: 19_456, passes: 2, parallelism: 1 };

/** A stored hash with a higher cost is not accepted. */
const maxCost: Cost = { memory: 262_144, passes: 16, parallelism: 4 };

const tagBytes = 32;
const nonceBytes = 16;

interface Cost {
  /** Memory in KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

interface Hash {
  readonly cost: Cost;
  readonly nonce: Buffer;
  readonly tag: Buffer;
}

/** Compared when there is no hash. No password has an all-zero tag. */
const dummy: Hash = {
  cost: currentCost,
  nonce: Buffer.alloc(nonceBytes),
  tag: Buffer.alloc(tagBytes),
};

/** Creates the lanes of one process. */
export function createPasswords(options: PasswordsOptions = {}): Passwords {
  const { concurrency = 3, share = 2, queueLimit = 256, hashQueueLimit = 64 } = options;
  const pool = createPool(concurrency);
  const customers = pool.addLane(share);
  const anonymous = pool.addLane(share);
  const customerLogins = customers.addQueue(queueLimit);
  const strangerLogins = anonymous.addQueue(queueLimit);
  const newPasswords = anonymous.addQueue(hashQueueLimit);
  return {
    hash: (password, network = '') =>
      newPasswords({ network }, async () => {
        const nonce = randomBytes(nonceBytes);
        const tag = await derive(password, nonce, currentCost);
        return phcString({ cost: currentCost, nonce, tag });
      }),
    verify: (password, stored, { isKnown = false, network = '', signal } = {}) =>
      (isKnown ? customerLogins : strangerLogins)({ network, signal }, async () => {
        const known = stored === null ? null : readPhcString(stored);
        const { cost, nonce, tag } = known ?? dummy;
        const same = timingSafeEqual(await derive(password, nonce, cost), tag);
        return same && known !== null;
      }),
    load: () => pool.load(),
    isOld(stored) {
      const cost = readPhcString(stored)?.cost;
      return cost !== undefined && !isDeepStrictEqual(cost, currentCost);
    },
  };
}

function derive(password: string, nonce: Buffer, cost: Cost): Promise<Buffer> {
  const message = Buffer.from(normalisePassword(password), 'utf8');
  const parameters = { ...cost, message, nonce, tagLength: tagBytes };
  return new Promise((resolve, reject) => {
    argon2('argon2id', parameters, (error, tag) => (error ? reject(error) : resolve(tag)));
  });
}

function phcString({ cost, nonce, tag }: Hash): string {
  const parameters = `m=${cost.memory},t=${cost.passes},p=${cost.parallelism}`;
  return `$argon2id$v=19$${parameters}$${unpadded(nonce)}$${unpadded(tag)}`;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}

const phcPattern =
  /^\$argon2id\$v=19\$m=(\d{1,6}),t=(\d{1,2}),p=(\d)\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

/** Reads the cost from the text, so that hashes stay valid when {@link currentCost} changes. */
function readPhcString(stored: string): Hash | null {
  const [, m, t, p, nonce, tag] = phcPattern.exec(stored) ?? [];
  if (nonce === undefined || tag === undefined) return null;
  const cost = { memory: Number(m), passes: Number(t), parallelism: Number(p) };
  if (!isAllowed(cost)) return null;
  return { cost, nonce: Buffer.from(nonce, 'base64'), tag: Buffer.from(tag, 'base64') };
}

/** RFC 9106 section 3.1: at least one pass, one lane, and 8 KiB for each lane. */
function isAllowed({ memory, passes, parallelism }: Cost): boolean {
  return (
    memory >= 8 * parallelism &&
    memory <= maxCost.memory &&
    passes >= 1 &&
    passes <= maxCost.passes &&
    parallelism >= 1 &&
    parallelism <= maxCost.parallelism
  );
}

interface Place {
  readonly network: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs work when the lane has a free slot.
 * @throws AppError BUSY when the queue is full, or the signal aborts first.
 */
type Queue = <Result>(place: Place, work: () => Promise<Result>) => Promise<Result>;

interface Lane {
  /** @param limit the largest number of waiting items. */
  addQueue(limit: number): Queue;
}

interface Pool {
  /** @param share the most places that the lane uses at once. */
  addLane(share: number): Lane;
  readonly load: Passwords['load'];
}

interface LaneState {
  readonly share: number;
  running: number;
  /** Queues take turns. */
  readonly queues: FairQueue[];
}

/** @returns false when the wait has ended without a turn. */
function waitIn(queue: FairQueue, { network, signal }: Place): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (hasTurn: boolean): void => {
      signal?.removeEventListener('abort', leave);
      resolve(hasTurn);
    };
    const waiter = { network, begin: () => end(true), refuse: () => end(false) };
    const leave = (): void => {
      queue.delete(waiter);
      resolve(false);
    };
    if (queue.add(waiter)) signal?.addEventListener('abort', leave, { once: true });
    else resolve(false);
  });
}

/** Runs the work of several lanes concurrently; a free place goes to the first lane that waits. */
function createPool(concurrency: number): Pool {
  const lanes: LaneState[] = [];
  const running = (): number => lanes.reduce((sum, lane) => sum + lane.running, 0);

  const mayRun = (lane: LaneState): boolean => lane.running < lane.share && running() < concurrency;

  const startNext = (): void => {
    for (const lane of lanes) {
      const queue = lane.queues.find(({ size }) => size > 0);
      if (!queue || !mayRun(lane)) continue;
      lane.queues.push(...lane.queues.splice(lane.queues.indexOf(queue), 1));
      lane.running += 1;
      queue.take()?.begin();
      return;
    }
  };

  const addLane = (share: number): Lane => {
    const lane: LaneState = { share, running: 0, queues: [] };
    lanes.push(lane);
    const addQueue = (limit: number): Queue => {
      const queue = new FairQueue(limit);
      lane.queues.push(queue);
      return async (place, work) => {
        const busy = (): AppError => new AppError('BUSY', { headers: { 'Retry-After': '1' } });
        if (place.signal?.aborted) throw busy();
        if (mayRun(lane)) lane.running += 1;
        else if (!(await waitIn(queue, place))) throw busy();
        try {
          return await work();
        } finally {
          lane.running -= 1;
          startNext();
        }
      };
    };
    return { addQueue };
  };

  const load = (): ReturnType<Pool['load']> => {
    const waiting = lanes.flatMap(({ queues }) => queues).map(({ size }) => size);
    return { running: running(), waiting: waiting.reduce((sum, length) => sum + length, 0) };
  };
  return { addLane, load };
}
