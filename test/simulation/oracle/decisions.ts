/**
 * Payments that an operator has resolved. The operator may be wrong, but the timeline of the
 * payment must record every contradicting report of the provider, earlier or later.
 */
import { computeHash } from '../payload-hash.ts';
import type { Names } from '../names.ts';
import type { Scheduler } from '../scheduler.ts';
import { hasUnlistedCode, type Evidence } from './evidence.ts';
import type { LostCommits } from './lost-commits.ts';
import type { EventRow, FinalRow, TimelineRow } from './stored-rows.ts';
import type { Oracle } from './oracle.ts';

/** The data with which a decision is checked. */
interface Known {
  readonly oracle: Oracle;
  readonly evidence: Evidence;
  readonly names: Names;
  readonly scheduler: Scheduler;
  readonly lost: LostCommits;
}

const decisionNote = 'operator ';

/** The ids of the transactions that an operator has resolved. */
export function decidedIds(timeline: readonly TimelineRow[]): ReadonlySet<string> {
  const decided = timeline.filter(({ note }) => note?.startsWith(decisionNote));
  return new Set(decided.map(({ transaction_id: id }) => id));
}

/** The ids of the transactions that were corrected: their timeline says so. */
function correctedIds(timeline: readonly TimelineRow[]): ReadonlySet<string> {
  const corrected = timeline.filter(({ note }) => note?.startsWith('corrected'));
  return new Set(corrected.map(({ transaction_id: id }) => id));
}

/** Checks that each acknowledged event that contradicts a decision is stored as an anomaly. */
export function checkDecisions(
  rest: Known,
  rows: readonly FinalRow[],
  stored: { readonly events: readonly EventRow[]; readonly timeline: readonly TimelineRow[] },
): void {
  const { oracle, evidence, names, scheduler, lost } = rest;
  const decided = decidedIds(stored.timeline);
  const corrected = correctedIds(stored.timeline);
  for (const row of rows.filter(({ id }) => decided.has(id) && !corrected.has(id))) {
    scheduler.count(`decided by an operator: ${row.status}`);
    checkResponses(rest, row, stored.timeline);
    const contrary = row.status === 'COMPLETED' ? 'failed' : 'completed';
    for (const notice of evidence.listRead(row.end_to_end)) {
      if (notice.status !== contrary || hasUnlistedCode(notice)) continue;
      const hash = computeHash(notice.payload);
      const event = stored.events.find((one) => one.hash === hash);
      const isNoted = stored.timeline.some(
        ({ transaction_id: id, phase, event_id: eventId }) =>
          id === row.id && phase === 'ANOMALY' && eventId === event?.id,
      );
      // A failover may have lost the event.
      if (isNoted || (!event && lost.failedOverAt !== null)) continue;
      oracle.violated(`${names.of('tx', row.id)}: an event contradicts the operator unrecorded`);
    }
  }
}

/** Checks that a response that reached a live process after the decision is recorded too. */
function checkResponses(
  { oracle, evidence, names, lost }: Known,
  row: FinalRow,
  timeline: readonly TimelineRow[],
): void {
  if (row.end_to_end === null || lost.failedOverAt !== null) return;
  const answered = evidence.responsesProve(row.end_to_end);
  const isContrary =
    row.status === 'FAILED'
      ? answered === 'completed' || answered === 'accepted'
      : answered === 'failed';
  if (!isContrary) return;
  const own = timeline.filter(({ transaction_id: id }) => id === row.id);
  if (own.some(({ phase }) => phase === 'ANOMALY' || phase === 'ACCEPTED')) return;
  oracle.violated(
    `${names.of('tx', row.id)}: a response (${answered}) contradicts the operator unrecorded`,
  );
}
