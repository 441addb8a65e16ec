/** The readings of a scrape: they describe the database, are cached, and never fail. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { createMetrics, type Metrics } from '../../../src/telemetry/metrics.ts';
import { measure } from '../../../src/app/metrics-readings.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { givenUser } from '../../support/factories.ts';

const minutesMs = 60_000;

const app = await startTestApp({ environment: { JOBS: 'off' } });

/** The values of a scrape, by metric and labels. */
async function scrape(): Promise<Map<string, number>> {
  const response = await fetch(`${app.url}/metrics`);
  assert.equal(response.status, 200);
  return samples(await response.text());
}

function samples(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

/** Those that are read in the database, whichever there are. */
function ofDatabase(values: ReadonlyMap<string, number>): Record<string, number> {
  const backlog = /^ponte_(?:job_queue|webhook_events_open|metrics|reconciliation)/;
  const payments = /^ponte_pix_(?:unknown(?!_outcomes)|paying|accepted|dispute)/;
  const isOfDatabase = (name: string): boolean => backlog.test(name) || payments.test(name);
  return Object.fromEntries([...values].filter(([name]) => isOfDatabase(name)));
}

const ago = (ms: number): Date => new Date(app.clock.now().getTime() - ms);

async function givenJob(
  status: 'queued' | 'running' | 'done' | 'dead',
  runAt: Date,
  kind = 'deliver-app-event',
): Promise<void> {
  const running = status === 'running';
  await app.rows(
    `insert into jobs (kind, payload, status, run_at, created_at, finished_at, leased_until,
                       leased_by)
     values ($1, '{}', $2, $3, $4, $5, $6, $7)`,
    [
      kind,
      status,
      runAt,
      app.clock.now(),
      status === 'done' || status === 'dead' ? app.clock.now() : null,
      running ? app.clock.now() : null,
      running ? 'another process' : null,
    ],
  );
}

async function givenQueued(eventId: string, dueAt: Date, failures = 0): Promise<void> {
  await app.rows(
    'insert into webhook_queue (event_id, due_at, waiting_since, failures) values ($1, $2, $2, $3)',
    [eventId, dueAt, failures],
  );
}

/** @returns the id of the last event. */
async function givenEvents(...statuses: readonly string[]): Promise<string> {
  let id = '';
  for (const status of statuses) {
    id = randomUUID();
    await app.rows(
      `insert into webhook_events (id, payload_hash, payload, status, received_at)
       values ($1, $2, '{}', $3, $4)`,
      [id, randomBytes(32), status, app.clock.now()],
    );
  }
  return id;
}

async function givenDispute(status: string, at: Date): Promise<void> {
  await app.rows(
    `insert into pix_disputes (transaction_id, user_id, status, situation, requested_at, opened_at,
            ended_at, updated_at)
     values ($1, 1, $2, 'SCAM', $3, $3, case when $2 = 'REJECTED' then $3::timestamptz end, $3)`,
    [randomUUID(), status, at],
  );
}

interface GivenSend {
  readonly phase: 'PAYING' | 'UNKNOWN' | 'ACCEPTED';
  readonly createdAt: Date;
  readonly updatedAt?: Date;
  readonly claimedUntil?: Date;
}

async function givenSend(userId: number, send: GivenSend): Promise<void> {
  const { phase, createdAt, updatedAt = createdAt, claimedUntil = null } = send;
  await app.rows(
    `insert into pix_transactions
            (id, user_id, operation, idempotency_key, fingerprint, status, phase, amount,
             end_to_end, claimed_until, created_at, updated_at)
     values ($1, $2, 'SEND', $3, '', 'PROCESSING', $4, 1, $3, $5, $6, $7)`,
    [randomUUID(), userId, randomUUID(), phase, claimedUntil, createdAt, updatedAt],
  );
}

/** An open difference of two ages each, and a closed one. */
async function givenDifferences(userId: number): Promise<void> {
  const found = [ago(0), ago(24 * 60 * minutesMs + 1), ago(0)];
  await app.rows(
    `insert into reconciliation_differences
            (day, user_id, kind, reason, subject, found_at, seen_at, closed_at, closed_as)
     select '2026-05-23', $1, 'UNPROVEN', 'unreadable', ordinal::text, at, at,
            case when ordinal = 3 then at end, case when ordinal = 3 then 'ACCEPTED' end
       from unnest($2::timestamptz[]) with ordinality as found (at, ordinal)`,
    [userId, found],
  );
}

describe('the gauges of the database', () => {
  it('are zero, and there, when nothing waits', async () => {
    assert.deepEqual(ofDatabase(await scrape()), {
      ponte_metrics_database_up: 1,
      ponte_job_queue_oldest_due_seconds: 0,
      'ponte_webhook_events_open{state="received"}': 0,
      'ponte_webhook_events_open{state="parked"}': 0,
      'ponte_webhook_events_open{state="orphaned"}': 0,
      'ponte_webhook_events_open{state="anomaly"}': 0,
      ponte_pix_unknown: 0,
      ponte_pix_unknown_oldest_seconds: 0,
      ponte_pix_accepted_oldest_seconds: 0,
      ponte_pix_paying_overdue: 0,
      'ponte_pix_dispute_oldest_seconds{state="requested"}': 0,
      'ponte_pix_dispute_oldest_seconds{state="open"}': 0,
      'ponte_reconciliation_differences{state="new"}': 0,
      'ponte_reconciliation_differences{state="old"}': 0,
    });
  });

  it('show what waits, and for how long', async () => {
    await app.clock.advance(5_000);
    await givenQueued(await givenEvents('received'), ago(90_000), 5);
    await givenQueued(await givenEvents('received'), ago(-1_000));
    await givenQueued(await givenEvents('parked'), ago(-1_000));
    await givenJob('queued', ago(1_000));
    await givenJob('queued', ago(1_000));
    await givenJob('queued', ago(-1_000));
    await givenJob('queued', ago(1_000), 'settle-webhook');
    await givenJob('queued', ago(-1_000), 'sweep-pix');
    await givenJob('running', ago(1_000));
    await givenJob('done', ago(1_000));
    await givenJob('dead', ago(9 * minutesMs));
    await givenEvents('parked', 'orphaned', 'anomaly', 'processed');
    const { id } = await givenUser(app);
    // The sweep touches what it looks at: the age is that of the payment.
    await givenSend(id, {
      phase: 'UNKNOWN',
      createdAt: ago(10 * minutesMs),
      updatedAt: ago(minutesMs),
    });
    await givenSend(id, { phase: 'UNKNOWN', createdAt: ago(3 * minutesMs) });
    await givenSend(id, { phase: 'PAYING', createdAt: ago(3 * minutesMs) });
    await givenSend(id, { phase: 'PAYING', createdAt: ago(minutesMs) });
    await givenSend(id, {
      phase: 'PAYING',
      createdAt: ago(3 * minutesMs),
      claimedUntil: ago(-1_000),
    });
    await givenSend(id, { phase: 'ACCEPTED', createdAt: ago(3 * minutesMs) });
    await givenDifferences(id);
    await givenDispute('REQUESTED', ago(2 * minutesMs));
    await givenDispute('OPEN', ago(5 * minutesMs));
    await givenDispute('REJECTED', ago(9 * minutesMs));
    assert.deepEqual(ofDatabase(await scrape()), {
      ponte_metrics_database_up: 1,
      'ponte_job_queue{kind="deliver-app-event",state="due"}': 2,
      'ponte_job_queue{kind="deliver-app-event",state="later"}': 1,
      // The event, and the job of release 1.2.0.
      'ponte_job_queue{kind="settle-webhook",state="due"}': 2,
      'ponte_job_queue{kind="settle-webhook",state="later"}': 2,
      'ponte_job_queue{kind="sweep-pix",state="later"}': 1,
      'ponte_job_queue{kind="deliver-app-event",state="running"}': 1,
      'ponte_job_queue{kind="deliver-app-event",state="dead"}': 1,
      'ponte_job_queue_failing{kind="deliver-app-event"}': 0,
      'ponte_job_queue_failing{kind="settle-webhook"}': 1,
      'ponte_job_queue_failing{kind="sweep-pix"}': 0,
      ponte_job_queue_oldest_due_seconds: 90,
      'ponte_webhook_events_open{state="received"}': 2,
      'ponte_webhook_events_open{state="parked"}': 2,
      'ponte_webhook_events_open{state="orphaned"}': 1,
      'ponte_webhook_events_open{state="anomaly"}': 1,
      ponte_pix_unknown: 2,
      ponte_pix_unknown_oldest_seconds: 600,
      ponte_pix_accepted_oldest_seconds: 180,
      ponte_pix_paying_overdue: 1,
      'ponte_pix_dispute_oldest_seconds{state="requested"}': 120,
      'ponte_pix_dispute_oldest_seconds{state="open"}': 300,
      'ponte_reconciliation_differences{state="new"}': 1,
      'ponte_reconciliation_differences{state="old"}': 1,
    });
  });

  it('cost one statement in five seconds, however often they are requested', async () => {
    await app.clock.advance(5_000);
    const statements = async () => (await scrape()).get('ponte_database_queries_total') ?? NaN;
    await scrape();
    const before = await statements();
    await givenJob('dead', ago(0));
    await Promise.all([scrape(), scrape(), scrape()]);
    await app.clock.advance(4_999);
    const dead = 'ponte_job_queue{kind="deliver-app-event",state="dead"}';
    assert.equal((await scrape()).get(dead), 1, 'the reading of before');
    assert.equal(await statements(), before + 1, 'the job of this test');
    await app.clock.advance(1);
    assert.equal((await scrape()).get(dead), 2);
    assert.equal(await statements(), before + 2);
  });
});

/** The metrics of a context of their own, whose readings of the backlog a test decides. */
function measured() {
  const underWay: PromiseWithResolvers<void>[] = [];
  const metrics = createMetrics();
  const { db } = app.context;
  const query: typeof db.query = async (statement, parameters) => {
    if (statement.name === 'backlog-read') {
      const turn = Promise.withResolvers<void>();
      underWay.push(turn);
      await turn.promise;
    }
    return db.query(statement, parameters);
  };
  measure({ ...app.context, metrics, db: { ...db, query } });
  return { underWay, read: () => readAll(metrics) };
}

async function readAll({ registry }: Metrics): Promise<Map<string, number>> {
  return samples(await registry.metrics());
}

const onlyDown = { ponte_metrics_database_up: 0 };

describe('a database that does not give its gauges', () => {
  it('omits them, says so, and logs why', async () => {
    const { underWay, read } = measured();
    const good = read();
    underWay[0]?.resolve();
    assert.equal((await good).get('ponte_pix_unknown'), 2);
    await app.clock.advance(5_000);
    const failing = read();
    underWay[1]?.reject(Object.assign(new Error('gone: 52998224725'), { code: 'ECONNRESET' }));
    const values = await failing;
    assert.deepEqual(ofDatabase(values), onlyDown);
    assert.ok(values.has('process_resident_memory_bytes'), 'the other metrics are there');
    const lines = app.logLines.filter((line) => line.includes('the backlog could not be read'));
    assert.equal(lines.length, 1);
    assert.ok(lines[0]?.includes('"ECONNRESET"') && !lines[0].includes('52998224725'));
  });

  it('is waited for two seconds, once, and not queried again until it has answered', async () => {
    const { underWay, read } = measured();
    const first = read();
    const second = read();
    await app.clock.advance(1_999);
    const isWaiting = await Promise.race([first, Promise.resolve('waiting')]);
    assert.equal(isWaiting, 'waiting');
    await app.clock.advance(1);
    assert.deepEqual(ofDatabase(await first), onlyDown);
    assert.deepEqual(ofDatabase(await second), onlyDown);
    await app.clock.advance(60_000);
    assert.deepEqual(ofDatabase(await read()), onlyDown);
    assert.equal(underWay.length, 1);
    underWay[0]?.resolve();
    await eventually(async () => {
      const next = read();
      underWay[1]?.resolve();
      return (await next).get('ponte_metrics_database_up') === 1;
    }, 'a reading after the one that hung');
    assert.equal(underWay.length, 2);
  });
});

describe('the gauges of a process', () => {
  it('show its connections to the database and the requests that wait for one', async () => {
    const values = await scrape();
    const busy = values.get('ponte_database_connections{state="busy"}');
    const idle = values.get('ponte_database_connections{state="idle"}');
    assert.ok(busy !== undefined && idle !== undefined && busy + idle >= 1);
    assert.equal(values.get('ponte_database_waiting'), 0);
    const { db } = app.context;
    // Units of work have connections of their own on a server.
    const connections = db.kind === 'embedded' ? 1 : 6;
    const held = Promise.withResolvers<void>();
    const holding = Array.from({ length: connections }, async () =>
      (await db.em()).transactional(async (em) => {
        await em.execute('select 1');
        await held.promise;
      }),
    );
    await eventually(() => db.connections().busy === connections, 'every connection at work');
    const late = (await db.em()).execute('select 1');
    await eventually(() => db.connections().waiting === 1, 'a statement without a connection');
    held.resolve();
    await Promise.all([...holding, late]);
    assert.equal(db.connections().waiting, 0);
  });

  it('show the passwords that are hashed and that wait', async () => {
    const { passwords } = app.context;
    const hashes = Array.from({ length: 5 }, () => passwords.verify('x', null));
    const values = await readAll(app.context.metrics);
    assert.equal(values.get('ponte_password_hashes{state="running"}'), 2);
    assert.equal(values.get('ponte_password_hashes{state="waiting"}'), 3);
    await Promise.all(hashes);
    assert.deepEqual(passwords.load(), { running: 0, waiting: 0 });
  });
});
