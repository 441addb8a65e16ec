/** `ponte doctor` beside a service whose work waits for a job loop or an operator. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it, test } from 'node:test';
import { databaseRole, type Finding } from '../../../src/operator/doctor.ts';
import { inspectDatabase } from '../../../src/operator/inspect-database.ts';
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
    await app.clock.advance(15 * 60_000);
    assert.equal((await found('unknown payments'))[0], 'ok');
    await app.clock.advance(1_000);
    const todo = 'check them: `ponte pix list --stuck`';
    assert.deepEqual(await found('unknown payments'), [
      'doubtful',
      '1, the oldest for 15 min',
      todo,
    ]);
  });

  it('needs three queries of the database', async () => {
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
      ['ops-inspect-database', 'ops-inspect-database', 'backlog-read'],
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
