/** Statements that touch the same rows take them in one order: they wait, and do not block. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { finishWebhookEvent } from '../../../src/settlement/event-repository.ts';
import { moveStatements } from '../../../src/ledger/move-repository.ts';
import { eventually } from '../../support/eventually.ts';
import { onlyOnServer, openTestDatabase } from '../../support/open-database.ts';
import { at, insert, insertGood } from './rows.ts';

const open = await openTestDatabase();
const { db, rows } = open;

const endToEnd = 'E-of-both';

/** When another attempt is due at an event whose attempt runs. */
const later = new Date(at.getTime() + 10_000);

/** An event that waits for the id, and is attempted. */
async function givenEvent(id: string): Promise<string> {
  await insertGood(open, 'webhook_events', { id, status: 'parked' });
  await insertGood(open, 'webhook_queue', { event_id: id, due_at: later });
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
  'a transaction moves while the events that wait for it are locked, and these end in one commit',
  onlyOnServer,
  async () => {
    const [first, second] = [randomUUID(), randomUUID()].toSorted();
    assert.ok(first !== undefined && second !== undefined);
    // They are finished in the other order than they are locked.
    const events = [await givenEvent(second), await givenEvent(first)];
    const paying = { phase: 'PAYING', end_to_end: endToEnd };
    const transaction = await insertGood(open, 'pix_transactions', paying);
    const holder = await db.em();
    await holder.begin();
    await holder.execute('select from webhook_queue where event_id = ? for update', [first]);
    const moved = await db.query(moveStatements.move, {
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
      lookUps: 0,
      timeline: '[]',
    });
    assert.equal(moved.length, 1);
    const finished = events.map((id) => {
      return db.query(finishWebhookEvent, {
        id,
        status: 'anomaly',
        results: '[]',
        now: at,
        begunAt: later,
        attemptedBefore: null,
        moves: '[]',
        attemptedAt: at,
      });
    });
    await waitingForLocks(1);
    await holder.commit();

    const isQueued = (await Promise.all(finished)).map(([row]) => row?.isQueued);
    assert.deepEqual(isQueued, [false, false]);
    const commits = await rows<{ xmin: string }>(
      'select xmin::text from webhook_events where id = any($1)',
      [events],
    );
    assert.equal(new Set(commits.map(({ xmin }) => xmin)).size, 1, 'one commit for both');
  },
);
