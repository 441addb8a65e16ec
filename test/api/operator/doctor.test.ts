/** `ponte doctor` beside a service whose work waits for a job loop or an operator. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, test } from 'node:test';
import { parse } from 'yaml';
import { databaseRole, type Finding } from '../../../src/operator/doctor.ts';
import { inspectDatabase } from '../../../src/operator/inspect-database.ts';
import { mockQueries } from '../../support/intercepted.ts';
import { onlyEmbedded } from '../../support/open-database.ts';
import { queueJob } from '../jobs/loops.ts';
import { startSettlingApp } from '../jobs/settling.ts';
import { unwatched } from './asking.ts';
import { runPonte } from './command-line.ts';

const app = await startSettlingApp();

const secondsAgo = (seconds: number): Date => new Date(app.clock.now().getTime() - seconds * 1_000);

/** One finding: its state, what was found, and what to do. */
async function found(name: string): Promise<readonly [string, string, string | null]> {
  const { stdout } = await runPonte(app, ['doctor', '--json']);
  const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] };
  const finding = findings.find((one) => one.name === name);
  assert.ok(finding, `there is no finding ${name}`);
  return [finding.state, finding.says, finding.todo];
}

async function givenEvent(status: string): Promise<void> {
  const { eventId } = await app.receive({ event: 'NEWS', id: randomUUID() });
  await app.rows('update webhook_events set status = $2 where id = $1', [eventId, status]);
}

