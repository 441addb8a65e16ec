/** What the roles of the database may do: the service's, a reader's, and that of migrations. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { openDatabase } from '../../../src/db/database.ts';
import { migrateUp } from '../../../src/db/migrate.ts';
import { inspectDatabase } from '../../../src/operator/inspect-database.ts';
import { startTestApp } from '../../support/app.ts';
import { manualClock } from '../../support/clock.ts';
import { typePonte } from '../../support/command-line.ts';
import { onServer, serverUrl, withDatabase } from '../../support/db.ts';
import { onlyOnServer } from '../../support/open-database.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });

/** SQLSTATE insufficient_privilege. */
const denied = { code: '42501' };

describe('the role of the service', onlyOnServer, () => {
  const refused = [
    'drop trigger pix_timeline_append_only on pix_timeline',
    'alter table pix_timeline disable trigger all',
    'set session_replication_role = replica',
    'update pix_timeline set note = null',
    'delete from pix_timeline',
    'update operator_actions set reason = null',
    'delete from operator_actions',
    'truncate pix_timeline',
    'truncate jobs',
    'drop table jobs',
    'alter table jobs add column more int',
    'alter table pix_transactions drop constraint pix_transactions_pkey cascade',
    'create index more on jobs (kind)',
    'create table more (id int)',
    'create function more() returns int language sql return 1',
    'create or replace function wake_events(ids text[], at timestamptz) returns void ' +
      "language sql as 'select null'",
    'drop schema public cascade',
    "insert into schema_migrations (name) values ('more')",
    'delete from schema_migrations',
  ];

  for (const text of refused) {
    it(`may not ${text.slice(0, 60)}`, async () => {
      await assert.rejects(app.rows(text), denied);
    });
  }

  it('does not own the tables, which doctor would report', async () => {
    const caller = { operator: 'test', progress: () => undefined };
    const found = await inspectDatabase.run(app.context, {}, caller);
    assert.equal(found.ownsTables, false);
  });
});

