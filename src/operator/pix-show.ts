/** `pix show`: one transaction with its timeline, what it waits for and what can be done. */
import { participantName } from '../domain/bank.ts';
import type { ShownOwner } from '../domain/key-owner.ts';
import { maskName } from '../domain/text.ts';
import type { Op } from './op.ts';
import { nextStep } from './pix-next-step.ts';
import { recordReading } from './operator-action-repository.ts';
import { viewDispute, type DisputeView } from './pix-disputes.ts';
import { findNamedPix } from './pix-reference.ts';
import {
  findRefunds,
  findTimeline,
  type InspectedPix,
  type TimelineEntry,
} from './pix-repository.ts';
import { viewOfPix, type PixView } from './pix-view.ts';

/** More rows than a regular transaction has; a provider that keeps contradicting adds more. */
const maxTimelineSteps = 500;

const maxRefunds = 100;

/** An entry of the timeline; its time is an ISO 8601 text. */
export type TimelineView = Omit<TimelineEntry, 'at'> & { readonly at: string };

/** The owner of a Pix key; what is not known is null. */
export interface PayeeView {
  /** The first letter of each word, such as `B*** S***`. */
  readonly name: string | null;
  /** The masked document. */
  readonly document: string | null;
  /** The institution of the account. */
  readonly ispb: string | null;
  /** The name of the institution in the list of participants of Pix. */
  readonly bank: string | null;
}

export interface PixShown {
  readonly transaction: PixView;
  /** Of a send: whom it pays, masked; null: the directory did not say. */
  readonly payee: PayeeView | null;
  /** In order; the first rows of a very long one. */
  readonly timeline: readonly TimelineView[];
  readonly timelineIsCut: boolean;
  /** The first refunds of the transaction. */
  readonly refunds: readonly PixView[];
  /** The dispute of a send; null: there is none. */
  readonly dispute: DisputeView | null;
  readonly waitsFor: string;
  readonly operator: string;
}

/**
 * Shows a transaction.
 * @param id any of its ids, see `pix-reference.ts`.
 * @throws OpError when there is none, or when the id is one of several.
 */
export const showPix: Op<{ readonly id: string }, PixShown> = {
  async run(context, { id: reference }, { operator, reason }) {
    const pix = await findNamedPix(context, reference);
    const { id, payee } = pix;
    await recordReading(context, { operator, reason, command: 'pix show' }, [`pix:${id}`]);
    const refunds = isReceived(pix) ? await findRefunds(context, id, maxRefunds) : [];
    const timeline = await findTimeline(context, id, maxTimelineSteps + 1);
    return {
      transaction: viewOfPix(pix),
      payee: viewOfPayee(payee),
      timeline: timeline.slice(0, maxTimelineSteps).map(viewOfTimeline),
      timelineIsCut: timeline.length > maxTimelineSteps,
      refunds: refunds.map(viewOfPix),
      dispute: await viewDispute(context, pix),
      ...nextStep(pix, {
        now: context.clock.now(),
        calls: context.config.provider,
        hasSession: pix.hasSession,
        mayBeLost: pix.mayBeLost,
        hasAnomaly: timeline.some(({ phase }) => phase === 'ANOMALY'),
      }),
    };
  },
};

/** A return that has failed is in no sum. */
function isReceived({ operation, refundedAmount }: InspectedPix): boolean {
  return operation === 'CHARGE' || operation === 'RECEIVED' || refundedAmount !== null;
}

function viewOfPayee(payee: ShownOwner | null): PayeeView | null {
  if (payee === null) return null;
  const { name, document = null, ispb = null } = payee;
  const bank = ispb === null ? null : participantName(ispb);
  return { name: name === undefined ? null : maskName(name), document, ispb, bank };
}

function viewOfTimeline({ at, ...entry }: TimelineEntry): TimelineView {
  return { at: at.toISOString(), ...entry };
}
