/** `pix list`: transactions, and those that are stuck. */
import { staleAfterMs } from '../domain/call-duration.ts';
import { decimalFromCents } from '../domain/money.ts';
import type { PixPhase, PixStatus } from '../domain/pix.ts';
import type { Op } from './op.ts';
import {
  findCorrectedPix,
  findPixList,
  findStuckPix,
  type InspectedPix,
} from './pix-repository.ts';
import { viewOfPix, type PixView } from './pix-view.ts';
import { findUser } from './users.ts';

/** How long the provider may take to report the end of a payment that it accepted. */
const eventExpectedWithinMs = 10 * 60_000;

export interface PixListInput {
  readonly userId?: number;
  /** The e-mail of a user, or its id as a text. */
  readonly user?: string;
  readonly status?: PixStatus;
  readonly phase?: PixPhase;
  /** Only transactions that were created longer ago. */
  readonly olderThanMs?: number;
  /** ISO 8601: only transactions that were created since, or until, this time. */
  readonly since?: string;
  readonly until?: string;
  /** In centavos. */
  readonly amountCents?: number;
  /** Only payments that may have been sent and that no process can settle, oldest first. */
  readonly stuck?: boolean;
  /** Only transactions that had failed and were paid, the last corrected first. */
  readonly corrected?: boolean;
  readonly limit: number;
}

/**
 * Lists transactions: newest first, stuck ones oldest first, the last corrected first.
 * @throws OpError when there is no such user.
 */
export const listPix: Op<PixListInput, { readonly transactions: readonly PixView[] }> = {
  async run(context, { stuck = false, corrected = false, ...input }) {
    const nowMs = context.clock.now().getTime();
    const ago = (ms: number): Date => new Date(nowMs - ms);
    const { userId, status, phase, limit, olderThanMs, since, until, amountCents } = input;
    const ends = [
      ...(olderThanMs === undefined ? [] : [nowMs - olderThanMs]),
      ...(until === undefined ? [] : [Date.parse(until)]),
    ];
    const which = {
      userId: input.user === undefined ? userId : (await findUser(context, input.user)).id,
      status,
      phase,
      limit,
      ...(ends.length > 0 && { createdUntil: new Date(Math.min(...ends)) }),
      ...(since !== undefined && { createdSince: new Date(since) }),
      ...(amountCents !== undefined && { amount: decimalFromCents(amountCents) }),
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
