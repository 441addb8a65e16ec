/**
 * Notices that the database went back in time: a row that this process saw committed is missing.
 * Then all sends are paused, because a repeat of a lost one would pay twice.
 */
import type { LocalContext } from '../context/context.ts';
import { beginPause } from './pause-repository.ts';
import { readStored, type PixTransaction } from './pix-transaction-repository.ts';

/** How much earlier than the missing row other commits may be lost, in milliseconds. */
const earlierMs = 60 * 60_000;

/** The author of an automatic pause. */
const byService = 'ponte';

/** A commit that is missing. */
export interface LostCommit {
  /** What is missing, in fixed words. */
  readonly missing: string;
  /** A time at which this process knew it to be committed. */
  readonly committedAt: Date;
}

/**
 * Pauses all sends, unless the loss is recorded.
 * @returns whether sends are paused for it: false when it is recorded, so that the users whose
 *   statements were read since may send.
 */
export async function noticeLostCommit(
  context: LocalContext,
  { missing, committedAt }: LostCommit,
): Promise<boolean> {
  const { log, metrics } = context;
  metrics.lostCommits.inc();
  const lostSince = new Date(committedAt.getTime() - earlierMs);
  const reason = `a commit is missing: ${missing}`;
  const pause = { by: byService, reason, lostSince, missingSince: committedAt };
  const result = await beginPause(context, pause);
  const facts = { missing, committedAt, pause: result };
  log.error(facts, 'the database went back in time: a commit is missing');
  return result !== null;
}

/** @returns the transaction as it is stored now, or the given one when its commit is lost. */
export async function rereadTransaction(
  context: LocalContext,
  transaction: PixTransaction,
): Promise<PixTransaction> {
  const stored = await readStored(context, transaction);
  if (stored) return stored;
  await noticeLostCommit(context, {
    missing: 'a transaction',
    committedAt: context.clock.now(),
  });
  return transaction;
}
