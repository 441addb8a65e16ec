/** Behind a real PgBouncer: session pooling works, and the other modes are refused. */
import assert from 'node:assert/strict';
import { after, describe, it, type TestContext } from 'node:test';
import pg from 'pg';
import { hasOwnSessions, sharedSessions } from '../../src/db/own-sessions.ts';
import {
  isPgBouncerInstalled,
  startPgBouncer,
  type PgBouncerSettings,
} from '../chaos/pgbouncer.ts';
import { typePonte } from '../support/command-line.ts';
import { createTestDatabase, serverUrl } from '../support/db.ts';
import { eventually } from '../support/eventually.ts';
import { settingsFor, startService } from './service-process.ts';

const skip = whySkipped();

function whySkipped(): string | false {
  if (serverUrl === undefined) return 'needs a PostgreSQL server: run with DATABASE_URL';
  return isPgBouncerInstalled() ? false : 'needs PgBouncer';
}

const database = skip ? null : await createTestDatabase({ isOwn: true });
after(() => database?.drop());

/** @returns the address of the database behind a PgBouncer that responds. */
async function givenPgBouncer(t: TestContext, settings: PgBouncerSettings): Promise<string> {
  const pgBouncer = await startPgBouncer(String(database?.databaseUrl), settings);
  assert.ok(pgBouncer);
  t.after(() => pgBouncer.close());
  await eventually(async () => {
    const client = new pg.Client({ connectionString: pgBouncer.url });
    client.on('error', () => undefined);
    const isUp = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end();
    return isUp;
  }, 'PgBouncer');
  return pgBouncer.url;
}

function environmentOn(databaseUrl: string): Record<string, string> {
  const settings = settingsFor({ databaseUrl, dataDir: String(database?.dataDir) });
  return { ...settings, PORT: '0' };
}

/** Clients whose transactions keep the sessions of the pooler busy until the test ends. */
function givenLoad(t: TestContext, url: string): void {
  const pool = new pg.Pool({ connectionString: url, max: 12 });
  pool.on('error', () => undefined);
  let isOver = false;
  const work = async (): Promise<void> => {
    while (!isOver) await pool.query('select pg_sleep(0.001)').catch(() => undefined);
  };
  const all = Promise.all(Array.from({ length: 12 }, work));
  t.after(async () => {
    isOver = true;
    await all;
    await pool.end();
  });
}

describe('behind PgBouncer in session pooling', { skip }, () => {
  it('the service starts and pays', async (t) => {
    const environment = environmentOn(await givenPgBouncer(t, {}));
    const service = startService(t, environment);
    await service.ready();
    const token = await service.logIn();
    const body = { pix_key: 'bruno@example.com', amount: 1.5 };
    const sent = await service.call('/pix/send', { token, key: 'pooled', body });
    assert.equal(sent.status, 200);
    const checked = await typePonte(['config', 'check'], { environment });
    assert.equal(checked.code, 0);
  });

  it('the check passes under load', async (t) => {
    const url = await givenPgBouncer(t, {});
    givenLoad(t, url);
    for (let times = 0; times < 20; times += 1) assert.equal(await hasOwnSessions(url), true);
  });
});

for (const pool_mode of ['transaction', 'statement'] as const) {
  describe(`behind PgBouncer in ${pool_mode} pooling`, { skip }, () => {
    it('the start is refused, and the commands that check say the same', async (t) => {
      const environment = environmentOn(await givenPgBouncer(t, { pool_mode }));
      const { code, stdout, stderr } = await startService(t, environment).ended;
      const fault = `DATABASE_URL ${sharedSessions}`;
      assert.deepEqual([code, stdout], [2, '']);
      assert.equal(
        stderr,
        `ponte cannot start, because its configuration is not valid:\n  ${fault}\n`,
      );
      const checked = await typePonte(['config', 'check'], { environment });
      assert.equal(checked.code, 2);
      assert.ok(checked.stderr.includes(fault), checked.stderr);
      const examined = await typePonte(['doctor'], { environment });
      assert.equal(examined.code, 2);
      assert.ok(examined.stdout.includes(fault), examined.stdout);
    });

    for (const server_round_robin of [0, 1] as const) {
      it(`the check fails under load, with server_round_robin=${server_round_robin}`, async (t) => {
        const url = await givenPgBouncer(t, { pool_mode, server_round_robin });
        assert.equal(await hasOwnSessions(url), false);
        givenLoad(t, url);
        for (let times = 0; times < 20; times += 1) assert.equal(await hasOwnSessions(url), false);
      });
    }
  });
}
