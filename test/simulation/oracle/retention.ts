/** Checks, days later, which data the retention job has kept and which it has deleted. */
import type { Rest } from './invariants.ts';

const dayMs = 24 * 60 * 60_000;

interface KeptRow {
  readonly status: string;
  readonly has_payload: boolean;
}

/**
 * Only settled events lose their payload, and only finished jobs are deleted. An event that was
 * settled since the job's last run, a day ago at most, still has its payload.
 */
export async function checkRetention({ store, oracle, scheduler }: Rest): Promise<void> {
  const { webhookPayloads, finishedJobs } = store.config.retention;
  const before = (days: number): Date => new Date(scheduler.nowMs - days * dayMs);
  const events = await store.rows<KeptRow>(
    `select status, payload is not null as has_payload from webhook_events
      where received_at < $1 and (status in ('received', 'parked') or processed_at < $2)`,
    [before(webhookPayloads + 1), before(1)],
  );
  for (const { status, has_payload: isKept } of events) {
    const isSettled = status === 'processed' || status === 'ignored';
    scheduler.count(`old event ${status}, ${isKept ? 'kept' : 'emptied'}`);
    if (isSettled && isKept) oracle.violated(`an old event that is ${status} keeps its payload`);
    if (!isSettled && !isKept) oracle.violated(`an event that is ${status} has lost its payload`);
  }
  const jobs = await store.rows<{ kind: string }>(
    `select kind from jobs where status = 'done' and finished_at < $1`,
    [before(finishedJobs + 1)],
  );
  for (const { kind } of jobs) oracle.violated(`an old job that is done was kept: ${kind}`);
}
