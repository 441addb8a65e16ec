/** What is removed with age, and what is kept however old it is. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { jobs } from '../../../src/app/jobs.ts';
import type { JobHandler } from '../../../src/jobs/job.ts';
import {
  applyRetention,
  expireSessions,
  purgeThrottle,
  removeUnfinishedUploads,
  vacuumEmbedded,
} from '../../../src/retention/maintenance.ts';
import { insertGood, uuid, type Row } from '../db/rows.ts';
import { givenCustomer, readSessions } from '../../support/factories.ts';
import { queueJob, startLoop, watched } from './loops.ts';
import { confirmed, startSettlingApp } from './settling.ts';

const environment = { WEBHOOK_RETENTION_DAYS: '30', JOB_RETENTION_DAYS: '7' };
const app = await startSettlingApp({ environment });
const { clock, context } = app;

const dayMs = 24 * 60 * 60_000;

const agoMs = (ms: number) => new Date(clock.now().getTime() - ms);

const run = ({ run: work }: JobHandler, changed = {}) =>
  work(
    { ...context, ...changed },
    { id: '0', kind: 'test', payload: {}, attempt: 1, worker: 'test' },
  );

/** The context of a process that counts its statements, by name. */
function counting() {
  const counts = new Map<string, number>();
  const query: typeof context.db.query = (statement, parameters) => {
    counts.set(statement.name, (counts.get(statement.name) ?? 0) + 1);
    return context.db.query(statement, parameters);
  };
  return { counts, changed: { db: { ...context.db, query } } };
}

beforeEach(async () => {
  await app.rows('delete from webhook_events');
  await app.rows('delete from jobs');
  await app.rows('delete from throttle_counters');
});

test('the duties run in turn at every instance, and none of them at the start', async (t) => {
  const duties = Object.fromEntries(Object.entries(jobs).filter(([, { canWait }]) => canWait));
  assert.deepEqual(Object.keys(duties), [
    'expire-sessions',
    'purge-throttle',
    'apply-retention',
    'remove-unfinished-uploads',
    'expire-onboarding',
    'vacuum-embedded',
  ]);
  for (let start = 0; start < 2; start += 1) await startLoop(t, watched(app), { jobs: duties });
  const queued = await app.rows<{ kind: string; run_at: Date; attempts: number }>(
    'select kind, run_at, attempts from jobs order by id',
  );
  assert.deepEqual(
    queued,
    Object.entries(duties).map(([kind, { everyMs = 0 }]) => ({
      kind,
      run_at: new Date(clock.now().getTime() + everyMs),
      attempts: 0,
    })),
  );
});

/** An event of an age, in days. */
const event = (days: number, changes: Row) =>
  insertGood(app, 'webhook_events', {
    received_at: agoMs(days * dayMs),
    results: '[]',
    ...changes,
  });

const withPayload = async () => {
  const rows = await app.rows<{ id: string }>(
    'select id from webhook_events where payload is not null',
  );
  return new Set(rows.map(({ id }) => id));
};

test('the payload of a settled event is removed after the configured days', async () => {
  const settled = ['processed', 'ignored'];
  const old = [];
  const young = [];
  for (const status of settled) {
    old.push(await event(30.001, { status }));
    young.push(await event(30, { status }));
  }
  const statuses = await app.rows('select id, status from webhook_events order by id');
  await run(applyRetention);
  assert.deepEqual(await withPayload(), new Set(young));
  const after = await app.rows('select id, status from webhook_events order by id');
  assert.deepEqual(after, statuses);
  assert.equal(old.length, 2);
});

test('the payload of an event that is not settled, or that no operator has resolved, is kept', async () => {
  const results = JSON.stringify([
    { index: 0, result: 'anomaly' },
    { index: 1, result: 'parked' },
  ]);
  const anomaly = JSON.stringify([{ index: 0, result: 'anomaly' }]);
  const kept = [
    await event(400, { status: 'received', results: null }),
    await event(400, { status: 'parked', results }),
    await event(400, { status: 'anomaly', results }),
    await event(400, { status: 'anomaly', results: anomaly }),
    await event(400, { status: 'orphaned' }),
  ];
  await run(applyRetention);
  assert.deepEqual(await withPayload(), new Set(kept));
});

