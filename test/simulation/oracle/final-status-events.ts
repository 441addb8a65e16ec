/** Checks that the outbox has one event for each final transaction, and no other event. */
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
}

/** @returns the missing and the wrong events, as sentences. */
export async function findEventErrors(store: Store): Promise<string[]> {
  const events = await store.rows<EventRow>(`select id, type, status, user_id, at from app_events`);
  const ended = await store.rows<EndedRow>(
    `select id, status, user_id, settled_at from pix_transactions where status <> 'PROCESSING'`,
  );
  const jobs = await store.rows<{ unique_key: string }>(
    `select unique_key from jobs where kind = 'deliver-app-event' and status = 'queued'`,
  );
  const expected = ended.map(({ id, status, user_id: userId, settled_at: at }) =>
    describe({ id: `pix_${id}`, type: `pix.${status.toLowerCase()}`, status, user_id: userId, at }),
  );
  const described = events.map(describe);
  const keys = new Set(jobs.map(({ unique_key: key }) => key));
  return [
    ...expected.filter((one) => !described.includes(one)).map((one) => `no event: ${one}`),
    ...described.filter((one) => !expected.includes(one)).map((one) => `wrong event: ${one}`),
    ...events.filter(({ id }) => !keys.has(`app-event:${id}`)).map(({ id }) => `no job: ${id}`),
  ];
}

function describe({ id, type, status, user_id: userId, at }: EventRow): string {
  return [id, type, status, userId, at.toISOString()].join(' ');
}
