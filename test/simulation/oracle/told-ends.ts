/** The outbox: each end of a transaction is told once, and nothing else is. */
import type { Store } from '../store.ts';

interface ToldRow {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly user_id: number;
  readonly at: Date;
}

interface EndedRow extends Omit<ToldRow, 'type' | 'at'> {
  readonly settled_at: Date;
}

/** @returns what is not told, or not true, as sentences. */
export async function untoldEnds(store: Store): Promise<string[]> {
  const told = await store.rows<ToldRow>(`select id, type, status, user_id, at from app_events`);
  const ended = await store.rows<EndedRow>(
    `select id, status, user_id, settled_at from pix_transactions where status <> 'PROCESSING'`,
  );
  const jobs = await store.rows<{ unique_key: string }>(
    `select unique_key from jobs where kind = 'deliver-app-event' and status = 'queued'`,
  );
  const expected = ended.map(({ id, status, user_id: userId, settled_at: at }) =>
    wordOf({ id: `pix_${id}`, type: `pix.${status.toLowerCase()}`, status, user_id: userId, at }),
  );
  const words = told.map(wordOf);
  const keys = new Set(jobs.map(({ unique_key: key }) => key));
  return [
    ...expected.filter((word) => !words.includes(word)).map((word) => `not told: ${word}`),
    ...words.filter((word) => !expected.includes(word)).map((word) => `told: ${word}`),
    ...told.filter(({ id }) => !keys.has(`app-event:${id}`)).map(({ id }) => `no job: ${id}`),
  ];
}

function wordOf({ id, type, status, user_id: userId, at }: ToldRow): string {
  return [id, type, status, userId, at.toISOString()].join(' ');
}
