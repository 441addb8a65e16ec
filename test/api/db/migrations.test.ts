/** The migrations make the schema of the entities, once, however many instances start at once. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { test, type TestContext } from 'node:test';
import { createValidityFunction } from '../../../src/db/entities/pix-transaction-rules.ts';
import { openDatabase, type Database } from '../../../src/db/database.ts';
import { migrateDown, migrateUp, pendingMigrations } from '../../../src/db/migrate.ts';
import { catalogue } from '../../support/catalogue.ts';
import { manualClock } from '../../support/clock.ts';
import { onServer, serverUrl, withDatabase } from '../../support/db.ts';
import { onlyOnServer, openTestDatabase } from '../../support/open-database.ts';

const open = await openTestDatabase();

const inTree = (await readdir(new URL('../../../migrations/', import.meta.url)))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.replace('.ts', ''));

test('the committed snapshot agrees with the entities: there is no migration to make', async () => {
  assert.equal(await (await open.db.orm()).migrator.checkSchema(), false);
});

test('the migrations make what the entities say, to the last expression', async () => {
  // The tool compares some expressions by their text, which PostgreSQL rewrites: the entities'
  // own schema is made beside the migrated one, and the catalogue is queried for both. The function
  // that wakes events is made by hand.
  const create = await (await open.db.orm()).schema.getCreateSchemaSQL({ wrap: false });
  await (
    await open.db.em()
  ).transactional(async (em) => {
    await em.execute('create schema entities');
    await em.execute('set local search_path = entities');
    await em.execute(createValidityFunction());
    await em.execute(create);
  });
  const migrated = await catalogue(open.rows);
  const meant = await catalogue(open.rows, 'entities');
  assert.ok(meant.length > 150, 'the catalogue was read');
  assert.deepEqual(
    migrated.filter((line) => !/schema_migrations|^wake_events /.test(line)),
    meant,
  );
});

test('a migrated database has nothing to migrate, and migrating it again does nothing', async () => {
  assert.deepEqual(await pendingMigrations(open.db), []);
  await migrateUp(open.db);
  assert.deepEqual(await applied(open.db), inTree);
});

test('a migration that was undone is pending again', async () => {
  const [newest = ''] = inTree.toReversed();
  const undone = open.db.transaction(async (db) => {
    assert.deepEqual(await pendingMigrations(db), []);
    await db.query({ name: '', text: 'delete from schema_migrations where name = $1' }, [newest]);
    assert.deepEqual(await pendingMigrations(db), [newest]);
    throw new Error('the migration is kept');
  });
  await assert.rejects(undone, /is kept/);
  assert.deepEqual(await pendingMigrations(open.db), []);
});

test('on an empty database every migration is pending', onlyOnServer, async (t) => {
  const [db] = await emptyDatabase(t, 1);
  assert(db);
  assert.deepEqual(await pendingMigrations(db), inTree);
});

test(
  'instances that start at once on an empty database migrate it once',
  onlyOnServer,
  async (t) => {
    const instances = await emptyDatabase(t, 6);
    await Promise.all(instances.map((db) => migrateUp(db)));
    for (const db of instances) {
      assert.deepEqual(await pendingMigrations(db), []);
      assert.deepEqual(await applied(db), inTree);
    }
  },
);

test(
  'a migration that fails leaves nothing behind, and the next start does it',
  onlyOnServer,
  async (t) => {
    const [db] = await emptyDatabase(t, 1);
    assert(db);
    // The last table of the migration is there already, so the migration fails at its end.
    await db.query({ name: '', text: 'create table webhook_events ()' }, []);
    await assert.rejects(migrateUp(db));
    assert.deepEqual(await tables(db), ['schema_migrations', 'webhook_events']);
    await db.query({ name: '', text: 'drop table webhook_events' }, []);
    await migrateUp(db);
    assert.deepEqual(await pendingMigrations(db), []);
  },
);

test('the timeline gets the ids that were stored before it had them', onlyOnServer, async (t) => {
  const [db] = await emptyDatabase(t, 1);
  assert(db);
  const ask = <Row>(text: string): Promise<Row[]> => db.query<Row>({ name: '', text }, []);
  await migrateUp(db);
  const withoutIds = inTree.findIndex((name) => name.endsWith('_hot_steps'));
  for (const _ of inTree.slice(withoutIds)) await migrateDown(db);
  await ask(`
      with maria as (
        insert into users (name, email, password_hash, created_at, updated_at)
        values ('Maria', 'maria@example.com', 'none', now(), now()) returning id
      ), stored as (
        insert into pix_transactions (id, user_id, operation, idempotency_key, fingerprint, status,
               phase, amount, end_to_end, provider_txid, created_at, updated_at)
        select gen_random_uuid(), maria.id, 'SEND', key, '', 'PROCESSING', 'ACCEPTED', 1, key, txid,
               now(), now()
          from maria, (values ('reported', 'T1'), ('unreported', null)) as made (key, txid)
        returning id
      )
      insert into pix_timeline (transaction_id, phase, at)
      select stored.id, phase, now()
        from stored, (values ('PAYING'), ('ACCEPTED')) as entry (phase)`);
  await migrateUp(db);
  const entries = await ask(`
      select idempotency_key as key, l.phase, l.provider_txid as id from pix_timeline l
        join pix_transactions t on t.id = l.transaction_id where l.provider_txid is not null`);
  assert.deepEqual(entries, [{ key: 'reported', phase: 'ACCEPTED', id: 'T1' }]);
  await assert.rejects(ask('update pix_timeline set note = null'), /only added to/);
});

/** An empty database on the server, opened by so many instances. */
async function emptyDatabase(t: TestContext, instances: number): Promise<Database[]> {
  const server = serverUrl ?? assert.fail('no server');
  const name = `ponte_test_${randomBytes(6).toString('hex')}`;
  await onServer(server, `create database ${name}`);
  const databaseUrl = withDatabase(server, name);
  const clock = manualClock();
  const opened = await Promise.all(
    Array.from({ length: instances }, () => openDatabase({ databaseUrl, dataDir: '', clock })),
  );
  t.after(async () => {
    await Promise.all(opened.map((db) => db.close()));
    await onServer(server, `drop database ${name}`);
  });
  return opened;
}

async function applied(db: Database): Promise<string[]> {
  const text = 'select name from schema_migrations order by id';
  return (await db.query<{ name: string }>({ name: '', text }, [])).map(({ name }) => name);
}

async function tables(db: Database): Promise<string[]> {
  const text = `
    select relname as name from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace order by relname`;
  return (await db.query<{ name: string }>({ name: '', text }, [])).map(({ name }) => name);
}
