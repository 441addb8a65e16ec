/** Waiting for a transaction's status to leave PROCESSING, without holding a connection. */
import { pause } from '../clock.ts';
import type { LocalContext } from '../context.ts';
import { endsChannel } from '../db/queries/tell-ends.ts';
import { isDatabaseUnavailable } from '../db/unavailable.ts';
import type { PixViewRow } from './transactions.ts';

/** More than an app has open at once, and too few to fill a process with one user's waits. */
const mostWaitsOfUser = 10;

/** How often a wait looks by itself while nothing can be notified. */
const pollMs = 1_500;

/** How many waits each user has in this process, which has one context. */
const waitsByUser = new WeakMap<LocalContext, Map<number, number>>();

export interface Wait {
  readonly userId: number;
  readonly transactionId: string;
  readonly find: () => Promise<PixViewRow | null>;
  readonly waitMs: number;
  /** Ends the wait early: the client has gone. */
  readonly signal: AbortSignal;
}

/** What came of a wait: the transaction as it was found at its end. */
export type WaitResult =
  | { readonly waited: true; readonly transaction: PixViewRow | null }
  /** The user waits for ten transactions already: this one is not waited for. */
  | { readonly waited: false };

/** @returns the transaction as soon as its status is final, or as it is when the wait ends. */
export async function changeOf(context: LocalContext, wait: Wait): Promise<WaitResult> {
  const leave = enter(context, wait.userId);
  if (!leave) return { waited: false };
  try {
    return { waited: true, transaction: await settled(context, wait) };
  } finally {
    leave();
  }
}

/** @returns what ends the wait that it counts, or null when the user has as many as may be. */
function enter(context: LocalContext, userId: number): (() => void) | null {
  const waits = waitsByUser.get(context) ?? new Map<number, number>();
  waitsByUser.set(context, waits);
  const count = waits.get(userId) ?? 0;
  if (count >= mostWaitsOfUser) return null;
  waits.set(userId, count + 1);
  return () => {
    const left = (waits.get(userId) ?? 1) - 1;
    if (left === 0) waits.delete(userId);
    else waits.set(userId, left);
  };
}

async function settled(context: LocalContext, wait: Wait): Promise<PixViewRow | null> {
  const { clock, db, stopping } = context;
  const endsAtMs = clock.now().getTime() + wait.waitMs;
  const leftMs = (): number => {
    if (wait.signal.aborted || stopping.aborted) return 0;
    return endsAtMs - clock.now().getTime();
  };
  let news = new AbortController();
  const stopListening = await db.listen(endsChannel, (ids) => {
    // An empty payload says that it may have ended: many have, or notifications were missed.
    if (ids === '' || ids.includes(wait.transactionId)) news.abort();
  });
  try {
    for (;;) {
      // What is told from here on is news: the status may change before the next look.
      news = new AbortController();
      const seen = await look(wait);
      const isOver = leftMs() <= 0;
      if ('found' in seen && (seen.found?.status !== 'PROCESSING' || isOver)) return seen.found;
      if ('failure' in seen && isOver) throw seen.failure;
      const isTold = 'found' in seen && db.notificationsUp();
      const pauseMs = isTold ? leftMs() : Math.min(leftMs(), pollMs);
      await pause(clock, pauseMs, AbortSignal.any([news.signal, wait.signal, stopping]));
    }
  } finally {
    await stopListening();
  }
}

/** A wait outlasts a database that is away for a moment. */
async function look({
  find,
}: Wait): Promise<{ readonly found: PixViewRow | null } | { readonly failure: Error }> {
  try {
    return { found: await find() };
  } catch (error) {
    if (error instanceof Error && isDatabaseUnavailable(error)) return { failure: error };
    throw error;
  }
}
