/** `pix list`: transactions, and those that are stuck. */
import { listPix as all, listStuckPix, type InspectedPixRow } from '../db/queries/inspect-pix.ts';
import { staleAfterMs } from '../domain/call-duration.ts';
import type { PixPhase, PixStatus } from '../domain/pix.ts';
import type { Op } from './op.ts';
import { viewOfPix, type PixView } from './pix-view.ts';

/** How long the provider may take to tell how a payment that it took has ended. */
const eventExpectedWithinMs = 10 * 60_000;

export interface PixListInput {
  readonly userId?: number;
  readonly status?: PixStatus;
  readonly phase?: PixPhase;
  /** Only what was made longer ago. */
  readonly olderThanMs?: number;
  /** Only sends that may have left and that nobody here can move on, oldest first. */
  readonly stuck?: boolean;
  readonly limit: number;
}

/** Gives transactions: newest first, and stuck ones oldest first. */
export const listPix: Op<PixListInput, { readonly transactions: readonly PixView[] }> = {
  async run({ config, db, clock }, { userId, status, phase, olderThanMs, stuck = false, limit }) {
    const now = clock.now();
    const ago = (ms: number): Date => new Date(now.getTime() - ms);
    const createdUntil = olderThanMs === undefined ? null : ago(olderThanMs);
    const filter = [userId ?? null, status ?? null, phase ?? null, createdUntil, limit];
    const rows = stuck
      ? await db.query<InspectedPixRow>(listStuckPix, [
          ...filter,
          ago(staleAfterMs(config.provider)),
          now,
          ago(eventExpectedWithinMs),
        ])
      : await db.query<InspectedPixRow>(all, filter);
    return { transactions: rows.map(viewOfPix) };
  },
};
