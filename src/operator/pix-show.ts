/** `pix show`: one transaction with its timeline, what it waits for and what can be done. */
import { OpError, type Op } from './op.ts';
import { nextStepOf } from './pix-next-step.ts';
import { recordReading } from './operator-action-repository.ts';
import { findPix, findRefunds, findTimeline, type TimelineEntry } from './pix-repository.ts';
import { viewOfPix, type PixView } from './pix-view.ts';

/** More rows than a regular transaction has; a provider that keeps contradicting adds more. */
const longestTimeline = 500;

const mostRefunds = 100;

/** An entry of the timeline; its time is an ISO 8601 text. */
export type TimelineView = Omit<TimelineEntry, 'at'> & { readonly at: string };

export interface PixShown {
  readonly transaction: PixView;
  /** In order; the first rows of a very long one. */
  readonly timeline: readonly TimelineView[];
  readonly timelineIsCut: boolean;
  /** The first refunds of the transaction. */
  readonly refunds: readonly PixView[];
  readonly waitsFor: string;
  readonly operator: string;
}

/**
 * Shows a transaction.
 * @throws OpError when there is none.
 */
export const showPix: Op<{ readonly id: string }, PixShown> = {
  async run(context, { id }, { operator, reason }) {
    const pix = await findPix(context, id);
    if (!pix) throw new OpError('NOT_FOUND', `there is no transaction ${id}`);
    await recordReading(context, { operator, reason, command: 'pix show' }, [`pix:${id}`]);
    const refunds = pix.refundedAmount === null ? [] : await findRefunds(context, id, mostRefunds);
    const timeline = await findTimeline(context, id, longestTimeline + 1);
    return {
      transaction: viewOfPix(pix),
      timeline: timeline.slice(0, longestTimeline).map(viewOfTimeline),
      timelineIsCut: timeline.length > longestTimeline,
      refunds: refunds.map(viewOfPix),
      ...nextStepOf(pix, {
        now: context.clock.now(),
        calls: context.config.provider,
        hasSession: pix.hasSession,
        hasAnomaly: timeline.some(({ phase }) => phase === 'ANOMALY'),
      }),
    };
  },
};

function viewOfTimeline({ at, ...entry }: TimelineEntry): TimelineView {
  return { at: at.toISOString(), ...entry };
}
