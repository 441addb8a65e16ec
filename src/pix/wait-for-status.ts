/** Waits for a transaction's status to leave PROCESSING, without holding a connection. */
import { pause } from '../clock.ts';
import type { LocalContext } from '../context/context.ts';
import { isDatabaseUnavailable } from '../db/unavailable.ts';
import { finalStatusChannel } from '../ledger/move-repository.ts';
import type { PixView } from '../ledger/pix-transaction-repository.ts';

/** More than an app has open at once, and too few to fill a process with one user's waits. */
const maxWaitsOfUser = 10;

/** How often a wait reads the transaction while notifications do not arrive. */
const pollMs = 1_500;

/** How many waits each user has in this process, which has one context. */
const waitsByUser = new WeakMap<LocalContext, Map<number, number>>();

export interface Wait {
  readonly userId: number;
  readonly transactionId: string;
  readonly find: () => Promise<PixView | null>;
  readonly waitMs: number;
  /** Ends the wait early: the client has disconnected. */
  readonly signal: AbortSignal;
}

/** The result of a wait: the transaction as it was at its end. */
export type WaitResult =
  | { readonly waited: true; readonly transaction: PixView | null }
  /** The user has ten waits already: this one is refused. */
  | { readonly waited: false };

/** @returns the transaction when its status is final, or as it is when the wait ends. */
export async function waitForStatus(context: LocalContext, wait: Wait): Promise<WaitResult> {
  const release = acquire(context, wait.userId);
  if (!release) return { waited: false };
  try {
    return { waited: true, transaction: await finalStatus(context, wait) };
  } finally {
    release();
  }
}

/** @returns a function that releases the counted wait, or null when the user has too many. */
function acquire(context: LocalContext, userId: number): (() => void) | null {
  const waits = waitsByUser.get(context) ?? new Map<number, number>();
  waitsByUser.set(context, waits);
  const count = waits.get(userId) ?? 0;
  if (count >= maxWaitsOfUser) return null;
  waits.set(userId, count + 1);
  return () => {
    const remaining = (waits.get(userId) ?? 1) - 1;
    if (remaining === 0) waits.delete(userId);
    else waits.set(userId, remaining);
  };
}

async function finalStatus(context: LocalContext, wait: Wait): Promise<PixView | null> {
  const { clock, db, stopping } = context;
  const endsAtMs = clock.now().getTime() + wait.waitMs;
  const remainingMs = (): number => {
    if (wait.signal.aborted || stopping.aborted) return 0;
    return endsAtMs - clock.now().getTime();
  };
  let notified = new AbortController();
  const stopListening = await db.listen(finalStatusChannel, (ids) => {
    // An empty payload: many transactions are settled, or notifications were missed.
    if (ids === '' || ids.includes(wait.transactionId)) notified.abort();
  });
  try {
    for (;;) {
      // Before the read: the status may change between the read and the pause.
      notified = new AbortController();
      const read = await tryRead(wait);
      const isOver = remainingMs() <= 0;
      if ('found' in read && (read.found?.status !== 'PROCESSING' || isOver)) return read.found;
      if ('failure' in read && isOver) throw read.failure;
      const isNotified = 'found' in read && db.notificationsUp();
      const pauseMs = isNotified ? remainingMs() : Math.min(remainingMs(), pollMs);
      await pause(clock, pauseMs, AbortSignal.any([notified.signal, wait.signal, stopping]));
    }
  } finally {
    await stopListening();
  }
}

/** A wait survives a database that is unavailable for a moment. */
async function tryRead({
  find,
}: Wait): Promise<{ readonly found: PixView | null } | { readonly failure: Error }> {
  try {
    return { found: await find() };
  } catch (error) {
    if (error instanceof Error && isDatabaseUnavailable(error)) return { failure: error };
    throw error;
  }
}
