/** Waiting for a transaction's status to leave PROCESSING, without holding a connection. */
import { pause } from '../clock.ts';
import type { Context } from '../context.ts';
import type { PixTransactionRow } from './pix-transactions.ts';

/** Told by the database when a transaction gets a final status; the payload is its id. */
const pixChannel = 'ponte_pix';

export interface Wait {
  readonly transactionId: string;
  readonly find: () => Promise<PixTransactionRow | null>;
  readonly waitMs: number;
  /** Ends the wait early: the client has gone. */
  readonly signal: AbortSignal;
}

/** @returns the transaction as soon as its status is final, or as it is when the wait ends. */
export async function changeOf(context: Context, wait: Wait): Promise<PixTransactionRow | null> {
  const settled = new AbortController();
  const stopListening = await context.db.listen(pixChannel, (id) => {
    // An empty payload says that notifications may have been missed.
    if (id === wait.transactionId || id === '') settled.abort();
  });
  const ended = AbortSignal.any([settled.signal, wait.signal, context.stopping]);
  try {
    // The status may have changed before the listening began.
    const now = await wait.find();
    if (now?.status !== 'PROCESSING') return now;
    await pause(context.clock, wait.waitMs, ended);
    return await wait.find();
  } finally {
    await stopListening();
  }
}
