/** `pix list`: transactions, and those that are stuck. */
import { staleAfterMs } from '../domain/call-duration.ts';
import type { PixPhase, PixStatus } from '../domain/pix.ts';
import type { Op } from './op.ts';
import { findPixList, findStuckPix } from './pix-repository.ts';
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
  readonly limit: number;
}

/** Lists transactions: newest first, and stuck ones oldest first. */
export const listPix: Op<PixListInput, { readonly transactions: readonly PixView[] }> = {
  async run(context, { olderThanMs, stuck = false, ...filter }) {
    const nowMs = context.clock.now().getTime();
    const ago = (ms: number): Date => new Date(nowMs - ms);
    const which = {
      ...filter,
      ...(olderThanMs !== undefined && { createdUntil: ago(olderThanMs) }),
    };
    const found = stuck
      ? await findStuckPix(context, which, {
          paying: ago(staleAfterMs(context.config.provider)),
          accepted: ago(eventExpectedWithinMs),
        })
      : await findPixList(context, which);
    return { transactions: found.map(viewOfPix) };
  },
};
