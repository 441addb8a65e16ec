/** Statements that touch the same rows take them in one order: they wait, and do not block. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finishWebhookEvent } from '../../../src/settlement/event-repository.ts';
import { moveStatements } from '../../../src/ledger/move-repository.ts';
import { eventually } from '../../support/eventually.ts';
import { onlyOnServer, openTestDatabase } from '../../support/open-database.ts';
import { at, insert, insertGood } from './rows.ts';

const open = await openTestDatabase();
const { db, rows } = open;

const endToEnd = 'E-of-both';

/** An event that waits for the id, and its job, which runs. */
async function givenEvent(jobId: number): Promise<unknown> {
  const id = await insertGood(open, 'webhook_events', { status: 'parked' });
  const job = { id: jobId, unique_key: `webhook:${String(id)}`, status: 'running' };
  await insertGood(open, 'jobs', { ...job, leased_by: 'me', leased_until: at });
  await insert(open, 'webhook_waits', { id_value: endToEnd, event_id: id });
  return id;
}

const waitingForLocks = (count: number) =>
  eventually(async () => {
    const waiting = await rows(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return waiting.length === count;
  }, `${count} statements that wait for a lock`);

test(
  'events that end while their transaction moves: neither statement has to be carried out again',
  onlyOnServer,
  async () => {
    // The earlier event has the later job: they were stored together, in the order of their bytes.
    const events = [
      { job: 2, id: await givenEvent(2) },
      { job: 1, id: await givenEvent(1) },
    ];
    const paying = { phase: 'PAYING', end_to_end: endToEnd };
    const transaction = await insertGood(open, 'pix_transactions', paying);
    const holder = await db.em();
    await holder.begin();
    await holder.execute('select from jobs where id = 1 for update');
    const moved = db.query(moveStatements.move, {
      id: String(transaction),
      fromPhases: '{PAYING}',
      phase: 'ACCEPTED',
      status: 'PROCESSING',
      endToEnd: null,
      outcome: 'accepted',
      failureCode: null,
      providerTxid: null,
      qrCode: null,
      copyPaste: null,
      claimedUntil: null,
      now: at,
      timeline: '[]',
    });
    await waitingForLocks(1);
    const finished = events.map(({ id, job }) => {
      return db.query(finishWebhookEvent, {
        id: String(id),
        status: 'anomaly',
        results: '[]',
        now: at,
        ids: '[]',
        jobAt: null,
        waitingSince: at.toISOString(),
        jobId: String(job),
        worker: 'me',
        attemptedBefore: null,
        moves: '[]',
        attemptedAt: at,
      });
    });
    await waitingForLocks(2);
    await holder.commit();

    assert.equal((await moved).length, 1);
    const statuses = (await Promise.all(finished)).map(([row]) => row?.jobStatus);
    // The move has requested both again while they ran.
    assert.deepEqual(statuses, ['queued', 'queued']);
    const commits = await rows<{ xmin: string }>('select xmin::text from jobs where id in (1, 2)');
    assert.equal(new Set(commits.map(({ xmin }) => xmin)).size, 1, 'one commit for both');
  },
);
