/** `pix show`: one transaction with its timeline, what it waits for and what can be done. */
import {
  inspectPix,
  timelineOf,
  type InspectedPixRow,
  type TimelineRow,
} from '../db/queries/inspect-pix.ts';
import { isUuid } from '../domain/uuid.ts';
import { OpError, type Op } from './op.ts';
import { nextStepOf } from './pix-next-step.ts';
import { viewOfPix, type PixView } from './pix-view.ts';

/** More rows than any honest transaction has; a provider that goes on contradicting adds them. */
const longestTimeline = 500;

export interface TimelineView {
  /** ISO 8601. */
  readonly at: string;
  readonly phase: string;
  readonly attempt: number | null;
  /** How the provider's answer looked, such as `2xx` or `timeout`. */
  readonly providerStatus: string | null;
  readonly eventId: string | null;
  readonly note: string | null;
}

export interface PixShown {
  readonly transaction: PixView;
  /** In order; the first rows of a very long one. */
  readonly timeline: readonly TimelineView[];
  readonly timelineIsCut: boolean;
  readonly waitsFor: string;
  readonly operator: string;
}

/**
 * Shows a transaction.
 * @throws OpError when there is none.
 */
export const showPix: Op<{ readonly id: string }, PixShown> = {
  async run({ config, db, clock }, { id }) {
    const now = clock.now();
    const [row] = isUuid(id)
      ? await db.query<InspectedPixRow & { readonly has_session: boolean }>(inspectPix, [id, now])
      : [];
    if (!row) throw new OpError('NOT_FOUND', `there is no transaction ${id}`);
    const rows = await db.query<TimelineRow>(timelineOf, [id, longestTimeline + 1]);
    return {
      transaction: viewOfPix(row),
      timeline: rows.slice(0, longestTimeline).map(viewOfTimeline),
      timelineIsCut: rows.length > longestTimeline,
      ...nextStepOf(row, {
        now,
        calls: config.provider,
        hasSession: row.has_session,
        hasAnomaly: rows.some(({ phase }) => phase === 'ANOMALY'),
      }),
    };
  },
};

function viewOfTimeline(row: TimelineRow): TimelineView {
  return {
    at: row.at.toISOString(),
    phase: row.phase,
    attempt: row.attempt,
    providerStatus: row.provider_status,
    eventId: row.event_id,
    note: row.note,
  };
}
