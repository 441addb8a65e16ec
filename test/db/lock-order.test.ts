/** Statements that touch the same rows take them in one order: they wait, and do not block. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finishWebhookEvent } from '../../src/db/queries/finish-webhook-event.ts';
import { moveTransaction } from '../../src/db/queries/move-transaction.ts';
import { eventually } from '../support/eventually.ts';
import { onlyOnServer, openTestDatabase } from '../support/open-database.ts';
import { at, goodRow, uuid } from './rows.ts';

const open = await openTestDatabase();
const { db, rows } = open;

const endToEnd = 'E-of-both';

/** An event that waits for the id, and its job. */
async function givenEvent(jobId: number): Promise<string> {
  const id = uuid();
  await rows(
    `insert into webhook_events (id, payload_hash, payload, status, received_at)
     values ($1::uuid, decode(md5($1::uuid::text), 'hex'), '{}', 'parked', now())`,
    [id],
  );
  await rows(
    `insert into jobs (id, kind, payload, unique_key, status, attempts, leased_by, leased_until,
            run_at, created_at)
     values ($1, 'settle-webhook', '{}', 'webhook:' || $2::uuid, 'running', 1, 'me', now(),
             now(), now())`,
    [jobId, id],
  );
  await rows('insert into webhook_waits (id_value, event_id) values ($1, $2)', [endToEnd, id]);
  return id;
}

async function givenPaying(): Promise<string> {
  const { name, email, password_hash } = goodRow.users();
  const [user] = await rows<{ id: number }>(
    `insert into users (name, email, password_hash, created_at, updated_at)
     values ($1, $2, $3, now(), now()) returning id`,
    [name, email, password_hash],
  );
  const id = uuid();
  await rows(
    `insert into pix_transactions (id, user_id, operation, idempotency_key, fingerprint, status,
            phase, amount, end_to_end, created_at, updated_at)
     values ($1, $2, 'SEND', 'key', '\\x00', 'PROCESSING', 'PAYING', 1, $3, now(), now())`,
    [id, user?.id, endToEnd],
  );
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
    const transaction = await givenPaying();
    const holder = db.em();
    await holder.begin();
    await holder.execute('select from jobs where id = 1 for update');
    const none = [null, null, null, null] as const;
    const moved = db.query(moveTransaction, [
      ...[transaction, '{PAYING}', 'ACCEPTED', 'PROCESSING', null, 'accepted', ...none, null, at],
      '[]',
    ]);
    await waitingForLocks(1);
    const finished = events.map(({ id, job }) => {
      const event = [id, 'anomaly', '[]', at, '[]', null, at.toISOString()];
      return db.query<{ job_status: string }>(finishWebhookEvent, [...event, job, 'me']);
    });
    await waitingForLocks(2);
    await holder.commit();

    assert.equal((await moved).length, 1);
    const statuses = (await Promise.all(finished)).map(([row]) => row?.job_status);
    // The move has asked for both again while they ran.
    assert.deepEqual(statuses, ['queued', 'queued']);
    const commits = await rows<{ xmin: string }>('select xmin::text from jobs where id in (1, 2)');
    assert.equal(new Set(commits.map(({ xmin }) => xmin)).size, 1, 'one commit for both');
  },
);
