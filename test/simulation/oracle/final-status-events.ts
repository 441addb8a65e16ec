/**
 * Checks that the outbox has one event for each final transaction, a second one for each that was
 * corrected, no other event about transactions, and a job for every event. A key that was closed
 * before a payment had it has no amount and no event.
 */
import type { Store } from '../store.ts';

interface EventRow {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly user_id: number;
  readonly at: Date;
}

interface EndedRow extends Omit<EventRow, 'type' | 'at'> {
  readonly settled_at: Date;
  readonly corrected_at: Date | null;
  /** When a corrected transaction was FAILED. */
  readonly failed_at: Date | null;
}

/** @returns the missing and the wrong events, as sentences. */
export async function findEventErrors(store: Store): Promise<string[]> {
  const events = await store.rows<EventRow>(`select id, type, status, user_id, at from app_events`);
  const ended = await store.rows<EndedRow>(
    `select t.id, t.status, t.user_id, t.settled_at, t.corrected_at, failed.at as failed_at
       from pix_transactions t
       left join app_events failed on failed.id = 'pix_' || t.id and t.corrected_at is not null
      where t.status <> 'PROCESSING' and t.amount is not null`,
  );
  const jobs = await store.rows<{ unique_key: string }>(
    `select unique_key from jobs where kind = 'deliver-app-event' and status = 'queued'`,
  );
  const expected = ended.flatMap(makeEvents).map(describe);
  const described = events.filter(({ type }) => type.startsWith('pix.')).map(describe);
  const keys = new Set(jobs.map(({ unique_key: key }) => key));
  return [
    ...expected.filter((one) => !described.includes(one)).map((one) => `no event: ${one}`),
    ...described.filter((one) => !expected.includes(one)).map((one) => `wrong event: ${one}`),
    ...events.filter(({ id }) => !keys.has(`app-event:${id}`)).map(({ id }) => `no job: ${id}`),
  ];
}

/** The events of a final transaction. */
function makeEvents(row: EndedRow): EventRow[] {
  const { id, user_id: userId, status, settled_at: at, corrected_at: correctedAt } = row;
  if (correctedAt === null) {
    const type = `pix.${status.toLowerCase()}`;
    return [{ id: `pix_${id}`, type, status, user_id: userId, at }];
  }
  const failed = { type: 'pix.failed', status: 'FAILED', at: row.failed_at ?? correctedAt };
  const completed = { type: 'pix.completed', status: 'COMPLETED', at: correctedAt };
  return [
    { ...failed, id: `pix_${id}`, user_id: userId },
    { ...completed, id: `pix_${id}_corrected`, user_id: userId },
  ];
}

function describe({ id, type, status, user_id: userId, at }: EventRow): string {
  return [id, type, status, userId, at.toISOString()].join(' ');
}