test('an event without its payload stays as it is, and a duplicate of it is recognised', async () => {
  const payload = confirmed({ endToEnd: 'E-of-old', amount: 1, status: 'PERHAPS' });
  const { eventId, items, status } = await app.receive(payload);
  await app.rows('update webhook_events set received_at = $2 where id = $1', [
    eventId,
    agoMs(31 * dayMs),
  ]);
  await run(applyRetention);
  const again = await app.call('/webhooks/provider', { method: 'POST', body: payload });
  assert.deepEqual([again.body.event_id, again.body.duplicate], [eventId, true]);
  const settled = await app.settle(eventId);
  assert.deepEqual([settled.status, settled.items, settled.retryAt], [status, items, null]);
});

test('jobs that are done are deleted after the days that are configured; all others stay', async () => {
  const old = { finished_at: agoMs(7 * dayMs + 1), created_at: agoMs(400 * dayMs) };
  await queueJob(app, 'work', { status: 'done', ...old });
  const kept = [
    await queueJob(app, 'work', { status: 'done', finished_at: agoMs(7 * dayMs) }),
    await queueJob(app, 'work', { status: 'dead', ...old }),
    await queueJob(app, 'work', { created_at: old.created_at }),
  ];
  await run(applyRetention);
  const rows = await app.rows<{ id: string }>('select id from jobs order by id');
  assert.deepEqual(
    rows.map(({ id }) => id),
    kept,
  );
});

test('what retention has done is logged; nothing to do is not', async () => {
  await event(31, { status: 'processed' });
  const lines = app.logLines.length;
  await run(applyRetention);
  await run(applyRetention);
  const logged = app.logLines.slice(lines).filter((line) => line.includes('retention'));
  assert.equal(logged.length, 1);
  assert.match(logged[0] ?? '', /"payloads":1,"jobs":0/);
});

test('a session whose token has expired is ended, and its token destroyed', async () => {
  const [gone, stays, endless] = [
    await givenCustomer(app),
    await givenCustomer(app),
    await givenCustomer(app),
  ];
  const expiresAt = (id: number, at: Date | null) =>
    app.rows('update banking_sessions set token_expires_at = $2 where user_id = $1', [id, at]);
  await expiresAt(gone.id, clock.now());
  await expiresAt(stays.id, new Date(clock.now().getTime() + 1));
  await expiresAt(endless.id, null);
  await run(expireSessions);
  const [session] = await readSessions(app, gone.id);
  assert.deepEqual(
    [session?.status, session?.sealed_token, session?.ended_at],
    ['EXPIRED', null, clock.now()],
  );
  for (const { id, token } of [stays, endless]) {
    assert.equal((await readSessions(app, id))[0]?.status, 'ACTIVE');
    assert.equal((await app.call('/accounts/me', { token })).status, 200);
  }
  assert.equal((await app.call('/accounts/me', { token: gone.token })).status, 401);
});

test('counters are deleted once their window has ended, in bounded statements', async () => {
  const ends = [-60_000, -1, 0, 1, 24 * 60 * 60_000];
  await app.rows(
    `insert into throttle_counters
     select 'k' || ms || n, $1::timestamptz, 1, $1::timestamptz + make_interval(secs => ms / 1000.0)
       from unnest($2::int[]) ms, generate_series(1, 1100) n`,
    [clock.now(), ends],
  );
  const { counts, changed } = counting();
  await run(purgeThrottle, changed);
  const [left] = await app.rows<{ count: number }>(
    'select count(*)::int as count from throttle_counters',
  );
  assert.equal(left?.count, 2 * 1_100);
  assert.equal(counts.get('retention-throttle'), 4);
});

test('counts of refused webhooks are kept for thirty days', async () => {
  await insertGood(app, 'webhook_refusals', { minute: agoMs(30 * dayMs + 1) });
  const kept = { minute: agoMs(30 * dayMs) };
  await insertGood(app, 'webhook_refusals', kept);
  await run(applyRetention);
  assert.deepEqual(await app.rows('select minute from webhook_refusals'), [kept]);
});