describe('ponte doctor', () => {
  it('checks the backlog on the schema of the next release, as during an upgrade', async () => {
    await app.ownerRows(
      "insert into schema_migrations (name) values ('Migration99991231000000_later')",
    );
    const [state, says] = await found('migrations');
    assert.deepEqual([state, says], ['doubtful', 'all applied, and 1 of another version']);
    assert.equal((await found('due jobs'))[0], 'ok');
    await app.ownerRows("delete from schema_migrations where name like '%_later'");
    assert.deepEqual(await found('migrations'), ['ok', 'all applied', null]);
  });

  it('says when a job has been due for over a minute: no job loop runs', async () => {
    const id = await queueJob(app, 'waiting', { run_at: secondsAgo(60) });
    assert.deepEqual(await found('due jobs'), ['ok', 'none has been due for more than 60 s', null]);
    await app.rows('update jobs set run_at = $2 where id = $1', [id, secondsAgo(20 * 60)]);
    assert.deepEqual(await found('due jobs'), [
      'bad',
      'one has been due for 20 min: no job loop runs, or all are busy',
      // The embedded database has no room for a worker.
      app.database.databaseUrl === undefined
        ? 'start the service with JOBS=inline; see `ponte jobs stats`'
        : 'start the service with JOBS=inline, or `ponte worker`; see `ponte jobs stats`',
    ]);
    await app.rows('update jobs set run_at = $2 where id = $1', [id, secondsAgo(-60)]);
    assert.equal((await found('due jobs'))[0], 'ok');
  });

  it('says that a line of the statement blocks nothing, and what to run', async () => {
    assert.deepEqual(await found('blocks that are not stored'), ['ok', 'none', null]);
    const [line] = await app.rows(
      `insert into reconciliation_differences
              (day, user_id, kind, reason, subject, amount, blocks, found_at, seen_at)
       values ('2026-05-24', $1, 'MISSING_HERE', 'payment_out', 'line', 5, 'SEND', $2, $2)
       returning id`,
      [app.customer.id, app.clock.now()],
    );
    assert.deepEqual(await found('blocks that are not stored'), [
      'doubtful',
      '1: users may pay again what the statement shows',
      'run `ponte pix pause --reason <why>`, and report it as a defect',
    ]);
    await app.rows('delete from reconciliation_differences where id = $1', [line?.['id']]);
  });

  it('counts the dead jobs', async () => {
    assert.deepEqual(await found('dead jobs'), ['ok', 'none', null]);
    for (const kind of ['one', 'one', 'other']) {
      await queueJob(app, kind, { status: 'dead', finished_at: secondsAgo(1) });
    }
    const todo = 'check them: `ponte jobs list --state dead`';
    assert.deepEqual(await found('dead jobs'), ['doubtful', '3', todo]);
  });

  for (const [status, name] of [
    ['anomaly', 'anomalies'],
    ['orphaned', 'orphaned events'],
  ] as const) {
    it(`counts the ${name}`, async () => {
      assert.deepEqual(await found(name), ['ok', 'none', null]);
      await givenEvent(status);
      await givenEvent(status);
      const todo = `check them: \`ponte webhook list --state ${status}\``;
      assert.deepEqual(await found(name), ['doubtful', '2', todo]);
    });
  }

  it('says for how long a payment has had an unknown outcome', async () => {
    const { id } = await app.givenSend();
    await app.rows(`update pix_transactions set phase = 'UNKNOWN' where id = $1`, [id]);
    await app.clock.skip(15 * 60_000);
    assert.equal((await found('unknown payments'))[0], 'ok');
    await app.clock.advance(1_000);
    const todo = 'check them: `ponte pix list --stuck`';
    assert.deepEqual(await found('unknown payments'), [
      'doubtful',
      '1, the oldest for 15 min',
      todo,
    ]);
  });

  it('says for how long an accepted payment has waited for its webhook', async () => {
    const { id } = await app.givenSend();
    await app.rows(`update pix_transactions set phase = 'ACCEPTED' where id = $1`, [id]);
    await app.clock.skip(30 * 60_000);
    assert.equal((await found('accepted payments'))[0], 'ok');
    await app.clock.skip(150 * 60_000 + 1_000);
    const [state, says, todo] = await found('accepted payments');
    assert.equal(state, 'doubtful');
    assert.match(says, /^\d+ wait for their webhook, the oldest for 3 h$/);
    assert.equal(todo, 'check them: `ponte pix list --stuck`');
    const [last, lastSays] = await found('last webhook');
    assert.equal(last, 'doubtful');
    assert.match(lastSays, /, and accepted payments wait for theirs$/);
  });

  it('names the jobs that fail again and again, and the periodic ones that failed', async () => {
    const usual = 'none has failed 5 times, and no periodic one failed last time';
    assert.deepEqual(await found('failing jobs'), ['ok', usual, null]);
    const later = secondsAgo(-600);
    const last_error = 'error 57014';
    await queueJob(app, 'deliver-app-event', { attempts: 4, last_error, run_at: later });
    assert.equal((await found('failing jobs'))[0], 'ok');
    await queueJob(app, 'deliver-app-event', { attempts: 7, last_error, run_at: later });
    const unique_key = 'every:sweep-pix';
    await queueJob(app, 'sweep-pix', { unique_key, last_error, run_at: later });
    const [state, says, todo] = await found('failing jobs');
    assert.equal(state, 'doubtful');
    assert.match(todo ?? '', /`ponte jobs list --failing`, of events `ponte webhook list/);
    assert.equal(says, '1 deliver-app-event, 1 sweep-pix');
    const { stdout } = await runPonte(app, ['jobs', 'list', '--failing', '--json']);
    const { jobs } = JSON.parse(stdout) as { jobs: { lastError: string; attempts: number }[] };
    assert.ok(jobs.some(({ attempts }) => attempts === 7));
    assert.ok(jobs.every(({ lastError }) => lastError !== null));
  });

  for (const [status, name, usual] of [
    ['parked', 'parked events', 50],
    ['received', 'received events', 500],
  ] as const) {
    it(`finds more than ${usual} ${name} unusual`, async () => {
      const give = (count: number) =>
        app.rows(
          `with given as (
             insert into webhook_events (id, payload_hash, payload, status, received_at)
             select gen_random_uuid(), decode(md5(random()::text || i), 'hex'), null, $1, $2
               from generate_series(1, $3::int) i
             returning id)
           insert into webhook_queue (event_id, due_at, waiting_since)
           select id, $2, $2 from given`,
          [status, app.clock.now(), count],
        );
      const [before] = await app.rows<{ count: number }>(
        'select count(*)::int as count from webhook_events where status = $1',
        [status],
      );
      await give(usual - (before?.count ?? 0));
      assert.deepEqual(await found(name), ['ok', String(usual), null]);
      await give(1);
      assert.equal((await found(name))[0], 'doubtful');
    });
  }

  it('counts the payments that were left in PAYING', async () => {
    assert.equal((await found('payments left in PAYING'))[0], 'ok');
    const { id } = await app.givenSend();
    await app.rows(`update pix_transactions set phase = 'PAYING' where id = $1`, [id]);
    await app.clock.skip(60 * 60_000);
    const todo = 'check them: `ponte jobs stats`';
    assert.deepEqual(await found('payments left in PAYING'), ['doubtful', '1', todo]);
  });

  it('has the line that each alarm rule names', async () => {
    const { stdout } = await runPonte(app, ['doctor', '--json']);
    const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] };
    const names = new Set(findings.map(({ name }) => name));
    const file = join(import.meta.dirname, '../../../src/operator/monitoring/alerts.yaml');
    const { groups } = parse(readFileSync(file, 'utf8')) as {
      groups: { rules: { alert: string; annotations: { doctor?: string } }[] }[];
    };
    const rules = groups.flatMap((group) => group.rules);
    assert.ok(rules.length > 20);
    for (const { alert, annotations } of rules) {
      assert.ok(annotations.doctor, `${alert} names no line of doctor: add the annotation doctor`);
      assert.ok(
        names.has(annotations.doctor),
        `${alert}: doctor has no line ${annotations.doctor}`,
      );
    }
  });

  // On a server the command has connections of its own.
  it('says that the database is read-only, although all can be read', onlyEmbedded, async (t) => {
    mockQueries(t, app.context.db, (run) => async (statement, parameters) => {
      const rows = await run(statement, parameters);
      const isServer = statement.name === 'ops-inspect-database';
      return isServer ? rows.map((row) => ({ ...row, isReadOnly: true })) : rows;
    });
    const [state, says, todo] = await found('database');
    assert.equal(state, 'bad');
    assert.match(says, /is read-only: nothing can be stored$/);
    assert.match(todo ?? '', /^name the primary in DATABASE_URL/);
  });

  it('needs seven queries of the database', async () => {
    const executed: string[] = [];
    const db: typeof app.context.db = {
      ...app.context.db,
      query(statement, parameters) {
        executed.push(statement.name);
        return app.context.db.query(statement, parameters);
      },
    };
    await inspectDatabase.run({ ...app.context, db }, {}, unwatched);
    assert.deepEqual(
      executed.filter((name) => !name.includes('migration')),
      [
        'ops-inspect-database',
        'ops-inspect-database',
        'backlog-read',
        'unknown-codes-count',
        'inspect-pix-corrected-count',
        'pix-pause-find',
        'ops-inspect-webhooks',
      ],
    );
  });
});

test('a service that owns its tables is doubtful in production, with what to do', () => {
  const { state, says, todo } = databaseRole({ ownsTables: true });
  assert.deepEqual(
    [state, says, todo],
    [
      'doubtful',
      'owns the tables: it can drop the triggers that keep the timeline append-only',
      'run the SQL of `ponte migrate grants`, and use its service role',
    ],
  );
  for (const ownsTables of [false, null]) assert.equal(databaseRole({ ownsTables }).state, 'ok');
});