describe('ponte migrate grants', onlyOnServer, () => {
  const run = randomBytes(6).toString('hex');
  const [migrator, service, reader] = ['migrator', 'service', 'reader'].map(
    (name) => `ponte_test_${name}_${run}`,
  );
  const server = serverUrl ?? '';
  const database = `ponte_test_roles_${run}`;
  const url = withDatabase(server, database);
  const client = new pg.Client({ connectionString: url });
  let sql = '';

  before(async () => {
    const options = ['--migrator', migrator, '--service', service, '--readonly', reader];
    const argv = ['migrate', 'grants', ...options].map(String);
    const { code, stdout } = await typePonte(argv, { environment: {} });
    assert.equal(code, 0);
    sql = stdout;
    await onServer(server, `create database ${database}`);
    await client.connect();
  });

  after(async () => {
    await client.end();
    await onServer(server, `drop database if exists ${database} with (force)`);
    await onServer(server, `drop role if exists ${migrator}, ${service}, ${reader}`);
  });

  /** Runs a statement with the rights of a role. */
  async function as(role: string | undefined, text: string): Promise<unknown[]> {
    await client.query(`set role ${role}`);
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.query('reset role');
    }
  }

  const rights = async (): Promise<unknown[]> => {
    const { rows } = await client.query(
      `select relname, relacl::text, pg_get_userbyid(relowner) as owner from pg_class
        where relnamespace = 'public'::regnamespace union all
       select defaclobjtype::text, defaclacl::text, '' from pg_default_acl order by 1, 2`,
    );
    return rows as unknown[];
  };

  it('may be run before the first migration, after it, and again', async () => {
    await client.query(sql);
    const db = await openDatabase({ databaseUrl: url, dataDir: '', clock: manualClock() });
    await migrateUp(db);
    await db.close();
    await client.query(sql);
    const first = await rights();
    assert.ok(JSON.stringify(first).includes(`${service}=arwd/${migrator}`));
    await client.query(sql);
    assert.deepEqual(await rights(), first);
  });

  it('grants everything to the migrator, the database of the service too', async () => {
    await client.query(`alter database ${database} owner to ${service}`);
    await client.query(`create table left_behind (id bigserial primary key)`);
    await client.query(`alter table left_behind owner to ${service}`);
    await client.query(sql);
    await assert.rejects(as(service, 'drop table left_behind'), denied);
    await assert.rejects(as(service, 'drop schema public cascade'), denied);
    assert.deepEqual(await as(migrator, 'drop table left_behind'), []);
  });

  it('covers the tables of later migrations', async () => {
    await as(migrator, 'create table later (id bigserial primary key, word text)');
    await as(service, `insert into later (word) values ('a')`);
    await as(service, `update later set word = 'b'`);
    assert.deepEqual(await as(reader, 'select word from later'), [{ word: 'b' }]);
    await as(service, 'delete from later');
    await assert.rejects(as(service, 'truncate later'), denied);
    await assert.rejects(as(service, 'drop table later'), denied);
  });

  const secrets = {
    users: 'password_hash',
    banking_sessions: 'sealed_token',
    accounts: 'provider_client_token',
    onboarding_applications: 'client_token',
    onboarding_document_chunks: 'sealed_content',
    pix_disputes: 'details',
  };

  it('hides hashes, sealed values and tokens from the reader, who reads the rest', async () => {
    for (const [table, column] of Object.entries(secrets)) {
      await assert.rejects(as(reader, `select ${column} from ${table}`), denied);
      await assert.rejects(as(reader, `select * from ${table}`), denied);
      assert.deepEqual(await as(reader, `select count(*)::int as rows from ${table}`), [
        { rows: 0 },
      ]);
    }
    await as(reader, 'select id, email, document, status, created_at from users');
    const { rows } = await client.query(
      `select table_name || '.' || column_name as name from information_schema.columns
        where table_schema = 'public' and column_name ~ 'password|sealed|client_token'
          and has_column_privilege($1, table_name::regclass, column_name, 'select')`,
      [reader],
    );
    assert.deepEqual(rows, []);
  });

  it('hides them as well where the migrations come after the grants', async () => {
    const later = `${database}_later`;
    await onServer(server, `create database ${later}`);
    try {
      const laterUrl = new URL(withDatabase(server, later));
      await onServer(laterUrl.href, sql);
      laterUrl.username = String(migrator);
      const options = { databaseUrl: laterUrl.href, dataDir: '', clock: manualClock() };
      const db = await openDatabase(options);
      await migrateUp(db);
      await db.close();
      laterUrl.username = String(reader);
      const read = (text: string) => onServer(laterUrl.href, text);
      for (const [table, column] of Object.entries(secrets)) {
        await assert.rejects(read(`select ${column} from ${table}`), denied);
      }
      assert.deepEqual(await read('select id, email from users'), []);
    } finally {
      await onServer(server, `drop database if exists ${later} with (force)`);
    }
  });

  it('lets the reader read, and write nothing', async () => {
    assert.deepEqual(await as(reader, 'select id from pix_transactions'), []);
    for (const text of ['delete from jobs', 'update users set name = null', 'truncate jobs']) {
      await assert.rejects(as(reader, text), denied);
    }
    await assert.rejects(as(reader, `select nextval('jobs_id_seq')`), denied);
  });
});

describe('the names of the roles', () => {
  it('are options, and are checked', async () => {
    const named = await typePonte(['migrate', 'grants', '--service', 'svc-1'], { environment: {} });
    assert.match(named.stdout, /grant usage on schema public to "svc-1", "ponte_readonly";/);
    for (const name of ['pg_monitor', 'x"; drop', 'A', 'x'.repeat(64), '']) {
      const { code } = await typePonte(['migrate', 'grants', '--service', name], {
        environment: {},
      });
      assert.equal(code, 2, name);
    }
  });
});