test('an address that its user has not logged in from for thirty days is forgotten', async () => {
  const kept = { last_login_at: agoMs(30 * dayMs - 1) };
  await insertGood(app, 'login_addresses', { last_login_at: agoMs(30 * dayMs) });
  await insertGood(app, 'login_addresses', kept);
  await run(purgeThrottle);
  const rows = await app.rows<{ last_login_at: Date }>(
    `select last_login_at from login_addresses where last_login_at < $1`,
    [clock.now()],
  );
  assert.deepEqual(rows, [kept]);
});

test('a reconciled day goes after 90 days, a closed difference after a year', async () => {
  const days = async (table: string) => {
    const rows = await app.rows<{ day: string }>(
      `select day::text as day from ${table} order by day`,
    );
    return rows.map(({ day }) => day);
  };
  const dayAgo = (count: number) =>
    agoMs(count * dayMs)
      .toISOString()
      .slice(0, 10);
  await insertGood(app, 'reconciliations', { day: dayAgo(92) });
  await insertGood(app, 'reconciliations', { day: dayAgo(88) });
  const closed = (count: number) => {
    const closedAt = agoMs(count * dayMs);
    return { day: dayAgo(count), closed_at: closedAt, closed_as: 'EXPLAINED' };
  };
  await insertGood(app, 'reconciliation_differences', closed(366));
  await insertGood(app, 'reconciliation_differences', closed(364));
  await insertGood(app, 'reconciliation_differences', { day: dayAgo(400) });
  await run(applyRetention);
  assert.deepEqual(await days('reconciliations'), [dayAgo(88)]);
  assert.deepEqual(await days('reconciliation_differences'), [dayAgo(400), dayAgo(364)]);
});

test('the text about a dispute goes 90 days after its end, the dispute stays', async () => {
  const details = Buffer.from('sealed');
  const dispute = async (days: number | null): Promise<string> => {
    const id = uuid();
    const end = days === null ? {} : { status: 'REJECTED', ended_at: agoMs(days * dayMs) };
    await insertGood(app, 'pix_disputes', { transaction_id: id, details, ...end });
    return id;
  };
  const [old, newer, open] = [await dispute(91), await dispute(89), await dispute(null)];
  await run(applyRetention);
  const rows = await app.rows<{ id: string; details: Buffer | null }>(
    'select transaction_id as id, details from pix_disputes',
  );
  const kept = new Map(rows.map((row) => [row.id, row.details !== null]));
  assert.deepEqual([kept.get(old), kept.get(newer), kept.get(open)], [false, true, true]);
});

test('a service that stops leaves the rest to the next run', async () => {
  const stopping = AbortSignal.abort();
  await insertGood(app, 'throttle_counters', { expires_at: agoMs(dayMs) });
  const { counts, changed } = counting();
  await run(purgeThrottle, { ...changed, stopping });
  assert.equal(counts.size, 0);
});

test('documents whose upload broke off are removed with their chunks; others stay', async () => {
  const application = await insertGood(app, 'onboarding_applications');
  const document = async (status: 'receiving' | 'stored', ageMs: number) => {
    const id = uuid();
    await app.rows(
      `with document as (
         insert into onboarding_documents
                (id, application_id, status, tipo_documento, content_type, size_bytes, chunk_count,
                 content_hash, created_at, stored_at)
         values ($1, $2, $3, 1, 'image/png', 6, 2, $4, $5, $5) returning id
       )
       insert into onboarding_document_chunks
       select id, place, '' from document, unnest('{0,1}'::int[]) place`,
      [id, application, status, Buffer.from(id), agoMs(ageMs)],
    );
    return id;
  };
  for (let nth = 0; nth < 12; nth += 1) await document('receiving', 3_600_001);
  const kept = [await document('receiving', 3_600_000), await document('stored', 400 * dayMs)];
  await run(removeUnfinishedUploads);
  const rows = await app.rows<{ id: string; chunks: number }>(
    `select id, count(document_id)::int as chunks
       from onboarding_documents left join onboarding_document_chunks on document_id = id
      group by id order by id`,
  );
  assert.deepEqual(
    rows,
    kept.map((id) => ({ id, chunks: 2 })),
  );
});

test('the embedded database is vacuumed', async () => {
  let vacuumed = 0;
  const vacuum = async (): Promise<void> => void (vacuumed += 1);
  await run(vacuumEmbedded, { db: { ...context.db, vacuum } });
  assert.equal(vacuumed, 1);
  await run(vacuumEmbedded);
});
