/** `pix list`: transactions, and those that are stuck. */
import { staleAfterMs } from '../domain/call-duration.ts';
import type { PixPhase, PixStatus } from '../domain/pix.ts';
import type { Op } from './op.ts';
import {
  findCorrectedPix,
  findPixList,
  findStuckPix,
  type InspectedPix,
} from './pix-repository.ts';
import { viewOfPix, type PixView } from './pix-view.ts';

/** How long the provider may take to report the end of a payment that it accepted. */
const eventExpectedWithinMs = 10 * 60_000;

export interface PixListInput {
  readonly userId?: number;
  readonly status?: PixStatus;
  readonly phase?: PixPhase;
  /** Only transactions that were created longer ago. */
  readonly olderThanMs?: number;
  /** Only payments that may have been sent and that no process can settle, oldest first. */
  readonly stuck?: boolean;
  /** Only transactions that had failed and were paid, the last corrected first. */
  readonly corrected?: boolean;
  readonly limit: number;
}

/** Lists transactions: newest first, stuck ones oldest first, the last corrected first. */
export const listPix: Op<PixListInput, { readonly transactions: readonly PixView[] }> = {
  async run(context, { olderThanMs, stuck = false, corrected = false, ...filter }) {
    const nowMs = context.clock.now().getTime();
    const ago = (ms: number): Date => new Date(nowMs - ms);
    const which = {
      ...filter,
      ...(olderThanMs !== undefined && { createdUntil: ago(olderThanMs) }),
    };
    const find = (): Promise<InspectedPix[]> => {
      if (corrected) return findCorrectedPix(context, which);
      if (!stuck) return findPixList(context, which);
      return findStuckPix(context, which, {
        paying: ago(staleAfterMs(context.config.provider)),
        accepted: ago(eventExpectedWithinMs),
      });
    };
    return { transactions: (await find()).map(viewOfPix) };
  },
};
