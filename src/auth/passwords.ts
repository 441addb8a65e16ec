/**
 * Passwords: argon2id (RFC 9106) in the thread pool, a few at a time, behind bounded queues. A
 * login storm then fills its queue and is answered "busy"; it does not starve the pool, which
 * serves files and name look-ups too, nor does it eat the memory. New passwords have a queue of
 * their own: registrations, which anyone can send, take no place from logins.
 */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../errors.ts';

export interface PasswordsOptions {
  /** How many are verified at once; libuv's pool has four threads, and one more hashes. */
  readonly concurrency?: number;
  /** How many may wait to be verified; about 15 ms each at a concurrency of two. */
  readonly queueLimit?: number;
  /** How many may wait to be hashed. */
  readonly hashQueueLimit?: number;
}

export interface Passwords {
  /**
   * @returns a PHC string: `$argon2id$v=19$m=19456,t=2,p=1$<nonce>$<tag>`.
   * @throws RangeError when the password has more than 1,024 code units.
   * @throws AppError BUSY when the queue is full.
   */
  hash(password: string): Promise<string>;
  /**
   * Null stands for a user that does not exist: it costs as much as a wrong password and is false.
   * So does a stored text that is not a hash of ours.
   * @param options `isKnown`: the user has logged in from this address before; such a login goes
   *   before the logins of strangers, and has places of its own in the queue.
   * @throws AppError BUSY when the queue is full.
   */
  verify(
    password: string,
    stored: string | null,
    options?: { readonly isKnown?: boolean },
  ): Promise<boolean>;
  /** Whether a stored text was made with other parameters than {@link Passwords.hash} takes now. */
  isOld(stored: string): boolean;
  /** How many are being hashed, and how many wait, at this moment. */
  load(): { readonly running: number; readonly waiting: number };
}

/** OWASP's Password Storage Cheat Sheet: argon2id with 19 MiB, two passes, one lane. */
const currentCost: Cost = { memory: 19_456, passes: 2, parallelism: 1 };

/** A stored text that asks for more than this is not a hash of ours, now or later. */
const maxCost: Cost = { memory: 262_144, passes: 16, parallelism: 4 };

const tagBytes = 32;
const nonceBytes = 16;

interface Cost {
  /** In KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

interface Hash {
  readonly cost: Cost;
  readonly nonce: Buffer;
  readonly tag: Buffer;
}

/** What is checked when there is nothing to check. No password has an all-zero tag. */
const dummy: Hash = {
  cost: currentCost,
  nonce: Buffer.alloc(nonceBytes),
  tag: Buffer.alloc(tagBytes),
};

/** Makes the hashing of passwords, with its own places in the thread pool and its own queue. */
export function createPasswords(options: PasswordsOptions = {}): Passwords {
  const verifying = createTurns(options.concurrency ?? 2, options.queueLimit ?? 64);
  const hashing = createTurns(1, options.hashQueueLimit ?? 32);
  return {
    hash: (password) =>
      hashing.inTurn(async () => {
        const nonce = randomBytes(nonceBytes);
        const tag = await derive(password, nonce, currentCost);
        return phcString({ cost: currentCost, nonce, tag });
      }),
    verify: (password, stored, { isKnown = false } = {}) =>
      verifying.inTurn(async () => {
        const known = stored === null ? null : readPhcString(stored);
        const { cost, nonce, tag } = known ?? dummy;
        const same = timingSafeEqual(await derive(password, nonce, cost), tag);
        return same && known !== null;
      }, isKnown),
    load: () => ({
      running: verifying.load().running + hashing.load().running,
      waiting: verifying.load().waiting + hashing.load().waiting,
    }),
    isOld(stored) {
      const cost = readPhcString(stored)?.cost;
      return cost !== undefined && !isDeepStrictEqual(cost, currentCost);
    },
  };
}

/** In code units, beyond what any caller accepts: long texts take long to normalise. */
const MAX_PASSWORD_LENGTH = 1_024;

/**
 * Normalised to NFKC (NIST SP 800-63B section 5.1.1.2), because one keyboard writes "ã" as one
 * code point and another as two.
 */
function derive(password: string, nonce: Buffer, cost: Cost): Promise<Buffer> {
  if (password.length > MAX_PASSWORD_LENGTH) throw new RangeError('too long for a password');
  const message = Buffer.from(password.normalize('NFKC'), 'utf8');
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

/** Reads the cost from the text, so that hashes outlive a change of {@link currentCost}. */
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

interface Turns {
  /** @param isPreferred whether it goes before all that waits and is not preferred. */
  inTurn<Result>(work: () => Promise<Result>, isPreferred?: boolean): Promise<Result>;
  readonly load: Passwords['load'];
}

/**
 * Runs a few at once and lets a bounded number wait: preferred work before other work, each first
 * come, first served, and each with a bound of its own.
 */
function createTurns(concurrency: number, queueLimit: number): Turns {
  const preferred: (() => void)[] = [];
  const others: (() => void)[] = [];
  let running = 0;

  const inTurn: Turns['inTurn'] = async (work, isPreferred = false) => {
    const waiting = isPreferred ? preferred : others;
    if (running < concurrency) {
      running += 1;
    } else if (waiting.length < queueLimit) {
      // Whoever finishes hands over the place, so `running` stays as it is.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      throw new AppError('BUSY', { headers: { 'Retry-After': '1' } });
    }
    try {
      return await work();
    } finally {
      const next = preferred.shift() ?? others.shift();
      if (next) next();
      else running -= 1;
    }
  };
  return { inTurn, load: () => ({ running, waiting: preferred.length + others.length }) };
}
